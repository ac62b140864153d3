"""The server over HTTP: one address in the gateway, with the gateway's own login, roles and limits."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import urlsplit

from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from gateway.auth import Gatekeeper
from gateway.mcp.server import build_server
from gateway.settings import Settings, is_loopback
from ugs.errors import Unauthenticated
from ugs.ontology.api import Memory
from ugs.system import System


class McpDoor:
    """Serves `/mcp`; `running` must be entered before the first request."""

    def __init__(self, system: System, gatekeeper: Gatekeeper, settings: Settings) -> None:
        self.system, self.gatekeeper = system, gatekeeper
        self.origins = frozenset(settings.origin_list)
        # Hosts are checked by the gateway's guard and origins here, with the gateway's own settings.
        self.manager = StreamableHTTPSessionManager(
            app=build_server(self.memory_of),
            json_response=True,
            stateless=True,
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=settings.max_body_bytes,
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """The life of the server's own tasks."""
        return self.manager.run()

    def memory_of(self, context: ServerRequestContext[Any]) -> Memory:
        """The memory, on behalf of whoever the request names."""
        headers = getattr(context.request, "headers", {})
        return Memory(self.system, self.gatekeeper.principal(headers.get("authorization")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
        else:
            await self.manager.handle_request(scope, receive, send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        if not self._may_come_from(headers.get("origin")):
            return JSONResponse({"error": "Web pages of this origin may not call: see allowed_origins"}, 403)
        try:
            self.gatekeeper.principal(headers.get("authorization"))
        except Unauthenticated as error:
            return JSONResponse({"error": error.message}, 401, {"www-authenticate": "Bearer"})
        return None

    def _may_come_from(self, origin: str | None) -> bool:
        """Programs send no origin; a web page must come from this machine or be on the list."""
        return origin is None or origin in self.origins or is_loopback(urlsplit(origin).hostname or "")
