"""The event log over HTTP, for admins: `/log` streams its lines, `/log/digest` gives the digest of the state.

Used by `ugs export --format log --url …`. The stream ends at the log position at which it began.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from ugs.errors import Forbidden, InvalidSyntax
from ugs.exchange.event_log import export_lines
from ugs.log.replay import position_of
from ugs.system import System
from ugs_gateway.graphql.admission import RequestAdmission, address_of
from ugs_gateway.graphql.request import RequestRejected
from ugs_gateway.graphql.stream_access import StreamAccess
from ugs_gateway.rest.programs import answer, refusal

NDJSON = "application/x-ndjson"
LAST_HEADER = "ugs-last"
"""The response header with the position of the last line."""

Handler = Callable[[Request, System, StreamAccess], Awaitable[Response]]


class EventLogEndpoint:
    """Serves `/log` and `/log/digest`."""

    def __init__(self, admission: RequestAdmission) -> None:
        self.admission = admission

    def routes(self) -> list[BaseRoute]:
        """The routes."""
        return [
            Route("/log", self.with_access(self.lines), methods=["GET"]),
            Route("/log/digest", self.with_access(self.digest), methods=["GET"]),
        ]

    def with_access(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """The handler with authentication; requires the role admin."""

        async def serve(request: Request) -> Response:
            try:
                return await handler(request, *await self._system(request))
            except RequestRejected as refused:
                return refusal(refused.status, refused.error)

        return serve

    async def _system(self, request: Request) -> tuple[System, StreamAccess]:
        self.admission.origins.check(request.headers)
        authorization = request.headers.get("authorization")
        principal = self.admission.principal(authorization, address_of(request))
        if "admin" not in principal.roles:
            raise RequestRejected(403, Forbidden("The log needs the role admin"))
        access = StreamAccess(self.admission.authenticator, authorization, principal)
        return await self.admission.system_of(principal), access

    async def lines(self, request: Request, system: System, access: StreamAccess) -> Response:
        """The log after a position, as JSON lines."""
        after, last = after_in(request), await position_of(system.storage)
        return StreamingResponse(
            stream_lines(system, after, last, access), media_type=NDJSON, headers={LAST_HEADER: str(last)}
        )

    async def digest(self, request: Request, system: System, access: StreamAccess) -> Response:
        """The digest of the state."""
        return answer(200, {"digest": await system.digest()})


def after_in(request: Request) -> int:
    """The query parameter `after`."""
    text = request.query_params.get("after", "0")
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise RequestRejected(400, InvalidSyntax(f"after must be a position in the log, got {text[:40]!r}"))
    return int(text)


async def stream_lines(system: System, after: int, last: int, access: StreamAccess) -> AsyncIterator[bytes]:
    """The lines between two positions, in chunks. If the caller's credential ends meanwhile the connection is aborted:
    a regular end would look like a complete log."""
    async for lines in export_lines(system.storage, after, last):
        access.check()
        yield b"".join(lines)
