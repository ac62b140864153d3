"""The server over HTTP: one route of the gateway, with the gateway's authentication, roles and limits."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from ugs.errors import InvalidSyntax
from ugs.ontology.api import Memory
from ugs_gateway.auth.resource_metadata import challenge
from ugs_gateway.graphql.admission import RequestAdmission
from ugs_gateway.graphql.request import RequestRejected
from ugs_gateway.graphql.stream_access import AccessEnded, StreamAccess
from ugs_gateway.http.request_body import read_body
from ugs_gateway.mcp.server import Profile, build_server
from ugs_gateway.mcp.truncation import Bounds
from ugs_gateway.mirror.tenant_mirrors import MirrorLookup
from ugs_gateway.settings import Settings


class McpEndpoint:
    """Serves `/mcp`; `running` must be entered before the first request."""

    def __init__(self, admission: RequestAdmission, settings: Settings, mirror: MirrorLookup | None = None) -> None:
        self.admission = admission
        self.max_body_bytes, self.seconds = settings.max_body_bytes, settings.request_seconds
        bounds = Bounds(settings.mcp_max_bytes, settings.request_seconds, settings.trusted_only)
        self.challenge = challenge(settings)
        self.too_large = (
            f"The request has more than {settings.max_body_bytes} bytes, which is all that this gateway takes at once: "
            "write shorter content, several nodes instead of one, or have max_body_bytes raised"
        )
        # Hosts are checked by the gateway's guard and origins below, by the rules of every interface.
        self.manager = StreamableHTTPSessionManager(
            app=build_server(self.memory_of, Profile(settings.mcp_profile), mirror, bounds),
            json_response=True,
            stateless=True,
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=settings.max_body_bytes,
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """The lifetime of the server's own tasks."""
        return self.manager.run()

    def memory_of(self, context: ServerRequestContext[Any]) -> Memory:
        """The memory on behalf of the request's principal; `__call__` has opened its tenant's system."""
        headers = getattr(context.request, "headers", {})
        principal = self.admission.authenticator.principal(headers.get("authorization"))
        system = self.admission.tenants.opened(principal)
        assert system is not None
        return Memory(system, principal)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            access = await self._admit(scope)
            body = await read_body(Request(scope, receive), self.max_body_bytes, self.seconds)
        except RequestRejected as refused:
            answer = self._too_large() if refused.status == 413 else refusal(refused, self.challenge)
            await answer(scope, receive, send)
        else:
            await self._serve(access, scope, replay_body(body, receive), send)

    def _too_large(self) -> JSONResponse:
        """The rejection of a body that is too large, as a protocol error, whose message clients display."""
        error = {"code": INVALID_REQUEST, "message": self.too_large}
        return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 413)

    async def _serve(self, access: StreamAccess, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the server answer. Open streams end when their key or token does. There are no sessions: every request is
        authenticated by itself, and a session id is ignored.
        """
        started = completed = False

        async def send_noted(message: Message) -> None:
            nonlocal started, completed
            started = started or message["type"] == "http.response.start"
            completed = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        try:
            async with access.limit():
                await self.manager.handle_request(scope, receive, send_noted)
        except AccessEnded as ended:
            if not started:
                await refusal(RequestRejected(401, ended.error), self.challenge)(scope, receive, send)
            elif not completed:
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _admit(self, scope: Scope) -> StreamAccess:
        """Authenticate and rate-limit the request, and open the tenant's system."""
        headers = Headers(scope=scope)
        self.admission.origins.check(headers)
        if scope["method"] != "POST":
            # Without sessions a stream would carry nothing, and there is no session to end.
            raise RequestRejected(405, InvalidSyntax("Send messages by POST"))
        address = (scope.get("client") or ("",))[0]
        authorization = headers.get("authorization")
        principal = self.admission.principal(authorization, address)
        await self.admission.system_of(principal)
        return StreamAccess(self.admission.authenticator, authorization, principal)


def replay_body(body: bytes, rest: Receive) -> Receive:
    """A `receive` that returns an already read body, and then the remaining messages."""
    waiting = [body]

    async def receive() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await rest()

    return receive


def refusal(refused: RequestRejected, challenge: str) -> JSONResponse:
    """The response to a request that was rejected before it reached the server."""
    headers = {**refused.headers, **({"www-authenticate": challenge} if refused.status == 401 else {})}
    return JSONResponse({"error": refused.error.message}, refused.status, headers)
