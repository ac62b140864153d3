"""The whole log over HTTP, for admins: `/log` gives its lines as they are, `/log/digest` one hash of what they lead to.

`ugs export --format log --url …` asks for them. Lines come as a stream, up to where the log ended when it began.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from gateway.asked import Refused
from gateway.programs import answer, refusal
from gateway.reception import Reception
from ugs.errors import Forbidden, InvalidSyntax
from ugs.exchange.event_log import written_lines
from ugs.replay import position_of
from ugs.system import System

LINES = "application/x-ndjson"
LAST = "ugs-last"
"""The header that tells the position of the last line."""

Handler = Callable[[Request, System], Awaitable[Response]]


class LogDoor:
    """Serves `/log` and `/log/digest`."""

    def __init__(self, reception: Reception) -> None:
        self.reception = reception

    def routes(self) -> list[BaseRoute]:
        """The addresses."""
        return [
            Route("/log", self.served(self.lines), methods=["GET"]),
            Route("/log/digest", self.served(self.digest), methods=["GET"]),
        ]

    def served(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """The handler behind login and role."""

        async def serve(request: Request) -> Response:
            try:
                return await handler(request, await self._system(request))
            except Refused as refused:
                return refusal(refused.status, refused.error)

        return serve

    async def _system(self, request: Request) -> System:
        if not self.reception.origins.may_ask(request.headers):
            raise Refused(403, Forbidden("Pages from this origin may not call the gateway (setting allowed_origins)"))
        address = request.client.host if request.client else ""
        principal = self.reception.principal(request.headers.get("authorization"), address)
        if "admin" not in principal.roles:
            raise Refused(403, Forbidden("The log needs the role admin"))
        return await self.reception.system_of(principal)

    async def lines(self, request: Request, system: System) -> Response:
        """The log behind a position."""
        after, last = after_in(request), await position_of(system.storage)
        return StreamingResponse(joined(system, after, last), media_type=LINES, headers={LAST: str(last)})

    async def digest(self, request: Request, system: System) -> Response:
        """One hash of the state."""
        return answer(200, {"digest": await system.digest()})


def after_in(request: Request) -> int:
    """The position behind which the caller wants to read."""
    text = request.query_params.get("after", "0")
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise Refused(400, InvalidSyntax(f"after must be a position in the log, got {text[:40]!r}"))
    return int(text)


async def joined(system: System, after: int, last: int) -> AsyncIterator[bytes]:
    """The lines between two positions, a chunk at a time."""
    async for lines in written_lines(system.storage, after, last):
        yield b"".join(lines)
