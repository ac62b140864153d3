"""The ASGI application: routes, middleware, error handlers and lifespan over one open system."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING

from graphql import GraphQLSchema
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from ugs.support.budget import configure_memory
from ugs.system import System
from ugs_gateway.auth.authenticator import check_safe
from ugs_gateway.auth.resource_metadata import metadata_routes
from ugs_gateway.fastpath.handler import FastPath
from ugs_gateway.graphql import graphiql
from ugs_gateway.graphql.admission import RequestAdmission, address_of, limits_in
from ugs_gateway.graphql.endpoint import GraphQLEndpoint
from ugs_gateway.graphql.ontology_endpoint import OntologyEndpoint, OntologyWebSocketEndpoint
from ugs_gateway.graphql.request import RequestRejected
from ugs_gateway.graphql.websocket import WebSocketEndpoint
from ugs_gateway.http.cors import cross_origin
from ugs_gateway.http.middleware import SecurityMiddleware
from ugs_gateway.http.request_policy import report_unexpected
from ugs_gateway.mcp.lazy_endpoint import LazyMcpEndpoint
from ugs_gateway.mcp.sessions.host import hosting
from ugs_gateway.mirror.tenant_mirrors import Mirrors
from ugs_gateway.observability import health
from ugs_gateway.observability.counters import Counters
from ugs_gateway.observability.metrics import CONTENT_TYPE, Metrics
from ugs_gateway.observability.structured_logs import Log
from ugs_gateway.observability.tracing import Tracing
from ugs_gateway.rest import documentation, landing_page
from ugs_gateway.rest.event_log import EventLogEndpoint
from ugs_gateway.rest.programs import ProgramEndpoint
from ugs_gateway.settings import Settings
from ugs_gateway.studio import application as studio
from ugs_gateway.tenants import HOME, Tenants
from ugs_gateway.webhooks.delivery import Deliverer
from ugs_gateway.webhooks.http_client import HttpClient
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.schema_variants import relay_sdl

if TYPE_CHECKING:
    from ugs_gateway.mcp.http import McpEndpoint

log = Log("ugs_gateway")

MAX_SHOWN_PATH_CHARS = 200


def create_app(
    settings: Settings, system: System | None = None, counters: Counters | None = None, worker: int = 0
) -> Starlette:
    """Build the application. Its lifespan opens the store and closes it. Worker processes have numbers, and bring the
    counters that they share."""
    check_safe(settings)
    configure_memory(settings.request_memory_bytes, settings.total_memory_bytes, settings.workers)
    system = system or System.at_url(settings.store)
    system.vectors.embedder_name = settings.embedder
    schema = build_schema(settings.federation)
    operations = OperationExecutor(schema, limits=limits_in(settings))
    tenants = Tenants(system, settings, worker)
    metrics = Metrics(operations, lambda: system.bus.position, counters, system.storage.replicas)
    admission = RequestAdmission(operations, settings, tenants, metrics)
    deliverer = build_deliverer(settings, tenants, schema._schema, metrics)
    if deliverer is not None:
        admission.redeliver = deliverer.redeliver
    tracing = Tracing(settings.otlp_endpoint)
    mcp = build_mcp_endpoint(admission, settings, tenants.mirrors)
    graphql = GraphQLEndpoint(admission, settings, tracing)
    app = Starlette(
        routes=[
            *routes(admission, settings, graphql, schema.as_str() + "\n"),
            *metadata_routes(settings),
            Route("/mcp", mcp),
        ],
        middleware=[Middleware(SecurityMiddleware, hosts=settings.host_policy), *cross_origin(settings)],
        exception_handlers={HTTPException: refused, Exception: failed},
        lifespan=make_lifespan(tenants, tracing, mcp, deliverer),
    )
    app.state.fast_path = FastPath(graphql, settings)
    app.state.settings, app.state.tenants, app.state.admission = settings, tenants, admission
    return app


def routes(admission: RequestAdmission, settings: Settings, graphql: GraphQLEndpoint, sdl: str) -> list[BaseRoute]:
    """All routes of the gateway except `/mcp`."""

    async def schema_text(request: Request) -> Response:
        return PlainTextResponse(relay_sdl(sdl) if request.query_params.get("for") == "relay" else sdl)

    async def metrics(request: Request) -> Response:
        return Response(admission.metrics.page(), headers={"content-type": CONTENT_TYPE})

    found: list[BaseRoute] = [
        Route("/", studio.front_page),
        Route("/style.css", landing_page.style),
        Route("/livez", health.livez),
        Route("/readyz", health.readyz),
        Route("/health", health.health),
        Route("/graphiql/assets/{name}", graphiql.asset),
        Route("/studio/assets/{name}", studio.asset),
        *documentation_routes(admission, settings),
        Route("/schema.graphql", only_for(admission, schema_text, admins=not settings.shows_schema)),
        Route("/graphql", graphql.serve, methods=["GET", "POST"]),
        WebSocketRoute("/graphql", WebSocketEndpoint(admission, settings).serve),
        *typed_routes(OntologyEndpoint(admission, settings, graphql.tracing)),
        *ProgramEndpoint(admission, settings).routes(),
        *EventLogEndpoint(admission).routes(),
    ]
    if settings.metrics:
        found.append(Route("/metrics", only_for(admission, metrics, owners=True)))
    return found


def documentation_routes(admission: RequestAdmission, settings: Settings) -> list[BaseRoute]:
    """The routes of the documentation. It tells which version runs, so strangers do not see it where callers log in."""
    page = only_for(admission, documentation.page) if settings.has_login else documentation.page
    return [Route("/docs", documentation.redirect), Route("/docs/{page:path}", page)]


def typed_routes(endpoint: OntologyEndpoint) -> list[BaseRoute]:
    """The routes of the generated schemas."""
    return [
        Route("/graphql/{ontology}", endpoint.serve, methods=["GET", "POST"]),
        WebSocketRoute("/graphql/{ontology}", OntologyWebSocketEndpoint(endpoint).serve),
        Route("/graphql/{ontology}/schema.graphql", endpoint.text),
    ]


Handler = Callable[[Request], Awaitable[Response]]


def only_for(admission: RequestAdmission, handler: Handler, admins: bool = False, owners: bool = False) -> Handler:
    """The handler with the Origin check and, where that is configured, authentication; optionally only for admins or
    for the tenant that owns the store."""

    async def guarded(request: Request) -> Response:
        try:
            admission.origins.check(request.headers)
            principal = admission.authenticate(request.headers.get("authorization"), address_of(request))
        except RequestRejected as refused:
            raise HTTPException(refused.status, refused.error.message, refused.headers) from refused
        if admins and "admin" not in principal.roles:
            raise HTTPException(403, "This needs the role admin")
        if owners and (principal.tenant != HOME or not principal.roles):
            raise HTTPException(403, "This concerns all tenants, so it is for the tenant default, which owns the store")
        return await handler(request)

    return guarded


def build_mcp_endpoint(admission: RequestAdmission, settings: Settings, mirrors: Mirrors) -> LazyMcpEndpoint:
    """The MCP endpoint; its library is loaded by the first request."""

    def build() -> McpEndpoint:
        from ugs_gateway.mcp.http import McpEndpoint

        return McpEndpoint(admission, settings, mirrors)

    return LazyMcpEndpoint(build)


def build_deliverer(settings: Settings, tenants: Tenants, schema: GraphQLSchema, metrics: Metrics) -> Deliverer | None:
    """What delivers the webhooks, where they are on."""
    if tenants.webhooks is None:
        return None
    client = HttpClient(settings.webhook_private_addresses, settings.webhook_seconds)
    return Deliverer(
        tenants.webhooks,
        schema,
        tenants.system_of,
        client,
        settings.webhook_attempts,
        tenants.shared,
        metrics.count_delivery,
    )


def make_lifespan(
    tenants: Tenants, tracing: Tracing, mcp: LazyMcpEndpoint, deliverer: Deliverer | None
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """The lifespan: opens the store before the first request and closes it, with those of all tenants, after the
    last."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.system = tenants.home
        delivering: AbstractAsyncContextManager[None] = nullcontext() if deliverer is None else deliverer.running()
        try:
            async with tenants, hosting(tenants.home, tenants.mirrors.of(tenants.home)), mcp.running(), delivering:
                tell_opened(tenants.home)
                yield
        except BaseException as error:
            # uvicorn only logs a failed lifespan; `server.serve` raises this error for the command line.
            app.state.failure = error
            raise
        tracing.close()
        log.info("closed")

    return lifespan


def tell_opened(system: System) -> None:
    """Log how the store opened."""
    for warning in system.storage.warnings:
        log.warning(warning)
    log.info("opened", store=system.storage.describe(), position=system.bus.position)


async def refused(request: Request, error: Exception) -> Response:
    """Handler of `HTTPException`, such as an unknown path or method."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    headers = error.headers if isinstance(error, HTTPException) else None
    reason = error.detail if isinstance(error, HTTPException) else "Bad request"
    path = request.scope["path"][:MAX_SHOWN_PATH_CHARS]
    return JSONResponse({"error": f"{reason}: {request.method} {path}"}, status, headers)


async def failed(request: Request, error: Exception) -> Response:
    """Handler of unexpected errors."""
    return Response(report_unexpected(error), 500, media_type="application/json")
