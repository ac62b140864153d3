"""GraphQL over WebSocket with the subprotocol graphql-transport-ws only.

A client must send `connection_init` within a few seconds, may run a bounded number of operations, and is disconnected
with the close codes of the protocol when it violates it. A subscription is a position in the log, so a slow consumer
needs no queue of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from contextvars import copy_context
from typing import Any

import msgspec
from graphql import ExecutionResult, OperationType
from starlette.websockets import WebSocket, WebSocketDisconnect

from ugs.errors import DeadlineExceeded, UgsError, Unauthenticated
from ugs.identity import Principal
from ugs.large_json import Verdicts, parse_bounded, share_verdicts
from ugs.support.budget import request_budget
from ugs_gateway.graphql.admission import RequestAdmission
from ugs_gateway.graphql.request import (
    MAX_REQUEST_DEPTH,
    GraphQLRequest,
    RequestRejected,
    refusal,
    to_request,
    to_response,
)
from ugs_gateway.graphql.stream_access import AccessEnded, StreamAccess
from ugs_gateway.settings import Settings
from ugs_schema.compiler.executor import Prepared
from ugs_schema.context import RequestContext

PROTOCOL = "graphql-transport-ws"
INIT_SECONDS = 5.0
MAX_FRAME_BYTES = 256 * 1024


class ProtocolViolation(Exception):
    """The client violated the protocol; carries the close code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class WebSocketEndpoint:
    """The WebSocket side of `/graphql`."""

    def __init__(self, admission: RequestAdmission, settings: Settings) -> None:
        self.admission, self.max_operations = admission, settings.max_subscriptions

    async def serve(self, socket: WebSocket) -> None:
        """Serve one WebSocket until it is closed."""
        if not self.admission.origins.is_allowed(socket.headers):
            return await socket.close(4403, "Not from here (setting allowed_origins)")
        if PROTOCOL not in socket.scope.get("subprotocols", ()):
            await socket.accept()
            return await socket.close(4406, f"Subprotocol not acceptable: use {PROTOCOL}")
        await socket.accept(PROTOCOL)
        with self.admission.metrics.socket():
            await self.conversation(socket).hold()

    def conversation(self, socket: WebSocket) -> Connection:
        """The connection object for one socket."""
        return Connection(socket, self.admission, self.max_operations)


class Connection:
    """One WebSocket: its principal, once initialised, and its running operations."""

    def __init__(self, socket: WebSocket, admission: RequestAdmission, max_operations: int) -> None:
        self.socket, self.admission, self.max_operations = socket, admission, max_operations
        self.operations = admission.operations
        self.principal: Principal | None = None
        self.authorization: str | None = None
        self.running: dict[str, asyncio.Task[None]] = {}
        self.watching: asyncio.Task[None] | None = None
        self.sending = asyncio.Lock()
        self.verdicts: Verdicts = {}
        """What is known of the JSON of the message that is being handled."""

    async def hold(self) -> None:
        """Handle messages until the client disconnects or violates the protocol."""
        deadline = asyncio.get_running_loop().time() + INIT_SECONDS
        try:
            while True:
                async with asyncio.timeout_at(None if self.is_initialised else deadline):
                    message = await self._message()
                await self._answer(message)
                self.verdicts = {}
                if self.is_initialised and self.watching is None and not self.admission.authenticator.open:
                    self.watching = asyncio.create_task(self._watch_access())
        except ProtocolViolation as broken:
            await self.socket.close(broken.code, broken.reason[:100])
        except TimeoutError:
            await self.socket.close(4408, "Connection initialisation timeout")
        except WebSocketDisconnect:
            pass
        finally:
            await self._stop_all()

    async def _watch_access(self) -> None:
        """Close the socket when its token expires or its key is revoked; sockets may live longer than tokens."""
        assert self.principal is not None
        await StreamAccess(self.admission.authenticator, self.authorization, self.principal).wait_until_unknown()
        await self._close_unknown()

    async def _close_unknown(self) -> None:
        """Cancel all other operations and close the socket with 4403."""
        for task in self.running.values():
            if task is not asyncio.current_task():
                task.cancel()
        with suppress(RuntimeError):  # already closed
            await self.socket.close(4403, "The token is no longer valid")

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
        if text is None or len(text) > MAX_FRAME_BYTES:
            raise ProtocolViolation(4400, "Messages are JSON text of at most 256 KiB")
        try:
            message, self.verdicts = await parse_bounded(text.encode(), MAX_REQUEST_DEPTH)
        except (UgsError, UnicodeEncodeError) as error:
            raise ProtocolViolation(4400, "The message is not valid JSON") from error
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise ProtocolViolation(4400, "A message is an object with a type")
        return message

    async def _answer(self, message: dict[str, Any]) -> None:
        answer = HANDLERS.get(message["type"])
        if answer is None:
            raise ProtocolViolation(4400, f"Unknown message type {message['type'][:40]!r}")
        await answer(self, message)

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        await self._send(msgspec.json.encode(message).decode())

    async def _send(self, text: str) -> None:
        """Send a message; the lock serialises concurrent senders."""
        async with self.sending:
            await self.socket.send_text(text)

    @property
    def is_initialised(self) -> bool:
        return self.principal is not None

    async def initialise(self, message: dict[str, Any]) -> None:
        """Handle `connection_init`: authenticate by its payload or the Authorization header, for the whole
        connection."""
        if self.is_initialised:
            raise ProtocolViolation(4429, "Too many initialisation requests")
        payload = message.get("payload")
        given = payload.get("authorization", payload.get("Authorization")) if isinstance(payload, dict) else None
        self.authorization = given if isinstance(given, str) else self.socket.headers.get("authorization")
        self.principal = self._authenticate()
        await self.send({"type": "connection_ack"})

    def _authenticate(self) -> Principal:
        """Authenticate and count one request; a failure closes the socket with 4403 or 4429."""
        address = self.socket.client.host if self.socket.client else ""
        try:
            return self.admission.principal(self.authorization, address)
        except RequestRejected as refused:
            raise ProtocolViolation(4403 if refused.status == 401 else 4429, refused.error.message) from refused

    async def pong(self, message: dict[str, Any]) -> None:
        await self.send({"type": "pong"})

    async def ignore(self, message: dict[str, Any]) -> None:
        return None

    async def stop(self, message: dict[str, Any]) -> None:
        task = self.running.pop(str(message.get("id")), None)
        if task is not None:
            task.cancel()

    async def start(self, message: dict[str, Any]) -> None:
        """Handle `subscribe`: start an operation under the id that the client chose."""
        id = message.get("id")
        if not self.is_initialised:
            raise ProtocolViolation(4401, "Unauthorized: send connection_init first")
        if not isinstance(id, str) or not 0 < len(id) <= 128:
            raise ProtocolViolation(4400, "A subscription needs an id of 1 to 128 characters")
        if id in self.running:
            raise ProtocolViolation(4409, f"Subscriber for {id} already exists")
        if len(self.running) >= self.max_operations:
            raise ProtocolViolation(4429, f"At most {self.max_operations} operations on one socket")
        self.principal = self._authenticate()  # the rights of a key may have changed
        try:
            asked = to_request(message.get("payload"))
        except RequestRejected as refused:
            raise ProtocolViolation(4400, refused.error.message) from refused
        context = copy_context()
        context.run(share_verdicts, self.verdicts)
        self.running[id] = asyncio.create_task(self._run(id, asked, self.principal), context=context)

    async def _run(self, id: str, graphql_request: GraphQLRequest, principal: Principal) -> None:
        try:
            if await self._results(id, graphql_request, principal):
                await self.send({"type": "complete", "id": id})
        except RequestRejected as refused:
            await self.send({"type": "error", "id": id, "payload": refusal(refused.error)["errors"]})
        except AccessEnded as ended:
            await self._end(id, ended)
        except (WebSocketDisconnect, RuntimeError):
            pass  # the client has disconnected
        finally:
            if self.running.get(id) is asyncio.current_task():
                del self.running[id]

    async def _end(self, id: str, ended: AccessEnded) -> None:
        """Report why a subscription is ended by the server."""
        if isinstance(ended.error, Unauthenticated):
            await self._close_unknown()
        else:
            await self.send({"type": "error", "id": id, "payload": refusal(ended.error)["errors"]})

    async def _results(self, id: str, graphql_request: GraphQLRequest, principal: Principal) -> bool:
        """Send all results; returns False when the operation did not start and `error` was sent instead."""
        admitted = self.admission.admit(
            graphql_request, self.admission.text_of(graphql_request), principal, may_change=True
        )
        prepared, operation = admitted.prepared, admitted.operation
        context = await self.admission.context_of(principal)
        if operation is None or operation.operation is not OperationType.SUBSCRIPTION:
            found = await self._in_time(prepared, context, graphql_request)
            return await self._next(id, found, admitted.hinting)
        stream = await self.operations.subscribe(
            prepared, context, graphql_request.variables, graphql_request.operation
        )
        if isinstance(stream, ExecutionResult):
            return await self._next(id, stream, admitted.hinting)
        access = StreamAccess(self.admission.authenticator, self.authorization, principal)
        with self.admission.metrics.subscription():
            async with access.limit():
                return await self._follow(id, stream, access)

    async def _in_time(
        self, prepared: Prepared, context: RequestContext, graphql_request: GraphQLRequest
    ) -> ExecutionResult:
        """Execute a query or mutation under the same deadline as over HTTP."""
        seconds = self.admission.seconds
        try:
            with request_budget(seconds):
                async with asyncio.timeout(seconds):
                    return await self.operations.execute(
                        prepared, context, graphql_request.variables, graphql_request.operation
                    )
        except TimeoutError as error:
            reason = f"The request took longer than {seconds:g} seconds and was stopped"
            raise RequestRejected(503, DeadlineExceeded(reason)) from error

    async def _follow(self, id: str, stream: AsyncIterator[bytes | ExecutionResult], access: StreamAccess) -> bool:
        head = '{"type":"next","id":' + msgspec.json.encode(id).decode() + ',"payload":'
        async with aclosing(stream) as results:  # type: ignore[type-var]
            async for result in results:
                access.check()
                if isinstance(result, bytes):
                    await self._send(f"{head}{result.decode()}}}")
                elif not await self._next(id, result):
                    return False  # `error` ends the operation; no `complete` follows
        return True

    async def _next(self, id: str, result: ExecutionResult, hinting: bool = False) -> bool:
        body, executed = to_response(result, hinting)
        kind, payload = ("next", body) if executed else ("error", body["errors"])
        await self.send({"type": kind, "id": id, "payload": payload})
        return executed


HANDLERS: dict[str, Callable[[Connection, dict[str, Any]], Awaitable[None]]] = {
    "connection_init": Connection.initialise,
    "ping": Connection.pong,
    "pong": Connection.ignore,
    "subscribe": Connection.start,
    "complete": Connection.stop,
}
