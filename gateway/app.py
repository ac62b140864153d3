"""The application: routes and their life, over one open system."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib.util import find_spec
from secrets import token_hex
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from gateway import graphiql, health, pages
from gateway.auth import check_safe
from gateway.eventlog import LogDoor
from gateway.express import Express, Gateway
from gateway.graphql import GraphQLDoor
from gateway.guard import Guard
from gateway.logs import Log
from gateway.metrics import CONTENT_TYPE, Metrics
from gateway.mirror.mirrors import Mirrors
from gateway.neighbours import check_neighbours
from gateway.origins import cross_origin
from gateway.programs import ProgramDoor
from gateway.reception import Reception, limits_in
from gateway.settings import Settings
from gateway.sockets import SocketDoor
from gateway.tenants import Tenants
from gateway.tracing import Tracing
from gateway.typed import TypedDoor, TypedSocketDoor
from schema import build_schema
from schema.errors import masked
from schema.operations import Operations
from ugs.errors import Unauthenticated
from ugs.system import System

if TYPE_CHECKING:
    from gateway.mcp.http import McpDoor

log = Log("gateway")


def create_app(settings: Settings, system: System | None = None) -> Starlette:
    """The gateway for these settings. Its lifespan opens the store and closes it again."""
    check_neighbours()
    check_safe(settings)
    system = system or System.at_url(settings.store)
    system.vectors.embedder_name = settings.embedder
    schema = build_schema()
    operations = Operations(schema, limits=limits_in(settings))
    tenants = Tenants(system, settings)
    reception = Reception(operations, settings, tenants, Metrics(operations, lambda: system.bus.position))
    tracing = Tracing(settings.otlp_endpoint)
    door = mcp_door(reception, settings, tenants.mirrors)
    graphql = GraphQLDoor(reception, settings, tracing)
    app = Gateway(
        routes=[
            *routes(reception, settings, graphql, schema.as_str() + "\n"),
            *([] if door is None else [Route("/mcp", door)]),
        ],
        middleware=[Middleware(Guard, local_only=settings.is_local), *cross_origin(settings)],
        exception_handlers={HTTPException: refused, Exception: failed},
        lifespan=life_of(tenants, tracing, door),
    )
    app.express = Express(graphql, settings)
    app.state.settings, app.state.tenants = settings, tenants
    return app


def routes(reception: Reception, settings: Settings, graphql: GraphQLDoor, sdl: str) -> list[BaseRoute]:
    """Every address of the gateway."""

    async def schema_text(request: Request) -> Response:
        return PlainTextResponse(sdl)

    async def metrics(request: Request) -> Response:
        return Response(reception.metrics.page(), headers={"content-type": CONTENT_TYPE})

    found: list[BaseRoute] = [
        Route("/", pages.front_page),
        Route("/style.css", pages.style),
        Route("/livez", health.livez),
        Route("/readyz", health.readyz),
        Route("/health", health.health),
        Route("/graphiql/assets/{name}", graphiql.asset),
        Route("/schema.graphql", only_for(reception, schema_text, admins=not settings.shows_schema)),
        Route("/graphql", graphql.serve, methods=["GET", "POST"]),
        WebSocketRoute("/graphql", SocketDoor(reception, settings).serve),
        *typed_routes(TypedDoor(reception, settings, graphql.tracing)),
        *ProgramDoor(reception, settings).routes(),
        *LogDoor(reception).routes(),
    ]
    if settings.metrics:
        found.append(Route("/metrics", only_for(reception, metrics)))
    return found


def typed_routes(door: TypedDoor) -> list[BaseRoute]:
    """The addresses of each ontology's own schema."""
    return [
        Route("/graphql/{ontology}", door.serve, methods=["GET", "POST"]),
        WebSocketRoute("/graphql/{ontology}", TypedSocketDoor(door).serve),
        Route("/graphql/{ontology}/schema.graphql", door.text),
    ]


Handler = Callable[[Request], Awaitable[Response]]


def only_for(reception: Reception, handler: Handler, admins: bool = False) -> Handler:
    """The handler behind a login, where there is one."""

    async def guarded(request: Request) -> Response:
        try:
            principal = reception.gatekeeper.principal(request.headers.get("authorization"))
        except Unauthenticated as error:
            raise HTTPException(401, error.message, {"www-authenticate": "Bearer"}) from error
        if admins and "admin" not in principal.roles:
            raise HTTPException(403, "This needs the role admin")
        return await handler(request)

    return guarded


def mcp_door(reception: Reception, settings: Settings, mirrors: Mirrors) -> McpDoor | None:
    """The MCP server, where its extra is installed."""
    if find_spec("mcp") is None:
        return None
    from gateway.mcp.http import McpDoor

    return McpDoor(reception, settings, mirrors)


def life_of(
    tenants: Tenants, tracing: Tracing, door: McpDoor | None
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Opens the store before the first request and closes it, with every tenant's, after the last."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.system = tenants.home
        try:
            async with tenants, nullcontext() if door is None else door.running():
                tell_opened(tenants.home)
                yield
        except BaseException as error:
            # The web server would only log it; whoever started us wants to put it into words.
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
    """An address or a method that does not exist here."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    headers = error.headers if isinstance(error, HTTPException) else None
    reason = error.detail if isinstance(error, HTTPException) else "Bad request"
    return JSONResponse({"error": f"{reason}: {request.method} {request.url.path}"}, status, headers)


async def failed(request: Request, error: Exception) -> Response:
    """A bug: the caller gets an id, the log gets the rest."""
    id = f"err_{token_hex(6)}"
    log.exception("a request failed", error, error_id=id)
    return JSONResponse({"error": masked(id)}, 500)
