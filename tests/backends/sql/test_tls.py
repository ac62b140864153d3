"""PostgreSQL over TLS, with a certificate of our own making.

The server that the tests bring along is built without TLS, so a proxy ends it: it answers PostgreSQL's request for TLS,
shows its certificate, and refuses whoever does not ask. What is tested is our side of the connection.
"""

from __future__ import annotations

import select
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from tests import servers
from ugs.connect import storage_for
from ugs.errors import UgsError
from ugs.feature_registry import CATALOG
from ugs.graph.api import Graph
from ugs.system import System

TLS_REQUEST = bytes.fromhex("0000000804d2162f")
CERTIFICATE = "-x509 -nodes -newkey rsa:2048 -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"


class TlsProxy:
    """Takes connections over TLS only, and hands on what is inside."""

    def __init__(self, url: str, folder: Path) -> None:
        self.target = urlsplit(url)
        self.certificate, key = folder / "server.crt", folder / "server.key"
        made = ["openssl", "req", *CERTIFICATE.split(), "-keyout", str(key), "-out", str(self.certificate)]
        subprocess.run(made, check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        self.encrypted = 0
        self.port = 0

    @property
    def url(self) -> str:
        asked = self.target
        return f"postgresql://{asked.username}:{asked.password}@localhost:{self.port}{asked.path}"

    def serve(self, plain: socket.socket) -> None:
        """One connection, in a thread of its own."""
        with suppress(OSError), plain:
            if plain.recv(len(TLS_REQUEST), socket.MSG_WAITALL) != TLS_REQUEST:
                return
            plain.sendall(b"S")
            inner = self.context.wrap_socket(plain, server_side=True)
            self.encrypted += 1
            behind = socket.create_connection((self.target.hostname or "", self.target.port or 5432))
            with inner, behind:
                sources: list[socket.socket] = [inner, behind]
                while True:
                    ready = [inner] if inner.pending() else select.select(sources, [], [])[0]
                    for source in ready:
                        data = source.recv(1 << 16)
                        if not data:
                            return
                        (behind if source is inner else inner).sendall(data)

    def listen(self) -> socket.socket:
        listening = socket.create_server(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]

        def accept() -> None:
            with suppress(OSError):
                while True:
                    Thread(target=self.serve, args=(listening.accept()[0],), daemon=True).start()

        Thread(target=accept, daemon=True).start()
        return listening


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TlsProxy]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is missing: it makes the certificate")
    made = TlsProxy(servers.require("postgresql").partition("?")[0], tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))  # where trusted certificates are looked for
    with made.listen():
        yield made


def trust(certificate: Path) -> None:
    folder = Path.home() / ".postgresql"
    folder.mkdir(parents=True)
    shutil.copy(certificate, folder / "root.crt")


@pytest.mark.parametrize("mode", ["require", "prefer", "verify-ca", "verify-full"])
async def test_a_store_is_reached_over_tls(proxy: TlsProxy, mode: str) -> None:
    if mode.startswith("verify"):
        trust(proxy.certificate)
    storage = storage_for(f"{proxy.url}?schema=tls_test&ssl={mode}")
    await storage.open(CATALOG)
    try:
        async with System(storage) as system:
            await Graph(system).add_node("a", "t", {"name": "Zoë"})
            assert (await Graph(system).stats()).nodes == 1
            await system.storage.drop()
    finally:
        await storage.close()
    assert proxy.encrypted > 0


@pytest.mark.parametrize("mode", ["disable", "verify-ca", "verify-full"])
async def test_no_tls_and_a_certificate_that_nobody_vouches_for_are_refused(proxy: TlsProxy, mode: str) -> None:
    if mode == "verify-ca":
        other = proxy.certificate.parent / "other"
        other.mkdir()
        trust(TlsProxy(proxy.url, other).certificate)
    storage = storage_for(f"{proxy.url}?schema=tls_test&ssl={mode}&deadline=5")
    with pytest.raises(UgsError) as refused:
        await storage.open(CATALOG)
    await storage.close()
    assert str(proxy.target.password) not in str(refused.value)
