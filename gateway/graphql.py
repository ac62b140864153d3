"""GraphQL over HTTP: POST with JSON, GET for queries, streams for those who ask for one, and a page for browsers.

Nothing that a client sends may end in a 500: a body is bounded, parsed strictly and checked before the schema sees it.
"""

from __future__ import annotations

import asyncio

import msgspec
from graphql import ExecutionResult, OperationDefinitionNode, OperationType
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from gateway.asked import Asked, Refused, from_address, from_body, operation_meant, refusal, shown_result
from gateway.auth import Gatekeeper, check_rights
from gateway.pages import how_to_ask
from gateway.settings import Settings
from gateway.streams import EVENT_STREAM, stream_response
from schema.context import RequestContext
from schema.operations import Operations, Prepared
from ugs.errors import DeadlineExceeded, Forbidden, InvalidSyntax, LimitExceeded, Unauthenticated
from ugs.identity import Principal

RESPONSE_TYPE = "application/graphql-response+json"
PLAIN_TYPE = "application/json"


class GraphQLDoor:
    """The endpoint `/graphql`."""

    def __init__(self, operations: Operations, settings: Settings, gatekeeper: Gatekeeper) -> None:
        self.operations = operations
        self.gatekeeper = gatekeeper
        self.most_bytes = settings.max_body_bytes
        self.seconds = settings.request_seconds

    async def serve(self, request: Request) -> Response:
        """Answer one request."""
        if request.method == "GET" and is_browser(request):
            return how_to_ask(request)
        try:
            asked = await self._asked(request)
            return await self._answer(request, asked, self._principal(request))
        except Refused as refused:
            return answer(request, msgspec.json.encode(refusal(refused.error)), refused.status)

    async def _asked(self, request: Request) -> Asked:
        if not is_acceptable(request):
            raise Refused(406, InvalidSyntax(f"This endpoint answers with {RESPONSE_TYPE} or {PLAIN_TYPE}"))
        if request.method == "GET":
            return from_address(request)
        kind, _, parameters = request.headers.get("content-type", "").partition(";")
        if kind.strip().lower() != PLAIN_TYPE or not is_utf8(parameters):
            reason = "Send the request as JSON in UTF-8, with the header Content-Type: application/json"
            raise Refused(415, InvalidSyntax(reason))
        return from_body(await self._body(request))

    def _principal(self, request: Request) -> Principal:
        try:
            return self.gatekeeper.principal(request.headers.get("authorization"))
        except Unauthenticated as error:
            raise Refused(401, error) from error

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

    async def _answer(self, request: Request, asked: Asked, principal: Principal) -> Response:
        """Run the operation; what is wrong with the request as a whole is no fault of ours."""
        try:
            async with asyncio.timeout(self.seconds):
                return await self._respond(request, asked, principal)
        except TimeoutError as error:
            reason = f"The request took longer than {self.seconds:g} seconds and was stopped"
            raise Refused(503, DeadlineExceeded(reason)) from error
        except RecursionError as error:
            raise Refused(400, LimitExceeded("The query is nested too deeply")) from error

    async def _respond(self, request: Request, asked: Asked, principal: Principal) -> Response:
        prepared = self.operations.prepare(asked.query)
        operation = operation_meant(prepared, asked.operation)
        check_allowed(principal, prepared, operation)
        context = RequestContext(request.app.state.system, principal)
        if wants_stream(request, operation):
            return await self._stream(prepared, operation, context, asked)
        check_operation(request, operation)
        result = await self.operations.answer(prepared, context, asked.variables, asked.operation)
        return answer(request, result, 200) if isinstance(result, bytes) else shown(request, result)

    async def _stream(
        self, prepared: Prepared, operation: OperationDefinitionNode | None, context: RequestContext, asked: Asked
    ) -> Response:
        if operation is not None and operation.operation is OperationType.SUBSCRIPTION:
            found = await self.operations.subscribe(prepared, context, asked.variables, asked.operation)
            return stream_response(found)
        return stream_response(await self.operations.execute(prepared, context, asked.variables, asked.operation))


def check_allowed(principal: Principal, prepared: Prepared, operation: OperationDefinitionNode | None) -> None:
    try:
        check_rights(principal, prepared, operation)
    except Forbidden as error:
        raise Refused(403, error) from error


def wants_stream(request: Request, operation: OperationDefinitionNode | None) -> bool:
    """Clients that can take a stream say so with every request; only a subscription needs one."""
    kinds = accepted(request)
    subscribes = operation is not None and operation.operation is OperationType.SUBSCRIPTION
    return EVENT_STREAM in kinds and (subscribes or not {RESPONSE_TYPE, PLAIN_TYPE, "*/*"} & set(kinds))


def check_operation(request: Request, operation: OperationDefinitionNode | None) -> None:
    """Refuse what a plain request cannot do, before anything runs."""
    if operation is None:
        return
    if operation.operation is OperationType.SUBSCRIPTION:
        reason = f"Subscriptions need a connection that stays open: a WebSocket, or Accept: {EVENT_STREAM}"
        raise Refused(400, InvalidSyntax(reason))
    if request.method == "GET" and operation.operation is not OperationType.QUERY:
        raise Refused(405, InvalidSyntax("GET only reads; send mutations by POST"))


def is_browser(request: Request) -> bool:
    """A person looks at the address; programs ask for JSON."""
    return "query" not in request.query_params and "text/html" in request.headers.get("accept", "")


def is_utf8(parameters: str) -> bool:
    """Whether the charset of a content type is the only one JSON may have."""
    name, _, value = parameters.strip().partition("=")
    return name.strip().lower() != "charset" or value.strip().strip('"').lower() in ("utf-8", "utf8")


def accepted(request: Request) -> list[str]:
    """The media types a client takes, in its own order."""
    return [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "*/*").split(",")]


def is_acceptable(request: Request) -> bool:
    ours = {RESPONSE_TYPE, PLAIN_TYPE, EVENT_STREAM, "application/*", "*/*", ""}
    return any(kind in ours for kind in accepted(request))


def media_type(request: Request) -> str:
    """The modern type for clients that know it, plain JSON for all others."""
    kinds = accepted(request)
    return RESPONSE_TYPE if RESPONSE_TYPE in kinds else PLAIN_TYPE


def shown(request: Request, result: ExecutionResult) -> Response:
    """The outcome; where nothing could be executed, a modern client hears it in the status too."""
    body, executed = shown_result(result)
    status = 200 if executed or media_type(request) == PLAIN_TYPE else 400
    return answer(request, msgspec.json.encode(body), status)


def answer(request: Request, body: bytes, status: int) -> Response:
    return Response(body, status, headers={"content-type": f"{media_type(request)}; charset=utf-8"})
