"""What surrounds every request: an id for the log, safe headers, and a check of whom the caller thinks it talks to."""

from __future__ import annotations

import re
import time
from secrets import token_hex

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.logs import Log, request_id
from gateway.settings import is_loopback

log = Log("gateway")

CALLERS_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
QUIET = frozenset({"/livez", "/readyz", "/health", "/metrics"})
HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
MOST_HEADERS = 200
MOST_HEADER_BYTES = 64 * 1024

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class Guard:
    """Wraps the application; knows nothing of what it serves."""

    def __init__(self, app: ASGIApp, local_only: bool) -> None:
        self.app = app
        self.local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        token = request_id.set(id_for(headers))
        try:
            app = oddity(scope, headers) or (self.app if self._may_ask(headers) else misdirected)
            await self._serve(app, scope, receive, send)
        finally:
            request_id.reset(token)

    def _may_ask(self, headers: Headers) -> bool:
        """A page from elsewhere can make a browser call this machine under a foreign name (DNS rebinding)."""
        return not self.local_only or is_loopback(host_name(headers.get("host", "")))

    async def _serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                add_headers(MutableHeaders(scope=message))
            await send(message)

        try:
            await app(scope, receive, send_guarded)
        finally:
            took = round((time.perf_counter() - started) * 1000, 1)
            tell = log.debug if scope["path"] in QUIET and status == 200 else log.info
            tell("served", method=scope["method"], path=scope["path"], status=status or 500, took_ms=took)


def oddity(scope: Scope, headers: Headers) -> ASGIApp | None:
    """An answer to requests that no honest client sends, before anything else looks at them."""
    given = scope["headers"]
    if len(given) > MOST_HEADERS or sum(len(name) + len(value) for name, value in given) > MOST_HEADER_BYTES:
        return JSONResponse({"error": "The headers of the request are too large"}, 431)
    hosts = headers.getlist("host")
    if len(hosts) > 1 or not all(HOST.fullmatch(host) for host in hosts):
        return JSONResponse({"error": "The Host header of the request makes no sense"}, 400)
    return None


def id_for(headers: Headers) -> str:
    """The caller's own request id when it is harmless, else a new one."""
    given = headers.get("x-request-id", "")
    return given if CALLERS_ID.fullmatch(given) else token_hex(8)


def add_headers(headers: MutableHeaders) -> None:
    """Put the request id and the safe defaults on a response."""
    headers["x-request-id"] = request_id.get() or ""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)


def host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


async def misdirected(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that was meant for another name."""
    reason = "This gateway serves its own machine only: ask for localhost, or start it with --allow-open."
    await JSONResponse({"error": reason}, 421)(scope, receive, send)
