"""Running the application on a socket: words for what stands in the way, and a calm end."""

from __future__ import annotations

import errno
import gc
import signal
import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from gateway.app import create_app
from gateway.handshakes import CarefulSocket
from gateway.lane import LaneProtocol
from gateway.machine import OURS_ALONE, STOPPING
from gateway.settings import Settings, flag
from gateway.sockets import MOST_FRAME
from ugs.errors import UgsError


class CannotListen(UgsError):
    """The address to serve on cannot be used."""

    code = "CANNOT_LISTEN"
    summary = "The address to serve on cannot be used"


def check_open(settings: Settings) -> None:
    """Refuse to serve other machines by accident: whoever reaches the gateway may do everything."""
    if not settings.is_local and not settings.allow_open and not settings.has_login:
        raise CannotListen(
            f"Refusing to listen on {settings.host}: other machines could reach it, and nobody has to log in. "
            f"Set store_keys or token_file, use --host 127.0.0.1, or {flag('allow_open')} where something in front "
            "guards it.",
            host=settings.host,
        )


def bind(settings: Settings) -> socket.socket:
    """A socket on the address, taken before the store is opened, or a sentence why not."""
    host, port = settings.host.strip("[]"), settings.port
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, OURS_ALONE, 1)
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
    """Tells when it serves."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            _spare_collector()
            self._ready()


def serve(settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve until asked to stop; what kept the store from opening is raised as it was."""
    check_open(settings)
    listener = bind(settings)
    app = create_app(settings)
    host, port = settings.host, listener.getsockname()[1]
    server = Server(serving_config(app, settings), lambda: ready(f"http://{host}:{port}/"))
    _stop_calmly()
    try:
        server.run([listener])
    except SystemExit:
        # The web server leaves the process when the store does not open; the reason is worth more than its code.
        failure: BaseException | None = getattr(app.state, "failure", None)
        if failure is None:
            raise
        raise failure from None
    finally:
        listener.close()


def serving_config(app: Starlette, settings: Settings) -> uvicorn.Config:
    """How the web server serves the application."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        ws_max_size=MOST_FRAME,
        # It would hold some hundred kilobytes for every open socket, and most say nothing for hours.
        ws_per_message_deflate=False,
        server_header=False,
        http=LaneProtocol,
        ws=CarefulSocket,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
    )


MANY_NEW = 10_000
"""After so many new objects the collector looks for garbage among them: some hundred requests, not some three."""


def _spare_collector() -> None:
    """What was made to serve stays until the end. To walk over it again and again would hold up everybody, each time
    for a tenth of a second, so it is moved out of the collector's sight."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(MANY_NEW, *gc.get_threshold()[1:])


def _stop_calmly() -> None:
    """The web server drains on these signals and then raises them again; by then there is nothing left to end."""
    for number in STOPPING:
        signal.signal(number, lambda *_: None)
