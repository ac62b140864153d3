"""Neo4j over TLS (`bolt+s:`), with a certificate of our own making: a proxy before the server ends the encryption."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from ugs.feature_registry import CATALOG
from ugs_backends.neo4j import open_neo4j

CERTIFICATE = "-x509 -nodes -newkey rsa:2048 -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
UGS = Path(sys.executable).with_name("ugs")


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
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]

    def url(self, scheme: str) -> str:
        asked = self.target
        return f"{scheme}://{asked.username}:{asked.password}@localhost:{self.port}?namespace=tls{os.getpid()}"

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                Thread(target=self.serve, args=(self.listening.accept()[0],), daemon=True).start()

    def serve(self, plain: socket.socket) -> None:
        """One connection, in a thread of its own."""
        with suppress(OSError), plain, self.context.wrap_socket(plain, server_side=True) as inner:
            self.encrypted += 1
            with socket.create_connection((self.target.hostname or "", self.target.port or 7687)) as behind:
                while True:
                    ready = [inner] if inner.pending() else select.select([inner, behind], [], [])[0]
                    for source in ready:
                        data = source.recv(1 << 16)
                        if not data:
                            return
                        (behind if source is inner else inner).sendall(data)


@pytest.fixture
def proxy(url: str, tmp_path: Path) -> Iterator[TlsProxy]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is missing: it makes the certificate")
    made = TlsProxy(url, tmp_path)
    with made.listening:
        Thread(target=made.accept, daemon=True).start()
        yield made


def run(proxy: TlsProxy, scheme: str, *words: str, trusted: bool) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, which trusts the certificate as the system's own, or does not."""
    environment = {**os.environ, **({"SSL_CERT_FILE": str(proxy.certificate)} if trusted else {})}
    command = [UGS, *words, "--store", f"{proxy.url(scheme)}&deadline=5"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)


async def test_a_store_is_reached_over_tls(proxy: TlsProxy, url: str) -> None:
    made = run(proxy, "bolt+s", "add-node", "a", "t", "name=Zoë", trusted=True)
    assert (made.returncode, json.loads(made.stdout)["properties"]) == (0, {"name": "Zoë"}), made
    assert proxy.encrypted > 0
    storage = open_neo4j(f"{url.partition('?')[0]}?namespace=tls{os.getpid()}")
    await storage.open(CATALOG)
    async with storage.session() as session:
        assert (await session.head()).position == 1
    await storage.drop()
    await storage.close()


def test_a_certificate_that_nobody_vouches_for_will_do_when_asked(proxy: TlsProxy) -> None:
    found = run(proxy, "bolt+ssc", "stats", trusted=False)
    assert (found.returncode, json.loads(found.stdout)["nodes"]) == (0, 0), found
    assert proxy.encrypted > 0


@pytest.mark.parametrize(("scheme", "trusted"), [("bolt", True), ("bolt+s", False), ("neo4j+s", False)])
def test_no_tls_and_a_certificate_that_nobody_vouches_for_are_refused(
    proxy: TlsProxy, scheme: str, trusted: bool
) -> None:
    refused = run(proxy, scheme, "stats", trusted=trusted)
    assert (refused.returncode, json.loads(refused.stdout)["error"]["code"]) == (3, "UNAVAILABLE"), refused
    assert str(proxy.target.password) not in refused.stdout + refused.stderr
