"""The issuer's public keys (JWKS), fetched from a URL and refreshed by a background thread.

Requests never wait for the issuer: they use the cached keys. A token with an unknown key id triggers a refresh, at most
one every few seconds, so a rotated key is accepted soon after its first use.
"""

from __future__ import annotations

import threading
import time
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import jwt

from ugs.errors import InvalidSyntax, Unavailable
from ugs_gateway.observability.structured_logs import Log
from ugs_gateway.settings import is_loopback

REFRESH_SECONDS = 600.0
MIN_REFRESH_SECONDS = 10.0
FETCH_TIMEOUT_SECONDS = 5.0
MAX_BYTES = 1 << 20

log = Log("ugs_gateway.jwks")


def fetch_keys(url: str) -> jwt.PyJWKSet:
    """Fetch the keys that the issuer publishes now."""
    try:
        with urlopen(Request(url, headers={"accept": "application/json"}), timeout=FETCH_TIMEOUT_SECONDS) as answer:
            text = answer.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise ValueError("more than 1 MiB")
        return jwt.PyJWKSet.from_json(text)
    except (OSError, ValueError, jwt.PyJWTError) as error:
        raise Unavailable(f"The keys at {url} cannot be had: {error}") from error


class IssuerKeys:
    """The keys at a URL."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise InvalidSyntax("jwt_keys_url is not a URL") from error
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise InvalidSyntax("jwt_keys_url must begin with https: whoever can change the keys can be anybody")
        self.url = url
        self.found = fetch_keys(url)
        self._looked_at = time.monotonic()
        self._wanted = threading.Event()
        threading.Thread(target=self._refresh_regularly, name="jwks", daemon=True).start()

    def key(self, kid: str | None) -> jwt.PyJWK | None:
        """The key with this key id; without a key id the only key, if there is exactly one."""
        keys = self.found.keys
        if kid is None:
            return keys[0] if len(keys) == 1 else None
        known = next((key for key in keys if key.key_id == kid), None)
        if known is None:
            self._wanted.set()
        return known

    def _refresh_regularly(self) -> None:
        while True:
            self._wanted.wait(REFRESH_SECONDS)
            time.sleep(max(0.0, self._looked_at + MIN_REFRESH_SECONDS - time.monotonic()))
            self._wanted.clear()
            self.refresh()

    def refresh(self) -> None:
        """Refresh the keys; on failure the cached ones stay in use."""
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
        """The key with this key id; without a key id the first."""
        return next((key for key in self.found.keys if kid is None or key.key_id == kid), None)
