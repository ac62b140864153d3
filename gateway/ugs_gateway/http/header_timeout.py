"""Slowloris protection: a connection that does not complete its headers in time is closed.

Body and answer have deadlines of their own (setting `request_seconds`). If a request is rejected before its body has
arrived, the body is still received, so that the client can read the rejection, but no longer than the header timeout.
Clients that do not read their answers are disconnected by `ugs_gateway.http.send_deadline`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ugs_gateway.http.send_deadline import SendDeadline

HEADER_TIMEOUT_SECONDS = 10.0


class HeaderTimeoutProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with a timer that runs while headers are incomplete."""

    _clock: asyncio.TimerHandle | None = None
    _send_deadline: SendDeadline | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._send_deadline = SendDeadline(transport)
        self._start_clock()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._send_deadline is not None:
            self._send_deadline.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._send_deadline is not None:
            self._send_deadline.stop()

    def on_message_begin(self) -> None:
        self._start_clock()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_clock()
        if not self.url.startswith(b"/"):
            self._add_authority_of_target()
        super().on_headers_complete()

    def _add_authority_of_target(self) -> None:
        """Count the authority of a request target such as `http://host/path` as a Host header: if it is another one
        than the header names, the request has two hosts and is refused."""
        authority = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0]
        if authority and (b"host", authority) not in self.headers:
            self.headers.append((b"host", authority))

    def on_message_complete(self) -> None:
        self._stop_clock()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_close()
        cycle: Any = self.cycle
        if cycle.response_complete and getattr(cycle, "more_body", False):
            self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        if self._send_deadline is not None:
            self._send_deadline.stop()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._watch_close()

    def shutdown(self) -> None:
        super().shutdown()
        self._watch_close()

    def _watch_close(self) -> None:
        if self._send_deadline is not None:
            self._send_deadline.watch_close()

    def _start_clock(self) -> None:
        self._stop_clock()
        self._clock = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self._give_up)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _give_up(self) -> None:
        transport: Any = self.transport
        if transport is not None and not transport.is_closing():
            transport.close()
            self._watch_close()
