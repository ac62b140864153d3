"""The host: serves MCP sessions of other processes on the store that this process holds.

It listens on the loopback address. A connection begins with the secret of the folder's address file and a
`SessionRequest`; then it carries the messages of MCP, one per line, as standard input and output do. When the host ends
in order it answers the calls under way first and says so by `Closed`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from hmac import compare_digest
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ugs.system import System
from ugs_gateway.mcp.sessions.address import (
    HOST,
    MAX_LINE_BYTES,
    SECRET_CHARS,
    Address,
    Closed,
    Joined,
    SessionRequest,
    publish,
    withdraw,
)
from ugs_gateway.observability.structured_logs import Log

if TYPE_CHECKING:
    from ugs_gateway.mirror.mirror import FileMirror

MAX_SESSIONS = 100
HELLO_SECONDS = 5.0
DRAIN_SECONDS = 5.0
"""How long calls under way may take when the host ends."""

log = Log("ugs_gateway.mcp.sessions")


class Header(Struct, frozen=True):
    """What distinguishes requests, answers and notifications."""

    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET


class SessionLines:
    """The messages of one session, in the form that the SDK's standard streams have; knows which calls are open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._open = set[Any]()
        self.idle = asyncio.Event()
        self.idle.set()
        self._taking = asyncio.Event()
        self._taking.set()

    def __aiter__(self) -> SessionLines:
        return self

    async def __anext__(self) -> str:
        line = await self._reader.readline()
        await self._taking.wait()
        if not line.endswith(b"\n"):
            raise StopAsyncIteration  # what was cut off is not a message
        header = _header(line)
        if header.id is not UNSET and header.method is not UNSET:
            self._open.add(header.id)
            self.idle.clear()
        return line.decode("utf-8", "replace")

    async def write(self, text: str) -> None:
        line = text.encode()
        self._writer.write(line)
        header = _header(line)
        if header.id is not UNSET and header.method is UNSET:
            self._open.discard(header.id)
            if not self._open:
                self.idle.set()

    async def flush(self) -> None:
        await self._writer.drain()

    async def finish(self) -> None:
        """Take no more calls, answer those that are open, and say that this was all."""
        self._taking.clear()
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await self.idle.wait()
                self._writer.write(msgspec.json.encode(Closed(True)) + b"\n")
                await self._writer.drain()


def _header(line: bytes) -> Header:
    try:
        return msgspec.json.decode(line, type=Header)
    except msgspec.MsgspecError:
        return Header()  # the SDK refuses it


def _mirror_key(base: Path, ontology: str) -> tuple[Path, str]:
    return base.resolve(), ontology


class FolderHost:
    """Serves other processes on an open system until it is closed."""

    def __init__(self, system: System, folder: Path, own: FileMirror | None = None) -> None:
        self.system, self.folder = system, folder
        self._secret = token_hex(SECRET_CHARS // 2)
        self._mirrors: dict[tuple[Path, str], FileMirror] = {}
        if own is not None:
            self._mirrors[_mirror_key(own.base, own.ontology)] = own
        self._mirror_lock = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._sessions: dict[asyncio.Task[Any], SessionLines | None] = {}
        self._server: asyncio.Server | None = None

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen and be found. Where the folder cannot be written there is nothing to share, which is logged."""
        self._server = await asyncio.start_server(self._accept, HOST, 0, limit=MAX_LINE_BYTES)
        port: int = self._server.sockets[0].getsockname()[1]
        try:
            publish(self.folder, Address(port, self._secret, os.getpid()))
        except OSError as error:
            log.warning("other processes cannot join", folder=str(self.folder), reason=error.strerror)
        try:
            yield
        finally:
            await self._close()

    async def _close(self) -> None:
        withdraw(self.folder)  # the lock is still held, so that it is nobody else's
        if self._server is not None:
            self._server.close()
        await asyncio.gather(*(lines.finish() for lines in self._sessions.values() if lines is not None))
        tasks = list(self._sessions)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._stack.aclose()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._sessions[task] = None
        try:
            request = await self._admit(reader, writer)
            if request is not None:
                self._sessions[task] = lines = SessionLines(reader, writer)
                await self._serve(request, lines)
        except (OSError, ValueError, asyncio.IncompleteReadError, TimeoutError):
            pass  # the other side ended, or was none of ours
        except asyncio.CancelledError:
            pass  # the host ends; this task is its last word on the connection
        except Exception as error:
            log.exception("a session of another process failed", error)
        finally:
            del self._sessions[task]
            writer.close()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> SessionRequest | None:
        async with asyncio.timeout(HELLO_SECONDS):
            secret = await reader.readexactly(SECRET_CHARS)
            if not compare_digest(secret, self._secret.encode()):
                return None
            try:
                request = msgspec.json.decode(await reader.readline(), type=SessionRequest)
                refused = None if len(self._sessions) <= MAX_SESSIONS else f"{MAX_SESSIONS} clients have joined already"
            except msgspec.MsgspecError as error:
                request, refused = None, str(error)
            writer.write(msgspec.json.encode(Joined(refused)) + b"\n")
            await writer.drain()
            return None if refused else request

    async def _serve(self, request: SessionRequest, lines: SessionLines) -> None:
        from mcp.server.stdio import stdio_server

        from ugs.ontology.api import Memory
        from ugs_gateway.mcp.server import Profile, build_server
        from ugs_gateway.mcp.truncation import Bounds

        memory = Memory(self.system, ontology=request.ontology)
        mirror = None if request.mirror is None else await self._mirror(Path(request.mirror), request.ontology)
        server = build_server(lambda context: memory, Profile(request.profile), mirror, Bounds(request.max_bytes))
        streams: Any = lines
        async with stdio_server(stdin=streams, stdout=streams) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    async def _mirror(self, base: Path, ontology: str) -> FileMirror:
        """The files of a folder, shared by all sessions that want them; kept in step until the host ends."""
        from ugs_gateway.mirror.mirror import FileMirror

        key = _mirror_key(base, ontology)
        async with self._mirror_lock:
            if key not in self._mirrors:
                following = FileMirror(base, self.system, ontology).following()
                self._mirrors[key] = await self._stack.enter_async_context(following)
            return self._mirrors[key]


@asynccontextmanager
async def hosting(system: System, own: FileMirror | None = None) -> AsyncIterator[None]:
    """Serve other processes if this one alone can hold the store's folder; on any other store they open it too."""
    folder = system.storage.exclusive_folder()
    if folder is None:
        yield
        return
    async with FolderHost(system, folder, own).listening():
        yield
