"""A TCP line to a gateway that can be cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class BrokenLine:
    """Forwards to a port; cuts connections when told, or before answers come back."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.cuts = 0
        self.answers_to_drop = 0
        """How many answers are lost on the way back, the connection with them."""
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break every connection that is open."""
        with self._lock:
            broken, self._open = self._open, set()
        self.cuts += 1
        for one in broken:
            _end(one)

    def close(self) -> None:
        self.listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
                with self._lock:
                    self._open |= {near, far}
                threading.Thread(target=self._forward, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self._forward, args=(far, near, True), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if is_answer and self.answers_to_drop:
                    self.answers_to_drop -= 1
                    self.cuts += 1
                    break
                sink.sendall(data)
        _end(source)
        _end(sink)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def broken_line(target: int) -> Iterator[BrokenLine]:
    line = BrokenLine(target)
    try:
        yield line
    finally:
        line.close()
