"""uvicorn's WebSocket protocol with strict handshakes and bounded closing.

uvicorn treats every request with `Upgrade: websocket` as a handshake. If the WebSocket library cannot parse it, the
connection would stay open without an answer and fail at shutdown; here it gets a 400 and is closed. No extensions are
supported, so proposals are not parsed. Clients that do not read are disconnected, and the closing handshake may take
two seconds.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from ugs_gateway.http.send_deadline import SendDeadline

CLOSE_SECONDS = 2.0
REASON = b"This is no WebSocket handshake.\n"
REFUSAL = (
    b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(REASON), REASON)
)


class StrictWebSocketProtocol(WebSocketsSansIOProtocol):
    """Answers malformed handshakes with 400, watches the send buffer and limits the closing handshake."""

    _send_deadline: SendDeadline | None = None

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.close_timeout = CLOSE_SECONDS
        # Otherwise extension proposals of any length would be parsed.
        self.conn.available_extensions = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._send_deadline = SendDeadline(self.transport)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._send_deadline is not None:
            self._send_deadline.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._send_deadline is not None:
            self._send_deadline.stop()

    def handle_ping(self) -> None:
        """Answer a ping, unless the client has not read what was sent before: pongs would fill the send buffer."""
        output = self.conn.data_to_send()
        if self.writable.is_set():
            self.transport.write(b"".join(output))

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        self._watch_close()

    def handle_close(self, event: Frame) -> None:
        super().handle_close(event)
        self._watch_close()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._watch_close()

    def shutdown(self) -> None:
        super().shutdown()
        self._watch_close()

    def _watch_close(self) -> None:
        if self._send_deadline is not None:
            self._send_deadline.watch_close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._send_deadline is not None:
            self._send_deadline.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.close_sent:
            self.close_sent = True
            self.transport.write(REFUSAL)
            self.transport.close()
