"""GraphQL over HTTP: POST with JSON, GET for queries, server-sent events on request, and GraphiQL for browsers.

No client input may cause a 500: bodies are bounded, parsed strictly and checked before the schema sees them.
"""

from __future__ import annotations

import asyncio
import time

import msgspec
from graphql import ExecutionResult, OperationDefinitionNode, OperationType
from starlette.requests import Request
from starlette.responses import Response

from ugs.errors import InvalidSyntax
from ugs.storage.read_position import reading_at_least
from ugs.support.budget import request_budget
from ugs_gateway.graphql.admission import AdmittedOperation, RequestAdmission, address_of
from ugs_gateway.graphql.graphiql import graphiql_page
from ugs_gateway.graphql.persisted_documents import hash_in
from ugs_gateway.graphql.request import (
    GraphQLRequest,
    RequestRejected,
    from_long_body,
    from_query_string,
    refusal,
    to_response,
)
from ugs_gateway.graphql.sse import stream_response
from ugs_gateway.graphql.stream_access import StreamAccess
from ugs_gateway.http.content_negotiation import (
    EVENT_STREAM,
    PLAIN_TYPE,
    RESPONSE_TYPE,
    accepted_types,
    compressed_response,
    is_acceptable,
    media_type,
    prefers_stream,
)
from ugs_gateway.http.etag import ETag
from ugs_gateway.http.read_position import MIN_POSITION_HEADER, parse_min_position, position_headers
from ugs_gateway.http.request_body import check_json, read_body
from ugs_gateway.http.request_policy import rejection_for
from ugs_gateway.observability.tracing import Tracing
from ugs_gateway.settings import Settings
from ugs_schema.compiler.explain import build_explanation
from ugs_schema.context import RequestContext

OUTCOME = "ugs.outcome"
"""The key in the ASGI scope under which the outcome is kept for the metrics."""


class GraphQLEndpoint:
    """The endpoint `/graphql`."""

    def __init__(self, admission: RequestAdmission, settings: Settings, tracing: Tracing) -> None:
        self.admission, self.tracing = admission, tracing
        self.operations = admission.operations
        self.max_body_bytes, self.max_json_depth = settings.max_body_bytes, settings.max_json_depth
        self.seconds, self.compressing = settings.request_seconds, settings.compression

    async def serve(self, request: Request) -> Response:
        """Answer one request."""
        if not is_post(request) and is_browser(request):
            return graphiql_page(request)
        started = time.perf_counter()
        try:
            response = await self._in_time(request)
        except (RequestRejected, TimeoutError, RecursionError) as error:
            response = rejection_response(request, rejection_for(error, self.seconds))
        self.admission.metrics.count_request(request.scope.get(OUTCOME, "ok"), time.perf_counter() - started)
        return response

    async def _in_time(self, request: Request) -> Response:
        """Answer within the deadline."""
        with request_budget(self.seconds):
            async with asyncio.timeout(self.seconds):
                return await self._answer(request, await self._parse(request))

    async def _parse(self, request: Request) -> GraphQLRequest:
        self.admission.origins.check(request.headers)
        if not is_acceptable(request):
            raise RequestRejected(406, InvalidSyntax(f"This endpoint answers with {RESPONSE_TYPE} or {PLAIN_TYPE}"))
        if not is_post(request):
            return from_query_string(request)
        check_json(request)
        return await from_long_body(await read_body(request, self.max_body_bytes, self.seconds), self.max_json_depth)

    async def _answer(self, request: Request, graphql_request: GraphQLRequest) -> Response:
        authorization = request.headers.get("authorization")
        admitted = self.admission.admit_request(graphql_request, authorization, address_of(request), is_post(request))
        context = await self.admission.context_of(admitted.principal)
        with self.tracing.span(admitted.operation):
            if request.method != "HEAD" and wants_stream(request, admitted.operation):
                return await self._stream(request, admitted, context, graphql_request)
            check_operation(admitted.operation)
            if not is_post(request) and hash_in(graphql_request) is not None:
                return await self._cached(request, admitted, context, graphql_request)
            return await self._run(request, admitted, context, graphql_request)

    async def _run(
        self, request: Request, admitted: AdmittedOperation, context: RequestContext, graphql_request: GraphQLRequest
    ) -> Response:
        min_position = parse_min_position(request.headers.get(MIN_POSITION_HEADER))
        # Only queries may see an older state: a change shows what it did, and streams follow the log.
        with reading_at_least(min_position if is_query(admitted.operation) else None):
            result = await self.operations.answer(
                admitted.prepared, context, graphql_request.variables, graphql_request.operation
            )
        if isinstance(result, bytes):
            body, status = result, 200
        else:
            media = media_type(accepted_types(request))
            body, status, request.scope[OUTCOME] = render_result(media, result, admitted.hinting)
        if graphql_request.explains:
            body = await self._with_plan(body, admitted, context, graphql_request)
        response = await self._respond(request, body, status)
        response.headers.update(position_headers(context.system.storage))
        return response

    async def _with_plan(
        self, body: bytes, admitted: AdmittedOperation, context: RequestContext, graphql_request: GraphQLRequest
    ) -> bytes:
        plan = await build_explanation(
            self.operations, admitted.prepared, admitted.operation, graphql_request.variables or {}, context.system
        )
        return body[:-1] + b',"extensions":{"explain":' + msgspec.json.encode(plan) + b"}}"

    async def _cached(
        self, request: Request, admitted: AdmittedOperation, context: RequestContext, graphql_request: GraphQLRequest
    ) -> Response:
        """A GET of a persisted document: answered with 304 as long as the log position is the one of the client's
        ETag."""
        freshness = await ETag.of(context.system, admitted.principal)
        if freshness.is_known_to(request):
            return Response(status_code=304, headers=freshness.headers)
        response = await self._run(request, admitted, context, graphql_request)
        if request.scope.get(OUTCOME, "ok") == "ok":
            response.headers.update(freshness.headers)
        return response

    async def _respond(self, request: Request, body: bytes, status: int) -> Response:
        headers = {"content-type": f"{media_type(accepted_types(request))}; charset=utf-8"}
        if not self.compressing:
            return Response(body, status, headers)
        return await compressed_response(request, body, status, headers)

    async def _stream(
        self, request: Request, admitted: AdmittedOperation, context: RequestContext, graphql_request: GraphQLRequest
    ) -> Response:
        operation, prepared = admitted.operation, admitted.prepared
        access = StreamAccess(self.admission.authenticator, request.headers.get("authorization"), admitted.principal)
        if operation is not None and operation.operation is OperationType.SUBSCRIPTION:
            found = await self.operations.subscribe(
                prepared, context, graphql_request.variables, graphql_request.operation
            )
            return stream_response(found, self.admission, access, admitted.hinting)
        result = await self.operations.execute(prepared, context, graphql_request.variables, graphql_request.operation)
        return stream_response(result, self.admission, access, admitted.hinting)


def wants_stream(request: Request, operation: OperationDefinitionNode | None) -> bool:
    """Whether to answer with server-sent events: for a subscription if they are accepted, else only if nothing else
    is."""
    kinds = accepted_types(request)
    subscribes = operation is not None and operation.operation is OperationType.SUBSCRIPTION
    return (subscribes and EVENT_STREAM in kinds) or prefers_stream(kinds)


def is_post(request: Request) -> bool:
    """Whether the request may carry a body and change something; all other methods (GET, HEAD) only read."""
    return request.method == "POST"


def is_query(operation: OperationDefinitionNode | None) -> bool:
    """Whether the operation only reads."""
    return operation is not None and operation.operation is OperationType.QUERY


def check_operation(operation: OperationDefinitionNode | None) -> None:
    """Reject subscriptions on a plain request, before anything runs."""
    if operation is not None and operation.operation is OperationType.SUBSCRIPTION:
        reason = f"Subscriptions need a connection that stays open: a WebSocket, or Accept: {EVENT_STREAM}"
        raise RequestRejected(400, InvalidSyntax(reason))


def is_browser(request: Request) -> bool:
    """Whether a browser opened the page: it accepts HTML and sends no GraphQL parameters."""
    asks = {"query", "documentId", "extensions"} & set(request.query_params)
    return not asks and "text/html" in request.headers.get("accept", "")


def render_result(media: str, result: ExecutionResult, hinting: bool) -> tuple[bytes, int, str]:
    """Body, HTTP status and outcome for the metrics.

    If nothing was executed the status is 400 for `application/graphql-response+json` and 200 for plain JSON, as the
    GraphQL over HTTP specification says.
    """
    body, executed = to_response(result, hinting)
    status = 200 if executed or media == PLAIN_TYPE else 400
    return msgspec.json.encode(body), status, "errors" if result.errors else "ok"


def rejection_parts(refused: RequestRejected) -> tuple[bytes, int, dict[str, str]]:
    """A rejected request in the response format of GraphQL: body, status and headers."""
    return msgspec.json.encode(refusal(refused.error)), refused.status, refused.headers


def rejection_response(request: Request, refused: RequestRejected) -> Response:
    """A rejected request as a response."""
    request.scope[OUTCOME] = "refused"
    body, status, headers = rejection_parts(refused)
    return Response(body, status, {"content-type": f"{media_type(accepted_types(request))}; charset=utf-8", **headers})
