"""Programs over REST as the specification defines: validate, store, list, read, run. Additional: change and delete.

A program runs with the rights of its caller. It has a deadline of its own, so the request deadline covers only reading
the body.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ugs.clock import iso
from ugs.errors import (
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
from ugs.programs.execution.results import BatchProgramResult, ProgramResult
from ugs.programs.model import ProgramRow
from ugs.programs.validation.json_schema import JSON_SCHEMA
from ugs.support.budget import request_budget
from ugs.support.shape_errors import describe_shape_error
from ugs_gateway.graphql.admission import RequestAdmission
from ugs_gateway.graphql.persisted_documents import check_own_text
from ugs_gateway.graphql.request import RequestRejected, is_deeper
from ugs_gateway.http.content_negotiation import compressed_response
from ugs_gateway.http.request_body import check_json, read_body
from ugs_gateway.observability.structured_logs import Log
from ugs_gateway.rest.programs_openapi import openapi_document
from ugs_gateway.rest.programs_requests import (
    Change,
    ExecutionRequest,
    Submission,
    Validation,
    limit_in,
    number_in,
    to_shape,
    wrong_shape,
)
from ugs_gateway.settings import Settings

log = Log("ugs_gateway.programs")
STATUSES: dict[type[UgsError], int] = {
    ProgramNotFound: 404,
    Forbidden: 403,
    DigestMismatch: 409,
    IdempotencyConflict: 409,
    Unavailable: 503,
}
Handler = Callable[[Request, Programs], Awaitable[Response]]


class ProgramEndpoint:
    """Serves `/programs` and `/openapi.json`."""

    def __init__(self, admission: RequestAdmission, settings: Settings) -> None:
        self.admission = admission
        self.max_body_bytes, self.max_json_depth = settings.max_body_bytes, settings.max_json_depth
        self.seconds, self.stored_only = settings.request_seconds, settings.trusted_only
        self.document = msgspec.json.encode(openapi_document())
        self.schema = msgspec.json.encode(JSON_SCHEMA)

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/programs", self.with_access(self.list), methods=["GET"]),
            Route("/programs", self.with_access(self.create, writes=True), methods=["POST"]),
            Route("/programs/validate", self.with_access(self.validate), methods=["POST"]),
            Route("/programs/execute", self.with_access(self.execute), methods=["POST"]),
            Route("/programs/schema.json", self.fixed(self.schema), methods=["GET"]),
            Route("/programs/{id}", self.with_access(self.read), methods=["GET"]),
            Route("/programs/{id}", self.with_access(self.change, writes=True), methods=["PUT"]),
            Route("/programs/{id}", self.with_access(self.delete, writes=True), methods=["DELETE"]),
            Route("/openapi.json", self.fixed(self.document), methods=["GET"]),
        ]

    def fixed(self, body: bytes) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            return await compressed_response(request, body, 200, {"content-type": "application/json"})

        return serve

    def with_access(self, handler: Handler, writes: bool = False) -> Callable[[Request], Awaitable[Response]]:
        """The handler with authentication and role check; errors are rendered in the specification's format."""

        async def serve(request: Request) -> Response:
            try:
                return await handler(request, await self._programs(request, writes))
            except RequestRejected as refused:
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
        self.admission.origins.check(request.headers)
        address = request.client.host if request.client else ""
        principal = self.admission.principal(request.headers.get("authorization"), address)
        if not principal.roles:
            raise RequestRejected(403, Forbidden("Programs need the role reader"))
        if writes and not {"writer", "admin"} & principal.roles:
            raise RequestRejected(403, Forbidden("Keeping programs needs the role writer"))
        return Programs(await self.admission.system_of(principal), principal, self.admission.bounds)

    async def _body(self, request: Request, any_depth: bool = False) -> Any:
        check_json(request)
        body = await read_body(request, self.max_body_bytes, self.seconds)
        try:
            found = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise InvalidJSON(f"Not valid JSON: {describe_shape_error(error)}") from error
        if not any_depth and is_deeper(found, self.max_json_depth):
            raise InvalidJSON(f"The request is nested deeper than {self.max_json_depth}")
        return found

    # ── the endpoints ────────────────────────────────────────────────────────

    async def validate(self, request: Request, programs: Programs) -> Response:
        asked = to_shape(await self._body(request, any_depth=True), Validation)
        return answer(200, (await programs.validate_off_loop(asked.program)).as_json())

    async def create(self, request: Request, programs: Programs) -> Response:
        asked = to_shape(await self._body(request), Submission)
        row = await programs.save(asked.program, asked.name, system=asked.system, key=key_in(request))
        return answer(201, {**to_json(row), "valid": True})

    async def list(self, request: Request, programs: Programs) -> Response:
        """The stored programs that the caller may see."""
        limit = limit_in(request.query_params)
        rows = await programs.list(request.query_params.get("search"), limit)
        return answer(200, [summary(row) for row in rows])

    async def read(self, request: Request, programs: Programs) -> Response:
        row = await programs.get(number_in(request))
        return answer(200, {**to_json(row), "owner_id": row.owner_id})

    async def change(self, request: Request, programs: Programs) -> Response:
        number = number_in(request)
        asked = to_shape(await self._body(request), Change)
        if asked.program is None and asked.name is None:
            raise wrong_shape("Give a program, a name, or both")
        row = await programs.update(number, asked.program, asked.name, key=key_in(request))
        return answer(200, {**to_json(row), "owner_id": row.owner_id, "valid": True})

    async def delete(self, request: Request, programs: Programs) -> Response:
        await programs.delete(number_in(request), key=key_in(request))
        return Response(status_code=204)

    async def execute(self, request: Request, programs: Programs) -> Response:
        asked = to_shape(await self._body(request), ExecutionRequest)
        if self.stored_only and asked.has_own_text:
            check_own_text(programs.principal)
        started = time.perf_counter()
        asked.check_deck(programs.bounds.deck)
        deck = asked.entries()
        result: ProgramResult | BatchProgramResult
        with request_budget(programs.bounds.seconds):
            if deck is None:
                result = await programs.run(asked.single(), at=asked.moment, view=asked.view)
            else:
                result = await programs.execute_deck(deck, at=asked.moment, view=asked.view)
        log_run(programs, asked, result, started)
        return await compressed_response(
            request, msgspec.json.encode(result), 200, {"content-type": "application/json"}
        )


def key_in(request: Request) -> str | None:
    """The idempotency key of the request."""
    return request.headers.get("idempotency-key")


def to_json(row: ProgramRow) -> dict[str, Any]:
    """A stored program in the specification's format."""
    program = msgspec.convert(row.definition, GraphProgram)
    return {
        "id": row.id,
        "name": row.name,
        "program": program.as_json(),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
    }


def summary(row: ProgramRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "description": row.description,
        "statement_count": row.statement_count,
        "created_at": iso(row.created_at),
    }


def log_run(
    programs: Programs, execution: ExecutionRequest, result: ProgramResult | BatchProgramResult, started: float
) -> None:
    """Log the user, the program and the result of a run."""
    log.info(
        "program run",
        user=programs.principal.user,
        program_id=execution.program_id,
        deck=len(execution.deck or ()),
        nodes=len(result.result.nodes),
        aborted=None if result.aborted is None else result.aborted.reason[:200],
        took_ms=round((time.perf_counter() - started) * 1000, 1),
    )


def answer(status: int, body: Any) -> Response:
    return Response(msgspec.json.encode(body), status, {"content-type": "application/json"})


def refusal(status: int, error: UgsError) -> Response:
    """A rejected request in the specification's format, with our error code."""
    response = answer(status, {"detail": error.message, "code": error.code})
    response.headers.update(RequestRejected(status, error).headers)
    return response


def failure(error: StorageIOError) -> Response:
    """A storage failure: the client gets an error id, the log gets the traceback with that id."""
    id = f"err_{token_hex(6)}"
    log.exception("the store failed", error, error_id=id)
    status = STATUSES.get(type(error), 500)
    return answer(status, {"detail": f"The store failed ({id})", "code": error.code})
