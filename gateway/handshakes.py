"""WebSocket handshakes that make no sense are refused and their connections closed.

The web server takes a request with `Upgrade: websocket` for a handshake, whatever else it is. When the WebSocket
library then cannot read it, nobody would say a word: the connection would stay open for ever, and stumble over its own
state when the server is told to stop.
"""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

REASON = b"This is no WebSocket handshake.\n"
REFUSAL = (
    b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(REASON), REASON)
)


class CarefulSocket(WebSocketsSansIOProtocol):
    """The usual protocol, which looks whether it understood the handshake."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.close_sent:
            self.close_sent = True
            self.transport.write(REFUSAL)
            self.transport.close()
