"""HTTP/1.1 over asyncio streams: connections are kept and shared, each stream has one of its own."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple

from ugs_client.address import (
    JSON_TYPE,
    MAX_HEAD_BYTES,
    REQUEST_SECONDS,
    STREAM_SILENCE_SECONDS,
    STREAM_TYPE,
    Address,
)
from ugs_client.errors import Unreachable
from ugs_client.http import parse_body
from ugs_client.operation import encode
from ugs_client.sse import EventParser

MAX_KEPT = 8
"""Idle connections that are kept open."""
BROKEN = (OSError, EOFError, TimeoutError, ValueError, asyncio.LimitOverrunError)
"""ValueError: what arrives is not HTTP."""


class Connection(NamedTuple):
    """One TCP connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def close(self) -> None:
        self.writer.close()


class Head(NamedTuple):
    """The first part of a response."""

    status: int
    headers: dict[str, str]

    @property
    def keeps(self) -> bool:
        """Whether the connection can be used again."""
        return self.headers.get("connection", "").lower() != "close"


class AsyncHttpTransport:
    """A gateway over HTTP/1.1, for one event loop."""

    def __init__(self, address: Address, tls: ssl.SSLContext | None = None) -> None:
        self._address, self._tls = address, tls
        self._idle: list[Connection] = []

    async def send(self, document: str, variables: Mapping[str, Any]) -> Any:
        body = encode(document, variables)
        connection: Connection | None = None
        reusable = False
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                connection = self._take_idle() or await self._connect()
                head = await self._request(connection, body, JSON_TYPE)
                text = b"".join([part async for part in _parts(connection.reader, head)])
            reusable = head.keeps and len(self._idle) < MAX_KEPT
        except BROKEN as error:
            raise self._unreachable(error) from error
        finally:
            if connection is not None:
                if reusable:
                    self._idle.append(connection)
                else:
                    connection.close()
        return parse_body(text, head.status)

    async def stream(self, document: str, variables: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        connection: Connection | None = None
        try:
            async with asyncio.timeout(STREAM_SILENCE_SECONDS):
                connection = await self._connect()
                head = await self._request(connection, encode(document, variables), STREAM_TYPE)
            parts = _parts(connection.reader, head)
            if STREAM_TYPE not in head.headers.get("content-type", ""):
                yield parse_body(b"".join([part async for part in parts]), head.status)
                return
            async with aclosing(_lines(parts)) as lines:
                parser = EventParser()
                while not parser.is_complete:
                    async with asyncio.timeout(STREAM_SILENCE_SECONDS):
                        line = await anext(lines, None)
                    if line is None:
                        raise Unreachable("The stream broke before it was complete")
                    if (result := parser.feed(line)) is not None:
                        yield result
        except BROKEN as error:
            raise self._unreachable(error) from error
        finally:
            if connection is not None:
                connection.close()

    async def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _take_idle(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.reader.at_eof() and not connection.writer.is_closing():
                return connection
            connection.close()
        return None

    async def _connect(self) -> Connection:
        place = self._address
        tls = (self._tls or ssl.create_default_context()) if place.secure else None
        return Connection(*await asyncio.open_connection(place.host, place.port, ssl=tls, limit=MAX_HEAD_BYTES))

    async def _request(self, connection: Connection, body: bytes, accept: str) -> Head:
        headers = self._address.headers(accept) | {"content-length": str(len(body))}
        told = "".join(f"{name}: {_checked(value)}\r\n" for name, value in headers.items())
        connection.writer.write(f"POST {self._address.path} HTTP/1.1\r\n{told}\r\n".encode() + body)
        await connection.writer.drain()
        return _parse_head(await connection.reader.readuntil(b"\r\n\r\n"))

    def _unreachable(self, error: BaseException) -> Unreachable:
        return Unreachable(f"Nobody answers at {self._address.authority}: {str(error) or type(error).__name__}")


def _checked(value: str) -> str:
    if "\r" in value or "\n" in value:
        raise TypeError("A header cannot hold a line break; look at the token")
    return value


def _parse_head(text: bytes) -> Head:
    first, *lines = text.decode("latin-1").split("\r\n")
    version, status, *_ = first.split(" ", 2)
    if not version.startswith("HTTP/1."):
        raise ValueError("what answers does not speak HTTP/1.1")
    pairs = (line.partition(":") for line in lines if line)
    return Head(int(status), {name.lower(): value.strip() for name, _, value in pairs})


async def _parts(reader: asyncio.StreamReader, head: Head) -> AsyncGenerator[bytes, None]:
    """The body of a response: in chunks, of a known length, or up to the end of the connection."""
    if head.headers.get("transfer-encoding", "").lower() == "chunked":
        while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
            yield await reader.readexactly(size)
            await reader.readexactly(2)
        while await reader.readuntil(b"\r\n") != b"\r\n":
            pass  # trailers
    elif "content-length" in head.headers:
        yield await reader.readexactly(int(head.headers["content-length"]))
    else:
        while part := await reader.read(MAX_HEAD_BYTES):
            yield part


async def _lines(parts: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """The lines of a body, which may begin in one part and end in another."""
    rest = b""
    async for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line
