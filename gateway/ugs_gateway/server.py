"""Runs the application with uvicorn: readable errors for what prevents listening, and a graceful shutdown."""

from __future__ import annotations

import asyncio
import errno
import gc
import signal
import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from ugs.errors import UgsError
from ugs.support.budget import POOL
from ugs_gateway.app import create_app
from ugs_gateway.graphql.websocket import MAX_FRAME_BYTES
from ugs_gateway.http.protocol_choice import choose_protocol
from ugs_gateway.http.websocket_protocol import StrictWebSocketProtocol
from ugs_gateway.os_support import OURS_ALONE, STOPPING, return_freed_memory, share_port, trim_memory
from ugs_gateway.settings import Settings, flag

TRIM_SECONDS, TRIM_BYTES = 1.0, 64 << 20
"""How often freed memory is given back, and how much must have been freed."""


class CannotListen(UgsError):
    """The address to serve on cannot be used."""

    code = "CANNOT_LISTEN"
    summary = "The address to serve on cannot be used"


def check_open(settings: Settings) -> None:
    """Refuse to listen on a non-loopback address without authentication, unless `allow_open` is set: every caller would
    have all rights."""
    if not settings.is_local and not settings.allow_open and not settings.has_login:
        raise CannotListen(
            f"Refusing to listen on {settings.host}: other machines could reach it, and nobody has to log in. "
            f"Set store_keys, token_file, jwt_key_file or jwt_keys_url, use --host 127.0.0.1, or {flag('allow_open')} "
            "where something in front guards it.",
            host=settings.host,
        )


def bind(settings: Settings, *, shared: bool = False) -> socket.socket:
    """Bind the address, before the store is opened; raises `CannotListen` with the reason. A shared port can be bound
    again by the sockets of other workers."""
    host, port = settings.host.strip("[]"), settings.port
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, OURS_ALONE, 1)
        if shared:
            share_port(listener)
        listener.bind(address)
    except OSError as error:
        raise CannotListen(_why(settings, error), host=host, port=port) from error
    return listener


def _why(settings: Settings, error: OSError) -> str:
    place = f"{settings.host}:{settings.port}"
    if error.errno == errno.EADDRINUSE:
        return f"Port {settings.port} on {settings.host} is in use by another program. Choose another with --port."
    if error.errno == errno.EACCES:
        return f"Not allowed to listen on {place}: ports below 1024 need rights. Choose another with --port."
    return f"Cannot listen on {place}: {error.strerror or error}"


class Server(uvicorn.Server):
    """uvicorn's server with a callback when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._trimming: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            _freeze_startup_objects()
            self._trimming = asyncio.create_task(trim_after_large_requests())
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._trimming is not None:
            self._trimming.cancel()
        await super().shutdown(sockets)


async def trim_after_large_requests() -> None:
    """Give memory back to the system soon after requests have released much of it; else the largest peaks of each kind
    of request would add up in the heaps."""
    seen = POOL.released
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        if POOL.released - seen >= TRIM_BYTES:
            seen = POOL.released
            await asyncio.to_thread(trim_memory)


def serve(settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve in this process until a stop signal; an error that prevented the store from opening is raised unchanged."""
    check_open(settings)
    return_freed_memory()
    listener = bind(settings)
    app = create_app(settings)
    server = Server(serving_config(app, settings), lambda: ready(url_of(settings, listener)))
    ignore_stop_signals()
    try:
        run(server, app, listener)
    finally:
        listener.close()


def url_of(settings: Settings, listener: socket.socket) -> str:
    """The address for people; the port is known once the socket is bound."""
    return f"http://{settings.host}:{listener.getsockname()[1]}/"


def run(server: Server, app: Starlette, listener: socket.socket) -> None:
    """Serve on a bound socket until the server is told to stop."""
    try:
        server.run([listener])
    except SystemExit:
        # uvicorn exits the process when the lifespan fails; the error of the store says more than its exit code.
        failure: BaseException | None = getattr(app.state, "failure", None)
        if failure is None:
            raise
        raise failure from None


def serving_config(app: Starlette, settings: Settings) -> uvicorn.Config:
    """The uvicorn configuration."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        ws_max_size=MAX_FRAME_BYTES,
        # Compression would hold some hundred kilobytes for every open socket, and most are idle for hours.
        ws_per_message_deflate=False,
        server_header=False,
        http=choose_protocol(),
        ws=StrictWebSocketProtocol,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
    )


YOUNG_OBJECTS_THRESHOLD = 10_000
"""Threshold of the youngest generation: a collection after some hundred requests instead of some three."""


def _freeze_startup_objects() -> None:
    """Exclude the objects made at start-up from garbage collection: they live until the end, and each full collection
    over them would block the event loop for about a tenth of a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS_THRESHOLD, *gc.get_threshold()[1:])


def ignore_stop_signals() -> None:
    """Ignore stop signals outside uvicorn: it drains on them and then raises them again, which would kill the
    process."""
    for number in STOPPING:
        signal.signal(number, lambda *_: None)
