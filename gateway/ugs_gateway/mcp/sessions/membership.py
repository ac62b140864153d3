"""Joins the process that holds a data folder, or becomes it when that process has ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from ugs.errors import StoreLocked
from ugs.system import System
from ugs_gateway.mcp.sessions.address import HOST, MAX_LINE_BYTES, Address, Joined, SessionRequest, find_host
from ugs_gateway.mcp.sessions.host import HELLO_SECONDS, hosting
from ugs_gateway.mcp.sessions.relay import Connection

JOIN_SECONDS = 15.0
"""How long to wait for the holder of a folder to be found: it may be opening a long log, or be a short command."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.02, 0.5


class Membership:
    """This process's part in a shared folder: a guest of the host, or the host itself.

    `open_store` opens the store, and raises `StoreLocked` while another process holds it.
    """

    def __init__(
        self,
        open_store: Callable[[], Awaitable[System]],
        request: SessionRequest,
        before_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._open_store, self.request, self._before_close = open_store, request, before_close
        self._stack = AsyncExitStack()
        self._folder: Path | None = None
        """The folder, once this process is its host."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def connect(self) -> Connection:
        """A connection with the host, which this process becomes if there is none; raises `StoreLocked` when the
        holder cannot be joined."""
        deadline, pause = time.monotonic() + JOIN_SECONDS, FIRST_PAUSE_SECONDS
        while True:
            refusal = None
            try:
                folder = await self._host()
            except StoreLocked as locked:
                folder, refusal = Path(str(locked.details["folder"])), locked
            address = find_host(folder)
            connection = None if address is None else await self._join(address)
            if connection is not None:
                return connection
            if time.monotonic() > deadline:
                raise refusal or StoreLocked(f"The host of {folder} does not answer", folder=str(folder))
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _host(self) -> Path:
        """Open the store and serve it, unless this process does so already; the folder to be found in."""
        if self._folder is None:
            system = await self._open_store()
            self._stack.push_async_callback(system.close)
            if self._before_close is not None:
                self._stack.push_async_callback(self._before_close)
            await self._stack.enter_async_context(hosting(system))
            self._folder = system.storage.exclusive_folder()
        assert self._folder is not None
        return self._folder

    async def _join(self, address: Address) -> Connection | None:
        """A session with the host at an address, or None if nobody is there any more."""
        try:
            reader, writer = await asyncio.open_connection(HOST, address.port, limit=MAX_LINE_BYTES)
        except OSError:
            return None
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                writer.write(address.secret.encode() + msgspec.json.encode(self.request) + b"\n")
                answer = msgspec.json.decode(await reader.readline(), type=Joined)
        except (OSError, ValueError, msgspec.MsgspecError):  # also a timeout
            writer.close()
            return None
        if answer.refused is not None:
            writer.close()
            raise StoreLocked(f"The process {address.pid} that holds the folder refused: {answer.refused}")
        return reader, writer
