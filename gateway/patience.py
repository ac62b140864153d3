"""A limit to patience: a connection that does not finish its headers in time is closed.

Whoever opens a thousand sockets and sends a byte a second would otherwise hold them all for nothing. The body and the
answer have deadlines of their own (setting `request_seconds`). A body that was refused before it had come may still
come, so that its sender lives to see the refusal, but not for longer than headers may take.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 10.0


class PatientProtocol(HttpToolsProtocol):
    """The usual protocol with a clock that runs while headers are awaited."""

    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_clock()

    def on_message_begin(self) -> None:
        self._start_clock()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_clock()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_clock()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        cycle: Any = self.cycle
        if cycle.response_complete and getattr(cycle, "more_body", False):
            self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def _start_clock(self) -> None:
        self._stop_clock()
        self._clock = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _give_up(self) -> None:
        transport: Any = self.transport
        if transport is not None and not transport.is_closing():
            transport.close()
