"""GraphQL over HTTP: POST with JSON, GET for queries, and a page that tells a browser how to ask.

Nothing that a client sends may end in a 500: a body is bounded, parsed strictly and checked before the schema sees it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import strawberry
from graphql import ExecutionResult, OperationDefinitionNode, OperationType
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from gateway.logs import Log
from gateway.pages import how_to_ask
from gateway.settings import Settings
from schema.context import RequestContext
from schema.errors import coded, shown_error
from schema.operations import Operations
from ugs.errors import DeadlineExceeded, InvalidJSON, InvalidSyntax, LimitExceeded, UgsError
from ugs.values import parse_json

log = Log("gateway.graphql")

RESPONSE_TYPE = "application/graphql-response+json"
PLAIN_TYPE = "application/json"


class Refused(Exception):
    """The request cannot be a GraphQL request; carries the HTTP status."""

    def __init__(self, status: int, error: UgsError) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error


class Asked(Struct, frozen=True, forbid_unknown_fields=False):
    """The parameters of a request, as the GraphQL over HTTP specification names them."""

    query: str
    variables: dict[str, Any] | None = None
    operation: str | None = msgspec.field(default=None, name="operationName")
    extensions: dict[str, Any] | None = None


class GraphQLDoor:
    """The endpoint `/graphql`."""

    def __init__(self, schema: strawberry.Schema, settings: Settings) -> None:
        self.operations = Operations(schema)
        self.most_bytes = settings.max_body_bytes
        self.seconds = settings.request_seconds

    async def serve(self, request: Request) -> Response:
        """Answer one request."""
        if request.method == "GET" and is_browser(request):
            return how_to_ask(request)
        try:
            asked = await self._asked(request)
        except Refused as refused:
            return answer(request, refusal(refused.error), refused.status)
        return await self._answer(request, asked)

    async def _asked(self, request: Request) -> Asked:
        if request.method == "GET":
            return from_address(request)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != PLAIN_TYPE:
            raise Refused(
                415, InvalidSyntax("Send the request as JSON, with the header Content-Type: application/json")
            )
        return from_body(await self._body(request))

    async def _body(self, request: Request) -> bytes:
        """The body, read no further than the limit."""
        most, body = self.most_bytes, bytearray()
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise Refused(413, LimitExceeded(f"The body is larger than {most} bytes", limit=most))
        except ClientDisconnect as gone:
            raise Refused(400, InvalidSyntax("The connection closed before the whole request had arrived")) from gone
        return bytes(body)

    async def _answer(self, request: Request, asked: Asked) -> Response:
        try:
            async with asyncio.timeout(self.seconds):
                result = await self._execute(request, asked)
        except TimeoutError:
            late = DeadlineExceeded(f"The request took longer than {self.seconds:g} seconds and was stopped")
            return answer(request, refusal(late), 503)
        except Refused as refused:
            return answer(request, refusal(refused.error), refused.status)
        if isinstance(result, bytes):
            return Response(result, media_type=media_type(request))
        return shown(request, result)

    async def _execute(self, request: Request, asked: Asked) -> bytes | ExecutionResult:
        """Run the operation; what is wrong with the request as a whole is no fault of ours."""
        try:
            prepared = self.operations.prepare(asked.query)
            operation = prepared.operation(asked.operation)
            if operation is not None or not prepared.errors:
                check_operation(request, operation)
            context = RequestContext(request.app.state.system)
            return await self.operations.answer(prepared, context, asked.variables, asked.operation)
        except RecursionError as error:
            raise Refused(400, LimitExceeded("The query is nested too deeply")) from error


def check_operation(request: Request, operation: OperationDefinitionNode | None) -> None:
    """Refuse what this door does not do, before anything runs."""
    if operation is None:
        reason = "Name the operation that shall run: the document has none of that name, or several"
        raise Refused(400, InvalidSyntax(reason))
    if operation.operation is OperationType.SUBSCRIPTION:
        raise Refused(400, InvalidSyntax("Subscriptions need a connection that stays open: use a WebSocket"))
    if request.method == "GET" and operation.operation is not OperationType.QUERY:
        raise Refused(405, InvalidSyntax("GET only reads; send mutations by POST"))


def is_browser(request: Request) -> bool:
    """A person looks at the address; programs ask for JSON."""
    return "query" not in request.query_params and "text/html" in request.headers.get("accept", "")


def from_body(body: bytes) -> Asked:
    try:
        found = parse_json(body)
    except UgsError as error:
        raise Refused(400, error) from error
    return asked_in(found)


def from_address(request: Request) -> Asked:
    given: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if name in given:
            given[name] = _json_parameter(name, given[name])
    return asked_in(given)


def _json_parameter(name: str, text: str) -> Any:
    try:
        return parse_json(text.encode())
    except (UgsError, UnicodeEncodeError) as error:
        raise Refused(400, InvalidJSON(f"The parameter {name} is not valid JSON: {error}")) from error


def asked_in(found: Any) -> Asked:
    """The parameters, checked for shape."""
    try:
        return msgspec.convert(found, Asked)
    except msgspec.ValidationError as error:
        raise Refused(
            400, InvalidSyntax(f'A GraphQL request looks like {{"query": "{{ stats {{ nodes }} }}"}}: {error}')
        ) from error


def shown(request: Request, result: ExecutionResult) -> Response:
    """The outcome; where nothing could be executed, a modern client hears it in the status too."""
    body: dict[str, Any] = {}
    if result.errors:
        body["errors"] = [shown_error(error, report_bug) for error in result.errors]
    executed = result.data is not None or not result.errors or any(error.path for error in result.errors)
    if executed:
        body["data"] = result.data
    return answer(request, body, 200 if executed or media_type(request) == PLAIN_TYPE else 400)


def report_bug(id: str, error: Exception) -> None:
    log.exception("a resolver failed", error, error_id=id)


def refusal(error: UgsError) -> dict[str, Any]:
    return {"errors": [{"message": error.message, "extensions": coded(error)}]}


def media_type(request: Request) -> str:
    return RESPONSE_TYPE if RESPONSE_TYPE in request.headers.get("accept", "") else PLAIN_TYPE


def answer(request: Request, body: dict[str, Any], status: int) -> Response:
    return Response(msgspec.json.encode(body), status, media_type=media_type(request))
