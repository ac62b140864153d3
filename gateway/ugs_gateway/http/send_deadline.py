"""Disconnects clients that do not read their answers.

Unread answers stay in the send buffer of their connection, so a client that requests much and reads nothing could
exhaust the memory. A connection whose buffer is above `SEND_BUFFER_BYTES` must therefore drain at least
`MIN_BYTES_PER_SECOND` on average within each `STALL_SECONDS`, or it is aborted. When all waiting buffers together
exceed `MAX_WAITING_BYTES`, the connections that have waited longest are aborted at once.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ugs_gateway.observability.structured_logs import Log
from ugs_gateway.os_support import unsent_bytes

log = Log("ugs_gateway")

STALL_SECONDS = 10.0
MIN_BYTES_PER_SECOND = 4_096
MAX_WAITING_BYTES = 256 * 1024 * 1024
SEND_BUFFER_BYTES = 64 * 1024
"""High-water mark of the transport: above it a connection counts as waiting and writing is paused."""


class SendDeadline:
    """Watches one connection while its send buffer is above the limit; no timer runs otherwise."""

    waiting: dict[SendDeadline, None] = {}
    """All waiting connections, the longest waiting first."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self._timer: asyncio.TimerHandle | None = None
        self._left = 0
        transport.set_write_buffer_limits(SEND_BUFFER_BYTES)

    @property
    def bytes(self) -> int:
        """Bytes in the send buffer."""
        return self.transport.get_write_buffer_size()

    def start(self) -> None:
        """Start watching: the buffer is above its limit."""
        if self._timer is None:
            self.waiting[self] = None
            self._wait()
            abort_longest_waiting()

    def watch_close(self) -> None:
        """Watch a closing connection too, so that the rest of its buffer is sent in time, however small it is."""
        if self.transport.is_closing() and self.bytes:
            self.start()

    def stop(self) -> None:
        """Stop watching: the buffer is below its limit, or the connection is closed."""
        self.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def abort(self, reason: str) -> None:
        """Abort the connection and drop its send buffer."""
        self.stop()
        peer: Any = self.transport.get_extra_info("peername")
        log.warning("cut a client that does not read", reason=reason, client=peer and peer[0], waiting=self.bytes)
        self.transport.abort()

    def _wait(self) -> None:
        self._left = self._unsent_bytes()
        self._timer = asyncio.get_running_loop().call_later(STALL_SECONDS, self._check)

    def _unsent_bytes(self) -> int:
        """Bytes the client has not received, including the kernel's send buffer. asyncio passes data on in pieces of a
        megabyte and more, which a slow client may take longer than `STALL_SECONDS` to receive."""
        socket: Any = self.transport.get_extra_info("socket")
        return self.bytes + (0 if socket is None else unsent_bytes(socket.fileno()))

    def _check(self) -> None:
        """Abort the connection unless the client has received enough since the last check."""
        # Compares sizes only: nothing is written while the buffer is above its limit, so a decrease is what was
        # received.
        if self._left - self._unsent_bytes() < STALL_SECONDS * MIN_BYTES_PER_SECOND:
            self.abort("too slow")
        else:
            self._wait()


def abort_longest_waiting() -> None:
    """Abort the longest waiting connections until the others fit into `MAX_WAITING_BYTES`."""
    total = sum(found.bytes for found in SendDeadline.waiting)
    while total > MAX_WAITING_BYTES and len(SendDeadline.waiting) > 1:
        longest = next(iter(SendDeadline.waiting))
        total -= longest.bytes
        longest.abort("too much waits for all")
