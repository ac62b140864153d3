"""A way to a gateway that can be cut: bytes pass in both directions until all connections are broken at once."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

CHUNK_BYTES = 65_536
TIMEOUT_SECONDS = 60.0
RESET = struct.pack("ii", 1, 0)
"""Lingering for no time: closing sends a reset instead of a farewell, as a broken line does."""


class CuttingProxy:
    """Passes connections on to a port of this machine."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.cuts = 0
        """How many connections were broken."""
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def cut(self) -> int:
        """Break every connection there is; answers how many."""
        with self._lock:
            broken, self._open = self._open, set()
        for one in broken:
            with suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.cuts += len(broken) // 2
        return len(broken) // 2

    def wait_for_connection(self, lives: Callable[[], bool] = lambda: True) -> None:
        """Wait until somebody is connected, as long as whoever should connect lives."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not self._open:
            assert lives(), "who should connect has ended"
            assert time.monotonic() < deadline, "nobody connected"
            time.sleep(0.01)

    def serve(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._open |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(CHUNK_BYTES):
                sink.sendall(part)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(target: int) -> Iterator[CuttingProxy]:
    """A proxy to a port until the block ends."""
    proxy = CuttingProxy(target)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.listener.close()
        proxy.cut()
