"""Origin check and CORS: which web pages may call the gateway.

Allowed are same-origin pages, configured origins and, on a loopback listener, local pages. Programs send no Origin and
are not affected. A page can neither omit nor forge it, so foreign pages are rejected before the body is read,
independently of the browser's own CORS check.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from ugs.errors import Forbidden
from ugs_gateway.graphql.request import RequestRejected
from ugs_gateway.http.authority import parse_host, parse_origin
from ugs_gateway.settings import Settings

ALLOWED_HEADERS = ("accept", "authorization", "content-type", "if-none-match", "ugs-min-position", "x-request-id")
EXPOSED_HEADERS = ("etag", "retry-after", "ugs-position", "x-request-id")
PREFLIGHT_SECONDS = 600


class Origins:
    """Checks the Origin header of requests."""

    def __init__(self, settings: Settings) -> None:
        self.allowed = frozenset(settings.origin_list)
        self.local_only = settings.is_local

    def is_allowed(self, headers: Headers) -> bool:
        """Whether a request's origin is allowed; requests without an Origin always are."""
        origins = headers.getlist("origin")
        if not origins or "*" in self.allowed:
            return True
        return len(origins) == 1 and (
            origins[0] in self.allowed or self._is_own_or_local(origins[0], headers.get("host", ""))
        )

    def check(self, headers: Headers) -> None:
        """Reject a request from a foreign origin with 403."""
        if not self.is_allowed(headers):
            raise RequestRejected(
                403, Forbidden("Pages from this origin may not call the gateway (setting allowed_origins)")
            )

    def _is_own_or_local(self, text: str, host: str) -> bool:
        """Whether the origin is the gateway's own, or a local one on a loopback listener."""
        origin, requested = parse_origin(text), parse_host(host)
        if origin is None or requested is None:
            return False
        return origin.is_page_of(requested) or (self.local_only and origin.host.is_loopback)


def cross_origin(settings: Settings) -> list[Middleware]:
    """Middleware for CORS preflight requests. No cookies are used, so credentials are never allowed."""
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
