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

from gateway.asked import Refused
from gateway.mcp.server import Profile, build_server
from gateway.mcp.sizes import Bounds
from gateway.mirror.mirrors import KeepsFiles
from gateway.reception import Reception
from gateway.settings import Settings, is_loopback
from ugs.errors import Forbidden
from ugs.ontology.api import Memory


class McpDoor:
    """Serves `/mcp`; `running` must be entered before the first request."""

    def __init__(self, reception: Reception, settings: Settings, mirror: KeepsFiles | None = None) -> None:
        self.reception = reception
        self.origins = frozenset(settings.origin_list)
        bounds = Bounds(settings.mcp_max_bytes, settings.request_seconds)
        # Hosts are checked by the gateway's guard and origins here, with the gateway's own settings.
        self.manager = StreamableHTTPSessionManager(
            app=build_server(self.memory_of, Profile(settings.mcp_profile), mirror, bounds),
            json_response=True,
            stateless=True,
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=settings.max_body_bytes,
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """The life of the server's own tasks."""
        return self.manager.run()

    def memory_of(self, context: ServerRequestContext[Any]) -> Memory:
        """The memory, on behalf of whoever the request names; `__call__` has opened its tenant's system."""
        headers = getattr(context.request, "headers", {})
        principal = self.reception.gatekeeper.principal(headers.get("authorization"))
        system = self.reception.tenants.opened(principal)
        assert system is not None
        return Memory(system, principal)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._admit(scope)
        except Refused as refused:
            await refusal(refused)(scope, receive, send)
        else:
            await self.manager.handle_request(scope, receive, send)

    async def _admit(self, scope: Scope) -> None:
        """Refuse strangers and those who ask too often; open the tenant's system for the others."""
        headers = Headers(scope=scope)
        if not self._may_come_from(headers.get("origin")):
            raise Refused(403, Forbidden("Web pages of this origin may not call: see allowed_origins"))
        address = (scope.get("client") or ("",))[0]
        await self.reception.system_of(self.reception.principal(headers.get("authorization"), address))

    def _may_come_from(self, origin: str | None) -> bool:
        """Programs send no origin; a web page must come from this machine or be on the list."""
        return origin is None or origin in self.origins or is_loopback(urlsplit(origin).hostname or "")


def refusal(refused: Refused) -> JSONResponse:
    """A request that never reached the server, in words."""
    headers = {"www-authenticate": "Bearer"} if refused.status == 401 else None
    return JSONResponse({"error": refused.error.message}, refused.status, headers)
