"""GraphQL over WebSocket, by the protocol graphql-transport-ws and no other.

A socket must introduce itself within a few seconds, holds a bounded number of operations, and is closed with the
protocol's own codes when it breaks the rules. A subscription is a position in the log, so a slow reader costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import msgspec
from graphql import ExecutionResult, OperationType
from starlette.websockets import WebSocket, WebSocketDisconnect

from gateway.asked import Asked, Refused, asked_in, refusal, shown_result
from gateway.reception import Reception
from gateway.settings import Settings
from schema.context import RequestContext
from schema.operations import Prepared
from ugs.errors import DeadlineExceeded, UgsError
from ugs.identity import Principal
from ugs.values import parse_json

PROTOCOL = "graphql-transport-ws"
INIT_SECONDS = 5.0
RECHECK_SECONDS = 30.0
MOST_FRAME = 256 * 1024


class BreaksRules(Exception):
    """The client broke the protocol; carries the code to close with."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class SocketDoor:
    """The WebSocket side of `/graphql`."""

    def __init__(self, reception: Reception, settings: Settings) -> None:
        self.reception, self.most_operations = reception, settings.max_subscriptions

    async def serve(self, socket: WebSocket) -> None:
        """Talk to one client until it leaves."""
        if not self.reception.origins.may_connect(socket.headers):
            return await socket.close(4403, "Not from here (setting allowed_origins)")
        if PROTOCOL not in socket.scope.get("subprotocols", ()):
            await socket.accept()
            return await socket.close(4406, f"Subprotocol not acceptable: use {PROTOCOL}")
        await socket.accept(PROTOCOL)
        with self.reception.metrics.socket():
            await self.conversation(socket).hold()

    def conversation(self, socket: WebSocket) -> Conversation:
        """The talk with one client."""
        return Conversation(socket, self.reception, self.most_operations)


class Conversation:
    """One socket: introduced or not yet, with the operations it runs."""

    def __init__(self, socket: WebSocket, reception: Reception, most_operations: int) -> None:
        self.socket, self.reception, self.most_operations = socket, reception, most_operations
        self.operations = reception.operations
        self.principal: Principal | None = None
        self.authorization: str | None = None
        self.running: dict[str, asyncio.Task[None]] = {}
        self.watching: asyncio.Task[None] | None = None
        self.sending = asyncio.Lock()

    async def hold(self) -> None:
        """Answer messages until the client leaves or breaks the rules."""
        deadline = asyncio.get_running_loop().time() + INIT_SECONDS
        try:
            while True:
                async with asyncio.timeout_at(None if self.introduced else deadline):
                    message = await self._message()
                await self._answer(message)
                if self.introduced and self.watching is None and not self.reception.gatekeeper.open:
                    self.watching = asyncio.create_task(self._watch_welcome())
        except BreaksRules as broken:
            await self.socket.close(broken.code, broken.reason[:100])
        except TimeoutError:
            await self.socket.close(4408, "Connection initialisation timeout")
        except WebSocketDisconnect:
            pass
        finally:
            await self._stop_all()

    async def _watch_welcome(self) -> None:
        """Close the socket once its token has expired or was withdrawn; sockets outlive many tokens."""
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            if not self.reception.gatekeeper.still_knows(self.authorization):
                return await self.socket.close(4403, "The token is no longer valid")

    async def _stop_all(self) -> None:
        tasks = [*self.running.values(), *([self.watching] if self.watching else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _message(self) -> dict[str, Any]:
        event = await self.socket.receive()
        if event["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(event.get("code", 1000))
        text = event.get("text")
        if text is None or len(text) > MOST_FRAME:
            raise BreaksRules(4400, "Messages are JSON text of at most 256 KiB")
        try:
            message = parse_json(text.encode())
        except (UgsError, UnicodeEncodeError) as error:
            raise BreaksRules(4400, "The message is not valid JSON") from error
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise BreaksRules(4400, "A message is an object with a type")
        return message

    async def _answer(self, message: dict[str, Any]) -> None:
        answer = ANSWERS.get(message["type"])
        if answer is None:
            raise BreaksRules(4400, f"Unknown message type {message['type'][:40]!r}")
        await answer(self, message)

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        await self._send(msgspec.json.encode(message).decode())

    async def _send(self, text: str) -> None:
        """Send a message whole, whoever else is sending."""
        async with self.sending:
            await self.socket.send_text(text)

    @property
    def introduced(self) -> bool:
        return self.principal is not None

    async def introduce(self, message: dict[str, Any]) -> None:
        """The client says who it is, in the payload or, where it can, in a header; that holds for the whole socket."""
        if self.introduced:
            raise BreaksRules(4429, "Too many initialisation requests")
        payload = message.get("payload")
        given = payload.get("authorization", payload.get("Authorization")) if isinstance(payload, dict) else None
        self.authorization = given if isinstance(given, str) else self.socket.headers.get("authorization")
        self.principal = self._who()
        await self.send({"type": "connection_ack"})

    def _who(self) -> Principal:
        """Whoever the socket belongs to, counted as a request of theirs."""
        address = self.socket.client.host if self.socket.client else ""
        try:
            return self.reception.principal(self.authorization, address)
        except Refused as refused:
            raise BreaksRules(4403 if refused.status == 401 else 4429, refused.error.message) from refused

    async def pong(self, message: dict[str, Any]) -> None:
        await self.send({"type": "pong"})

    async def ignore(self, message: dict[str, Any]) -> None:
        return None

    async def stop(self, message: dict[str, Any]) -> None:
        task = self.running.pop(str(message.get("id")), None)
        if task is not None:
            task.cancel()

    async def start(self, message: dict[str, Any]) -> None:
        """Begin an operation under the id the client chose."""
        id = message.get("id")
        if not self.introduced:
            raise BreaksRules(4401, "Unauthorized: send connection_init first")
        if not isinstance(id, str) or not 0 < len(id) <= 128:
            raise BreaksRules(4400, "A subscription needs an id of 1 to 128 characters")
        if id in self.running:
            raise BreaksRules(4409, f"Subscriber for {id} already exists")
        if len(self.running) >= self.most_operations:
            raise BreaksRules(4429, f"At most {self.most_operations} operations on one socket")
        self._who()
        try:
            asked = asked_in(message.get("payload"))
        except Refused as refused:
            raise BreaksRules(4400, refused.error.message) from refused
        self.running[id] = asyncio.create_task(self._run(id, asked))

    async def _run(self, id: str, asked: Asked) -> None:
        try:
            if await self._results(id, asked):
                await self.send({"type": "complete", "id": id})
        except Refused as refused:
            await self.send({"type": "error", "id": id, "payload": refusal(refused.error)["errors"]})
        except (WebSocketDisconnect, RuntimeError):
            pass  # the client has gone; there is nobody to tell
        finally:
            if self.running.get(id) is asyncio.current_task():
                del self.running[id]

    async def _results(self, id: str, asked: Asked) -> bool:
        """Send every result; False when the operation never began and `error` was sent instead."""
        assert self.principal is not None
        admitted = self.reception.admit(asked, self.reception.text_of(asked), self.principal)
        prepared, operation = admitted.prepared, admitted.operation
        context = await self.reception.context_of(self.principal)
        if operation is None or operation.operation is not OperationType.SUBSCRIPTION:
            found = await self._in_time(prepared, context, asked)
            return await self._next(id, found, admitted.hinting)
        stream = await self.operations.subscribe(prepared, context, asked.variables, asked.operation)
        if isinstance(stream, ExecutionResult):
            return await self._next(id, stream, admitted.hinting)
        with self.reception.metrics.subscription():
            return await self._follow(id, stream)

    async def _in_time(self, prepared: Prepared, context: RequestContext, asked: Asked) -> ExecutionResult:
        """A query or mutation has the same deadline here as over HTTP."""
        seconds = self.reception.seconds
        try:
            async with asyncio.timeout(seconds):
                return await self.operations.execute(prepared, context, asked.variables, asked.operation)
        except TimeoutError as error:
            reason = f"The request took longer than {seconds:g} seconds and was stopped"
            raise Refused(503, DeadlineExceeded(reason)) from error

    async def _follow(self, id: str, stream: AsyncIterator[bytes | ExecutionResult]) -> bool:
        head = '{"type":"next","id":' + msgspec.json.encode(id).decode() + ',"payload":'
        async with aclosing(stream) as results:  # type: ignore[type-var]
            async for result in results:
                if isinstance(result, bytes):
                    await self._send(f"{head}{result.decode()}}}")
                else:
                    await self._next(id, result)
        return True

    async def _next(self, id: str, result: ExecutionResult, hinting: bool = False) -> bool:
        body, executed = shown_result(result, hinting)
        kind, payload = ("next", body) if executed else ("error", body["errors"])
        await self.send({"type": kind, "id": id, "payload": payload})
        return executed


ANSWERS: dict[str, Callable[[Conversation, dict[str, Any]], Awaitable[None]]] = {
    "connection_init": Conversation.introduce,
    "ping": Conversation.pong,
    "pong": Conversation.ignore,
    "subscribe": Conversation.start,
    "complete": Conversation.stop,
}
