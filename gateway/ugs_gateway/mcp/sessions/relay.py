"""The relay: passes the messages of one client to the host of a folder, and survives the end of the host.

When a connection ends, the relay asks for the next one and repeats the handshake of the session there. Calls without an
answer are sent again if the host said that it had not begun them, or if they only read; of any other the client is told
that its outcome is unknown. A notification is sent at most once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from ugs.errors import OutcomeUnknown
from ugs_gateway.mcp.server import Profile, failure, tools_of
from ugs_gateway.mcp.sessions.address import MAX_LINE_BYTES, Closed

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Send = Callable[[SessionMessage], Awaitable[None]]
HANDSHAKE_ID = "ugs-relay-handshake"
MAX_SENDINGS = 3
"""A call that three hosts did not survive is not tried again."""
UNKNOWN = (
    "The process that kept the memory ended during this call: it may or may not have been done. Look before you call "
    "it again"
)


class OpenCall:
    """A request of the client that has no answer yet."""

    def __init__(self, message: JSONRPCRequest) -> None:
        self.message = message
        self.sendings = 0


class Relay:
    """One client, and one host at a time."""

    def __init__(self, profile: Profile, answer: Send) -> None:
        self._answer = answer
        self._reading = {tool.name for tool in tools_of(profile) if tool.hints.read_only}
        self._writer: asyncio.StreamWriter | None = None
        self._open: dict[Any, OpenCall] = {}
        self._handshake: JSONRPCRequest | None = None
        self._initialized: Any = None
        self._ended = False

    async def run(
        self, incoming: AsyncIterator[SessionMessage | Exception], connect: Callable[[], Awaitable[Connection]]
    ) -> None:
        """Relay until the client closes its end; `connect` gives the next connection, or raises."""
        client = asyncio.create_task(self._take_messages(incoming))
        try:
            while not self._ended:
                connecting = asyncio.ensure_future(connect())
                await asyncio.wait({client, connecting}, return_when=asyncio.FIRST_COMPLETED)
                if not connecting.done():
                    connecting.cancel()
                    with suppress(asyncio.CancelledError):
                        await connecting
                    break
                await self._use(client, *connecting.result())
        finally:
            client.cancel()
            with suppress(asyncio.CancelledError):
                await client

    async def _use(
        self, client: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Pass messages on until either end closes."""
        host = asyncio.create_task(self._serve_connection(reader, writer))
        try:
            await asyncio.wait({client, host}, return_when=asyncio.FIRST_COMPLETED)
            if host.done():
                host.result()
        finally:
            self._writer = None
            host.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await host
            writer.close()

    # ── from the client ──────────────────────────────────────────────────────

    async def _take_messages(self, incoming: AsyncIterator[SessionMessage | Exception]) -> None:
        async for item in incoming:
            if isinstance(item, Exception):
                continue  # no message: there is no id to answer
            await self._take(item.message)
        self._ended = True

    async def _take(self, message: Any) -> None:
        if isinstance(message, JSONRPCRequest):
            self._open[message.id] = OpenCall(message)
        elif getattr(message, "method", "") == "notifications/initialized":
            self._initialized = message
        if self._writer is not None:
            with suppress(OSError):  # the end of the connection is noticed by its reader
                await self._send(message)

    async def _send(self, message: Any) -> None:
        line = _line(message)
        if isinstance(message, JSONRPCRequest):
            if len(line) > MAX_LINE_BYTES:
                return await self._refuse(message, f"The message has more than {MAX_LINE_BYTES} bytes")
            self._open[message.id].sendings += 1
        if self._writer is not None:
            self._writer.write(line)
            await self._writer.drain()

    async def _refuse(self, message: JSONRPCRequest, reason: str) -> None:
        self._open.pop(message.id, None)
        error = ErrorData(code=INVALID_REQUEST, message=reason)
        await self._answer(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))

    # ── from the host ────────────────────────────────────────────────────────

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        complete = False
        try:
            await self._greet(reader, writer)
            self._writer = writer
            for call in list(self._open.values()):
                await self._send(call.message)
            while line := await reader.readline():
                if _is_closed(line):
                    complete = True
                    break
                await self._pass_on(line)
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass  # the connection broke
        self._writer = None
        if complete:
            for call in self._open.values():
                call.sendings = 0
        else:
            await self._settle_open_calls()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Repeat the handshake that the client has finished with an earlier host."""
        if self._handshake is None:
            return
        writer.write(_line(self._handshake.model_copy(update={"id": HANDSHAKE_ID})))
        if not await reader.readline():
            raise ConnectionResetError
        if self._initialized is not None:
            writer.write(_line(self._initialized))

    async def _pass_on(self, line: bytes) -> None:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            call = self._open.pop(message.id, None)
            # One that was refused began no session: a client that is late with it talks without handshakes.
            if call is not None and call.message.method == "initialize" and isinstance(message, JSONRPCResponse):
                self._handshake = call.message
        await self._answer(SessionMessage(message))

    async def _settle_open_calls(self) -> None:
        """After an end without notice: what may have changed something gets its answer now."""
        for call in list(self._open.values()):
            if call.sendings and (call.sendings >= MAX_SENDINGS or not self._only_reads(call.message)):
                self._open.pop(call.message.id)
                await self._answer(SessionMessage(_unknown(call.message)))

    def _only_reads(self, message: JSONRPCRequest) -> bool:
        return message.method != "tools/call" or (message.params or {}).get("name") in self._reading


def _unknown(message: JSONRPCRequest) -> JSONRPCResponse | JSONRPCError:
    if message.method != "tools/call":
        error = ErrorData(code=INTERNAL_ERROR, message=UNKNOWN)
        return JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
    told = failure({"code": OutcomeUnknown.code, "message": UNKNOWN, "details": {}})
    result = told.model_dump(by_alias=True, exclude_none=True, mode="json")
    return JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result)


def _line(message: Any) -> bytes:
    text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode() + b"\n"


def _is_closed(line: bytes) -> bool:
    try:
        return msgspec.json.decode(line, type=Closed).closed
    except msgspec.MsgspecError:
        return False
