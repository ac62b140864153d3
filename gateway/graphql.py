"""GraphQL over HTTP: POST with JSON, GET for queries, streams for those who ask for one, and a page for browsers.

Nothing that a client sends may end in a 500: a body is bounded, parsed strictly and checked before the schema sees it.
"""

from __future__ import annotations

import asyncio
import time

import msgspec
from graphql import ExecutionResult, OperationDefinitionNode, OperationType
from starlette.requests import Request
from starlette.responses import Response

from gateway.asked import Asked, Refused, from_address, from_body, refusal, shown_result
from gateway.bodies import check_json, whole_body
from gateway.documents import hash_in
from gateway.freshness import Freshness
from gateway.graphiql import graphiql_page
from gateway.media import EVENT_STREAM, PLAIN_TYPE, RESPONSE_TYPE, accepted, is_acceptable, media_type, packed
from gateway.reception import Admitted, Reception
from gateway.settings import Settings
from gateway.streams import stream_response
from gateway.tracing import Tracing
from schema.context import RequestContext
from schema.explain import explanation
from ugs.errors import DeadlineExceeded, Forbidden, InvalidSyntax, LimitExceeded

OUTCOME = "ugs.outcome"
"""Where a request's outcome is left for the metrics."""


class GraphQLDoor:
    """The endpoint `/graphql`."""

    def __init__(self, reception: Reception, settings: Settings, tracing: Tracing) -> None:
        self.reception, self.tracing = reception, tracing
        self.operations = reception.operations
        self.most_bytes, self.most_depth = settings.max_body_bytes, settings.max_json_depth
        self.seconds, self.compressing = settings.request_seconds, settings.compression

    async def serve(self, request: Request) -> Response:
        """Answer one request."""
        if request.method == "GET" and is_browser(request):
            return graphiql_page(request)
        started = time.perf_counter()
        try:
            response = await self._in_time(request)
        except Refused as refused:
            response = refused_answer(request, refused)
        self.reception.metrics.served(request.scope.get(OUTCOME, "ok"), time.perf_counter() - started)
        return response

    async def _in_time(self, request: Request) -> Response:
        """What is wrong with the request as a whole is no fault of ours."""
        try:
            async with asyncio.timeout(self.seconds):
                asked = await self._asked(request)
                return await self._answer(request, asked)
        except TimeoutError as error:
            reason = f"The request took longer than {self.seconds:g} seconds and was stopped"
            raise Refused(503, DeadlineExceeded(reason)) from error
        except RecursionError as error:
            raise Refused(400, LimitExceeded("The query is nested too deeply")) from error

    async def _asked(self, request: Request) -> Asked:
        if not self.reception.origins.may_ask(request.headers):
            raise Refused(403, Forbidden("Pages from this origin may not call the gateway (setting allowed_origins)"))
        if not is_acceptable(request):
            raise Refused(406, InvalidSyntax(f"This endpoint answers with {RESPONSE_TYPE} or {PLAIN_TYPE}"))
        if request.method == "GET":
            return from_address(request)
        check_json(request)
        return from_body(await whole_body(request, self.most_bytes), self.most_depth)

    async def _answer(self, request: Request, asked: Asked) -> Response:
        text = self.reception.text_of(asked)
        address = request.client.host if request.client else ""
        principal = self.reception.principal(request.headers.get("authorization"), address)
        admitted = self.reception.admit(asked, text, principal)
        context = await self.reception.context_of(principal)
        with self.tracing.span(admitted.operation):
            if wants_stream(request, admitted.operation):
                return await self._stream(request, admitted, context, asked)
            check_operation(request, admitted.operation)
            if request.method == "GET" and hash_in(asked) is not None:
                return await self._cached(request, admitted, context, asked)
            return await self._run(request, admitted, context, asked)

    async def _run(self, request: Request, admitted: Admitted, context: RequestContext, asked: Asked) -> Response:
        result = await self.operations.answer(admitted.prepared, context, asked.variables, asked.operation)
        if isinstance(result, bytes):
            body, status = result, 200
        else:
            media = media_type(accepted(request))
            body, status, request.scope[OUTCOME] = shown(media, result, admitted.hinting)
        if asked.explains:
            body = await self._explained(body, admitted, context, asked)
        return self._packed(request, body, status)

    async def _explained(self, body: bytes, admitted: Admitted, context: RequestContext, asked: Asked) -> bytes:
        told = await explanation(
            self.operations, admitted.prepared, admitted.operation, asked.variables or {}, context.system
        )
        return body[:-1] + b',"extensions":{"explain":' + msgspec.json.encode(told) + b"}}"

    async def _cached(self, request: Request, admitted: Admitted, context: RequestContext, asked: Asked) -> Response:
        """A question that an address names whole: asked again, it is answered only when the log has moved."""
        freshness = await Freshness.of(context.system, admitted.principal)
        if freshness.is_known_to(request):
            return Response(status_code=304, headers=freshness.headers)
        response = await self._run(request, admitted, context, asked)
        if request.scope.get(OUTCOME, "ok") == "ok":
            response.headers.update(freshness.headers)
        return response

    def _packed(self, request: Request, body: bytes, status: int) -> Response:
        headers = {"content-type": f"{media_type(accepted(request))}; charset=utf-8"}
        return packed(request, body, status, headers) if self.compressing else Response(body, status, headers)

    async def _stream(self, request: Request, admitted: Admitted, context: RequestContext, asked: Asked) -> Response:
        operation, prepared = admitted.operation, admitted.prepared
        if operation is not None and operation.operation is OperationType.SUBSCRIPTION:
            found = await self.operations.subscribe(prepared, context, asked.variables, asked.operation)
            authorization = request.headers.get("authorization")
            return stream_response(found, self.reception, authorization)
        result = await self.operations.execute(prepared, context, asked.variables, asked.operation)
        return stream_response(result, self.reception, None)


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
    asks = {"query", "documentId", "extensions"} & set(request.query_params)
    return not asks and "text/html" in request.headers.get("accept", "")


def shown(media: str, result: ExecutionResult, hinting: bool) -> tuple[bytes, int, str]:
    """Body, status and outcome; where nothing could be executed, a modern client hears it in the status too."""
    body, executed = shown_result(result, hinting)
    status = 200 if executed or media == PLAIN_TYPE else 400
    return msgspec.json.encode(body), status, "errors" if result.errors else "ok"


def refused_parts(refused: Refused) -> tuple[bytes, int, dict[str, str]]:
    """A request that was not run, in the response format of GraphQL: body, status and headers."""
    headers = {}
    if refused.status == 429:
        headers["retry-after"] = str(refused.error.details.get("seconds", 60))
    if refused.status == 401:
        headers["www-authenticate"] = "Bearer"
    return msgspec.json.encode(refusal(refused.error)), refused.status, headers


def refused_answer(request: Request, refused: Refused) -> Response:
    """The same as a response."""
    request.scope[OUTCOME] = "refused"
    body, status, headers = refused_parts(refused)
    return Response(body, status, {"content-type": f"{media_type(accepted(request))}; charset=utf-8", **headers})
