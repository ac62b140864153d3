"""The public keys of whoever issues tokens, fetched from their address and kept fresh in the background.

Requests never wait for the issuer: they use the keys at hand. A token signed with a key that is not among them asks
for a new look, at most every few seconds, so that a rotated key works moments after its first use.
"""

from __future__ import annotations

import threading
import time
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import jwt

from gateway.logs import Log
from gateway.settings import is_loopback
from ugs.errors import InvalidSyntax, Unavailable

EVERY_SECONDS = 600.0
SOONEST_SECONDS = 10.0
PATIENCE_SECONDS = 5.0
MOST_BYTES = 1 << 20

log = Log("gateway.jwks")


def fetch_keys(url: str) -> jwt.PyJWKSet:
    """The keys that the issuer publishes now."""
    try:
        with urlopen(Request(url, headers={"accept": "application/json"}), timeout=PATIENCE_SECONDS) as answer:
            text = answer.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError("more than 1 MiB")
        return jwt.PyJWKSet.from_json(text)
    except (OSError, ValueError, jwt.PyJWTError) as error:
        raise Unavailable(f"The keys at {url} cannot be had: {error}") from error


class IssuerKeys:
    """The keys at an address."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise InvalidSyntax("jwt_keys_url must begin with https: whoever can change the keys can be anybody")
        self.url = url
        self.found = fetch_keys(url)
        self._looked_at = time.monotonic()
        self._wanted = threading.Event()
        threading.Thread(target=self._stay_fresh, name="jwks", daemon=True).start()

    def key(self, kid: str | None) -> jwt.PyJWK | None:
        """The key a token names; a token that names none gets the only one there is."""
        keys = self.found.keys
        if kid is None:
            return keys[0] if len(keys) == 1 else None
        known = next((key for key in keys if key.key_id == kid), None)
        if known is None:
            self._wanted.set()
        return known

    def _stay_fresh(self) -> None:
        while True:
            self._wanted.wait(EVERY_SECONDS)
            time.sleep(max(0.0, self._looked_at + SOONEST_SECONDS - time.monotonic()))
            self._wanted.clear()
            self.look()

    def look(self) -> None:
        """Fetch the keys again; when that fails, those at hand stay good."""
        self._looked_at = time.monotonic()
        try:
            self.found = fetch_keys(self.url)
        except Unavailable as error:
            log.warning("the issuer's keys stay as they were", reason=str(error))


class FileKeys:
    """The keys in a JWKS file."""

    def __init__(self, text: str) -> None:
        self.found = jwt.PyJWKSet.from_json(text)

    def key(self, kid: str | None) -> jwt.PyJWK | None:
        """The key a token names; a token that names none gets the first."""
        return next((key for key in self.found.keys if kid is None or key.key_id == kid), None)
