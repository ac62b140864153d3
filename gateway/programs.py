"""Programs over REST, exactly as the seed says: validate, store, list, read, run. Ours: change and delete.

A program runs with the rights of whoever calls it. It has a deadline of its own, so the one for requests covers only
the reading of the body.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from gateway.asked import Refused, is_deeper
from gateway.bodies import check_json, whole_body
from gateway.logs import Log
from gateway.media import packed
from gateway.programs_openapi import openapi_document
from gateway.programs_requests import (
    Change,
    Execution,
    Submission,
    limit_in,
    number_in,
    shaped,
    wrong_shape,
)
from gateway.reception import Reception
from gateway.settings import Settings
from schema.scalars import instant_text
from ugs.errors import (
    DeadlineExceeded,
    DigestMismatch,
    Forbidden,
    IdempotencyConflict,
    InvalidJSON,
    StorageIOError,
    UgsError,
    Unavailable,
)
from ugs.programs.api import Programs
from ugs.programs.ast import GraphProgram
from ugs.programs.errors import ProgramInvalid, ProgramNotFound
from ugs.programs.json_schema import JSON_SCHEMA
from ugs.programs.model import ProgramRow
from ugs.programs.results import BatchProgramResult, ProgramResult

log = Log("gateway.programs")
STATUSES: dict[type[UgsError], int] = {
    ProgramNotFound: 404,
    Forbidden: 403,
    DigestMismatch: 409,
    IdempotencyConflict: 409,
    Unavailable: 503,
}
Handler = Callable[[Request, Programs], Awaitable[Response]]


class ProgramDoor:
    """Serves `/programs` and `/openapi.json`."""

    def __init__(self, reception: Reception, settings: Settings) -> None:
        self.reception = reception
        self.most_bytes, self.most_depth = settings.max_body_bytes, settings.max_json_depth
        self.seconds, self.stored_only = settings.request_seconds, settings.trusted_only
        self.document = msgspec.json.encode(openapi_document())
        self.schema = msgspec.json.encode(JSON_SCHEMA)

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/programs", self.served(self.list), methods=["GET"]),
            Route("/programs", self.served(self.create, writes=True), methods=["POST"]),
            Route("/programs/validate", self.served(self.validate), methods=["POST"]),
            Route("/programs/execute", self.served(self.execute), methods=["POST"]),
            Route("/programs/schema.json", self.fixed(self.schema), methods=["GET"]),
            Route("/programs/{id}", self.served(self.read), methods=["GET"]),
            Route("/programs/{id}", self.served(self.change, writes=True), methods=["PUT"]),
            Route("/programs/{id}", self.served(self.delete, writes=True), methods=["DELETE"]),
            Route("/openapi.json", self.fixed(self.document), methods=["GET"]),
        ]

    def fixed(self, body: bytes) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            return packed(request, body, 200, {"content-type": "application/json"})

        return serve

    def served(self, handler: Handler, writes: bool = False) -> Callable[[Request], Awaitable[Response]]:
        """The handler behind login and roles, with its refusals put into the seed's shape."""

        async def serve(request: Request) -> Response:
            try:
                return await handler(request, await self._programs(request, writes))
            except Refused as refused:
                return refusal(refused.status, refused.error)
            except ProgramInvalid as error:
                detail = {"error": error.short, "validation": error.validation.as_json()}
                return answer(400, {"detail": detail})
            except StorageIOError as error:
                return failure(error)
            except UgsError as error:
                return refusal(STATUSES.get(type(error), 400), error)

        return serve

    async def _programs(self, request: Request, writes: bool) -> Programs:
        if not self.reception.origins.may_ask(request.headers):
            raise Refused(403, Forbidden("Pages from this origin may not call the gateway (setting allowed_origins)"))
        address = request.client.host if request.client else ""
        principal = self.reception.principal(request.headers.get("authorization"), address)
        if not principal.roles:
            raise Refused(403, Forbidden("Programs need the role reader"))
        if writes and not {"writer", "admin"} & principal.roles:
            raise Refused(403, Forbidden("Keeping programs needs the role writer"))
        return Programs(await self.reception.system_of(principal), principal, self.reception.bounds)

    async def _body(self, request: Request) -> Any:
        check_json(request)
        try:
            async with asyncio.timeout(self.seconds):
                body = await whole_body(request, self.most_bytes)
        except TimeoutError as error:
            raise Refused(408, DeadlineExceeded("The body did not arrive in time")) from error
        try:
            found = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise InvalidJSON(f"Not valid JSON: {error}") from error
        if is_deeper(found, self.most_depth):
            raise InvalidJSON(f"The request is nested deeper than {self.most_depth}")
        return found

    # ── the endpoints ────────────────────────────────────────────────────────

    async def validate(self, request: Request, programs: Programs) -> Response:
        asked = shaped(await self._body(request), Submission)
        return answer(200, programs.validate(asked.program).as_json())

    async def create(self, request: Request, programs: Programs) -> Response:
        asked = shaped(await self._body(request), Submission)
        row = await programs.save(asked.program, asked.name, system=asked.system, key=key_in(request))
        return answer(201, {**told(row), "valid": True})

    async def list(self, request: Request, programs: Programs) -> Response:
        limit = limit_in(request.query_params)
        rows = await programs.list(request.query_params.get("search"), limit)
        return answer(200, [summary(row) for row in rows])

    async def read(self, request: Request, programs: Programs) -> Response:
        row = await programs.get(number_in(request))
        return answer(200, {**told(row), "owner_id": row.owner_id})

    async def change(self, request: Request, programs: Programs) -> Response:
        number = number_in(request)
        asked = shaped(await self._body(request), Change)
        if asked.program is None and asked.name is None:
            raise wrong_shape("Give a program, a name, or both")
        row = await programs.update(number, asked.program, asked.name, key=key_in(request))
        return answer(200, {**told(row), "owner_id": row.owner_id, "valid": True})

    async def delete(self, request: Request, programs: Programs) -> Response:
        await programs.delete(number_in(request), key=key_in(request))
        return Response(status_code=204)

    async def execute(self, request: Request, programs: Programs) -> Response:
        asked = shaped(await self._body(request), Execution)
        if self.stored_only and asked.brings_its_own and not programs.caller.is_admin:
            raise Refused(403, Forbidden("Only stored programs may run here: name one by program_id"))
        started = time.perf_counter()
        deck = asked.entries()
        result: ProgramResult | BatchProgramResult
        if deck is None:
            result = await programs.run(asked.single(), at=asked.moment, view=asked.view)
        else:
            result = await programs.execute_deck(deck, at=asked.moment, view=asked.view)
        tell(programs, asked, result, started)
        return packed(request, msgspec.json.encode(result), 200, {"content-type": "application/json"})


def key_in(request: Request) -> str | None:
    """The key that makes a retry safe."""
    return request.headers.get("idempotency-key")


def told(row: ProgramRow) -> dict[str, Any]:
    """A stored program as the seed shows it."""
    program = msgspec.convert(row.definition, GraphProgram)
    return {
        "id": row.id,
        "name": row.name,
        "program": program.as_json(),
        "created_at": instant_text(row.created_at),
        "updated_at": instant_text(row.updated_at),
    }


def summary(row: ProgramRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "description": row.description,
        "statement_count": row.statement_count,
        "created_at": instant_text(row.created_at),
    }


def tell(programs: Programs, asked: Execution, result: ProgramResult | BatchProgramResult, started: float) -> None:
    """Log who ran what, and how it ended."""
    log.info(
        "program run",
        user=programs.principal.user,
        program_id=asked.program_id,
        deck=len(asked.deck or ()),
        nodes=len(result.result.nodes),
        aborted=None if result.aborted is None else result.aborted.reason[:200],
        took_ms=round((time.perf_counter() - started) * 1000, 1),
    )


def answer(status: int, body: Any) -> Response:
    return Response(msgspec.json.encode(body), status, {"content-type": "application/json"})


def refusal(status: int, error: UgsError) -> Response:
    """A request that was not done, in the seed's shape and with our code."""
    response = answer(status, {"detail": error.message, "code": error.code})
    if status == 401:
        response.headers["www-authenticate"] = "Bearer"
    if status == 429:
        response.headers["retry-after"] = str(error.details.get("seconds", 60))
    return response


def failure(error: StorageIOError) -> Response:
    """The store failed: the caller hears that, the log hears the rest."""
    id = f"err_{token_hex(6)}"
    log.exception("the store failed", error, error_id=id)
    status = STATUSES.get(type(error), 500)
    return answer(status, {"detail": f"The store failed ({id})", "code": error.code})
