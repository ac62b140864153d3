"""Which web pages may call the gateway: its own, those on an allow-list, and on a developer's machine local ones.

Programs send no `Origin` and are not meant here. A page cannot hide or forge it, so a foreign page is refused before
anything is read, whatever a browser would have allowed.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from gateway.guard import host_name
from gateway.settings import Settings, is_loopback

ALLOWED_HEADERS = ("accept", "authorization", "content-type", "if-none-match", "x-request-id")
EXPOSED_HEADERS = ("etag", "retry-after", "x-request-id")
PREFLIGHT_SECONDS = 600


class Origins:
    """Judges where a request comes from."""

    def __init__(self, settings: Settings) -> None:
        self.allowed = frozenset(settings.origin_list)
        self.local_only = settings.is_local

    def may_ask(self, headers: Headers) -> bool:
        """Whether the page behind a request may talk to us; no page at all may."""
        origin = headers.get("origin")
        if origin is None or origin in self.allowed or "*" in self.allowed:
            return True
        return self._is_own_page(origin, headers.get("host", "")) or self._is_local_page(origin)

    def may_connect(self, headers: Headers) -> bool:
        """The same for a WebSocket, which no browser asks about beforehand; also checks whom it was meant for."""
        if self.local_only and not is_loopback(host_name(headers.get("host", ""))):
            return False
        return self.may_ask(headers)

    def _is_own_page(self, origin: str, host: str) -> bool:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and bool(host) and parts.netloc == host

    def _is_local_page(self, origin: str) -> bool:
        return self.local_only and is_loopback(urlsplit(origin).hostname or "")


def cross_origin(settings: Settings) -> list[Middleware]:
    """Answers browsers that ask beforehand. No cookies are used, so credentials are never allowed."""
    if not settings.origin_list:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.origin_list,
            allow_methods=["GET", "POST"],
            allow_headers=ALLOWED_HEADERS,
            expose_headers=EXPOSED_HEADERS,
            allow_credentials=False,
            max_age=PREFLIGHT_SECONDS,
        )
    ]
