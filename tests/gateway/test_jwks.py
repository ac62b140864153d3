"""Tokens of an issuer that publishes its keys at an address."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key

from tests.work import TIMED
from ugs.errors import InvalidSyntax, Unauthenticated, Unavailable
from ugs_gateway.auth import jwks
from ugs_gateway.auth.authenticator import Authenticator
from ugs_gateway.settings import Settings


class Issuer:
    """Signs tokens and publishes its keys on loopback."""

    def __init__(self) -> None:
        self.keys: dict[str, EllipticCurvePrivateKey] = {}
        self.broken = False
        issuer = self

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"<html>" if issuer.broken else json.dumps(issuer.published()).encode())

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/keys"

    def new_key(self, kid: str) -> None:
        self.keys[kid] = generate_private_key(SECP256R1())

    def published(self) -> dict[str, Any]:
        told = [(kid, jwt.algorithms.ECAlgorithm.to_jwk(key.public_key())) for kid, key in self.keys.items()]
        return {"keys": [{**json.loads(key), "kid": kid, "alg": "ES256", "use": "sig"} for kid, key in told]}

    def header(self, kid: str, **changed: Any) -> str:
        claims = {"sub": "jo", "iss": "https://issuer", "exp": time.time() + 60, "roles": ["reader"], **changed}
        return "Bearer " + jwt.encode(claims, self.keys[kid], "ES256", {"kid": kid})


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    found = Issuer()
    found.new_key("one")
    yield found
    found.server.shutdown()
    found.server.server_close()


def authenticator(issuer: Issuer) -> Authenticator:
    return Authenticator(Settings(jwt_keys_url=issuer.url, jwt_algorithm="ES256", jwt_issuer="https://issuer"))


def test_tokens_signed_with_a_published_key_are_good(issuer: Issuer) -> None:
    keeper = authenticator(issuer)
    assert keeper.principal(issuer.header("one")).user == "jo"
    issuer.new_key("stranger")
    with pytest.raises(Unauthenticated, match="not known here"):
        keeper.principal(issuer.header("stranger"))
    with pytest.raises(Unauthenticated, match="InvalidIssuerError"):
        keeper.principal(issuer.header("one", iss="https://elsewhere"))


@TIMED
def test_a_rotated_key_works_soon_after_its_first_use(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwks, "MIN_REFRESH_SECONDS", 0.0)
    keeper = authenticator(issuer)
    issuer.new_key("two")
    header, until = issuer.header("two"), time.monotonic() + 10
    while not keeper.is_accepted(header):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_an_issuer_that_fails_changes_nothing(issuer: Issuer) -> None:
    keeper = authenticator(issuer)
    issuer.broken = True
    keeper.key.refresh()
    assert keeper.principal(issuer.header("one")).user == "jo"
    with pytest.raises(Unavailable, match="cannot be had"):
        authenticator(issuer)


def test_keys_must_come_over_a_safe_line() -> None:
    with pytest.raises(InvalidSyntax, match="https"):
        Authenticator(Settings(jwt_keys_url="http://issuer.example/keys"))
