"""Middleware around every request of the framework: request id, security headers, Host check and access log."""

from __future__ import annotations

import time
from collections.abc import Awaitable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from ugs_gateway.http.authority import HostPolicy, parse_host
from ugs_gateway.http.request_policy import SECURITY_HEADERS, are_headers_too_large, choose_request_id, log_access
from ugs_gateway.observability.structured_logs import request_id

MAX_PATH_CHARS = 8 * 1024
MAX_SHOWN_HOST_CHARS = 100


class SecurityMiddleware:
    """ASGI middleware, independent of the application it wraps."""

    def __init__(self, app: ASGIApp, hosts: HostPolicy) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        refusal = reject_malformed(scope, headers) or self._misdirected(headers)
        if scope["type"] == "websocket":
            return await (self.app(scope, receive, send) if refusal is None else deny(scope, receive, send, refusal))
        token = request_id.set(choose_request_id(headers.get("x-request-id", "")))
        try:
            await self._serve(refusal or self.app, scope, receive, send)
        finally:
            request_id.reset(token)

    def _misdirected(self, headers: Headers) -> JSONResponse | None:
        """The 421 response if the Host header is not accepted, else None."""
        host = headers.get("host", "")
        # Browsers always send Host; some load balancers' health checks do not.
        if self.hosts.accepts(host) or (self.hosts.any_name and "host" not in headers):
            return None
        reason = (
            f"This gateway does not answer to the name {host[:MAX_SHOWN_HOST_CHARS]!r}: ask for localhost or an "
            "address it listens on, or add the name to the setting allowed_hosts (--allowed-hosts, UGS_ALLOWED_HOSTS)."
        )
        return JSONResponse({"error": reason}, 421)

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
            log_access(scope["method"], scope["path"], status or 500, time.perf_counter() - started)


def reject_malformed(scope: Scope, headers: Headers) -> JSONResponse | None:
    """The rejection of oversized headers or paths and of malformed Host headers, before any other processing."""
    if are_headers_too_large(scope["headers"], len(scope["headers"])):
        return JSONResponse({"error": "The headers of the request are too large"}, 431)
    if len(scope["path"]) > MAX_PATH_CHARS:
        return JSONResponse({"error": "The path of the request is too long"}, 414)
    hosts = headers.getlist("host")
    if len(hosts) > 1 or not all(parse_host(host) for host in hosts):
        return JSONResponse({"error": "The Host header of the request makes no sense"}, 400)
    return None


def add_headers(headers: MutableHeaders) -> None:
    """Set the request id, and the security headers that the response does not set itself."""
    headers["x-request-id"] = request_id.get() or ""
    for name, value in SECURITY_HEADERS.items():
        headers.setdefault(name, value)


def deny(scope: Scope, receive: Receive, send: Send, refusal: JSONResponse) -> Awaitable[None]:
    """Reject a WebSocket before the handshake is accepted."""
    return WebSocket(scope, receive, send).send_denial_response(refusal)
