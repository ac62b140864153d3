"""The application: routes and their life, over one open system."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from secrets import token_hex

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from gateway import health, pages
from gateway.auth import Gatekeeper, check_safe
from gateway.graphql import GraphQLDoor
from gateway.guard import Guard
from gateway.logs import Log
from gateway.neighbours import check_neighbours
from gateway.settings import Settings
from gateway.sockets import SocketDoor
from schema import build_schema
from schema.errors import masked
from schema.operations import Operations
from ugs.system import System

log = Log("gateway")


def create_app(settings: Settings, system: System | None = None) -> Starlette:
    """The gateway for these settings. Its lifespan opens the store and closes it again."""
    check_neighbours()
    schema = build_schema()
    operations = Operations(schema)
    check_safe(settings)
    gatekeeper = Gatekeeper(settings)
    sdl = schema.as_str() + "\n"

    async def schema_text(request: Request) -> Response:
        return PlainTextResponse(sdl)

    app = Starlette(
        routes=[
            Route("/", pages.front_page),
            Route("/style.css", pages.style),
            Route("/livez", health.livez),
            Route("/readyz", health.readyz),
            Route("/health", health.health),
            Route("/schema.graphql", schema_text),
            Route("/graphql", GraphQLDoor(operations, settings, gatekeeper).serve, methods=["GET", "POST"]),
            WebSocketRoute("/graphql", SocketDoor(operations, settings, gatekeeper).serve),
        ],
        middleware=[Middleware(Guard, local_only=settings.is_local)],
        exception_handlers={HTTPException: refused, Exception: failed},
        lifespan=life_of(system or System.at_url(settings.store)),
    )
    app.state.settings = settings
    return app


def life_of(system: System) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Opens the system before the first request and closes it after the last."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.system = system
        try:
            async with system:
                tell_opened(system)
                yield
        except BaseException as error:
            # The web server would only log it; whoever started us wants to put it into words.
            app.state.failure = error
            raise
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
