"""The fast path: answers plain GraphQL requests without the web framework.

A request is plain when it is a JSON POST to `/graphql` whose client wants a single JSON response. It is parsed,
admitted, executed or rejected here, once. Every other request goes to the framework unread. Both call the same
functions: `http.request_policy`, `graphql.admission`, and those of `graphql.endpoint` that render responses.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from graphql import ExecutionResult, GraphQLError
from msgspec import Struct
from starlette.datastructures import Headers

from ugs.errors import UgsError
from ugs.identity import Principal
from ugs.large_json import LARGE_BYTES
from ugs.support.budget import request_budget
from ugs.writer import Outcome
from ugs_gateway.fastpath.request_cache import RequestCache
from ugs_gateway.graphql.admission import AdmittedOperation
from ugs_gateway.graphql.endpoint import GraphQLEndpoint, check_operation, rejection_parts, render_result
from ugs_gateway.graphql.request import GraphQLRequest, RequestRejected, from_body
from ugs_gateway.http.content_negotiation import (
    MIN_GZIP_BYTES,
    PLAIN_TYPE,
    RESPONSE_TYPE,
    compress,
    compress_off_loop,
    is_slow_to_compress,
    single_response_type,
)
from ugs_gateway.http.read_position import MIN_POSITION_HEADER, position_headers
from ugs_gateway.http.request_policy import (
    are_headers_too_large,
    choose_request_id,
    log_access,
    rejection_for,
    report_unexpected,
)
from ugs_gateway.observability.structured_logs import Log
from ugs_gateway.settings import Settings
from ugs_schema.compiler.executor import BoundOperation, Submission
from ugs_schema.compiler.mutations import CompiledMutation

log = Log("ugs_gateway")

PATH = "/graphql"
JSON_KINDS = frozenset({b"application/json", b"application/json; charset=utf-8", b"application/json;charset=utf-8"})
UNSUPPORTED_HEADERS = (b"content-encoding", b"expect", b"transfer-encoding", MIN_POSITION_HEADER.encode())
CONTENT_TYPES = {media: f"{media}; charset=utf-8".encode() for media in (RESPONSE_TYPE, PLAIN_TYPE)}


class ParsedHeaders(Struct):
    """The parsed headers of a plain request."""

    media: str
    authorization: str | None
    encodings: str
    id: str


class AdmittedRequest(Struct):
    """A request that was parsed, authenticated, authorised and rate-limited."""

    request: GraphQLRequest
    variables: Mapping[str, Any] | None
    admitted: AdmittedOperation
    principal: Principal
    bound: BoundOperation | None
    """The compiled operation with its variables; None if graphql-core has to execute it."""


class FastAnswer(Struct):
    """Response body, status, outcome for the metrics, and additional headers."""

    body: bytes
    status: int = 200
    outcome: str = "ok"
    headers: Mapping[str, str] = {}


class FastPath:
    """Handles plain requests for `FastPathProtocol`."""

    def __init__(self, endpoint: GraphQLEndpoint, settings: Settings) -> None:
        self.endpoint, self.admission, self.operations = endpoint, endpoint.admission, endpoint.operations
        self.hosts, self.allows_origins = settings.host_policy, bool(settings.origin_list)
        self.seconds, self.max_json_depth = endpoint.seconds, endpoint.max_json_depth
        self.requests = RequestCache()
        self.max_body_bytes = min(endpoint.max_body_bytes, LARGE_BYTES)
        """Longer bodies are left to the framework, which parses them in a thread."""

    # ── is it plain? ─────────────────────────────────────────────────────────

    def parse_headers(self, given: Sequence[tuple[bytes, bytes]]) -> ParsedHeaders | None:
        """Parse the headers; None if the request is not plain."""
        headers: dict[bytes, bytes] = dict(given)
        if len(headers) != len(given) or not self._is_plain(headers, given):
            return None
        media = single_response_type(headers.get(b"accept", b"*/*").decode("latin-1"))
        if media is None:
            return None
        authorization = headers.get(b"authorization")
        return ParsedHeaders(
            media,
            None if authorization is None else authorization.decode("latin-1"),
            headers.get(b"accept-encoding", b"").decode("latin-1"),
            choose_request_id(headers.get(b"x-request-id", b"").decode("latin-1")),
        )

    def _is_plain(self, headers: Mapping[bytes, bytes], given: Sequence[tuple[bytes, bytes]]) -> bool:
        return (
            headers.get(b"content-type") in JSON_KINDS
            and self.is_short(headers.get(b"content-length", b""))
            and self.hosts.accepts(headers.get(b"host", b"").decode("latin-1"))
            and not any(name in headers for name in UNSUPPORTED_HEADERS)
            and not are_headers_too_large(given, len(given))
            and (b"origin" not in headers or self._is_origin_allowed(given))
        )

    def is_short(self, length: bytes) -> bool:
        return length.isdigit() and len(length) < 12 and 0 < int(length) <= self.max_body_bytes

    def _is_origin_allowed(self, given: Sequence[tuple[bytes, bytes]]) -> bool:
        # With configured origins the CORS middleware has to add its headers.
        return not self.allows_origins and self.admission.origins.is_allowed(Headers(raw=list(given)))

    # ── may it run? ──────────────────────────────────────────────────────────

    def admit(self, body: bytes, headers: ParsedHeaders, address: str) -> AdmittedRequest | FastAnswer | None:
        """Parse and admit a request: the request, the answer that rejects it, or None, without side effects, if the
        framework has to handle it."""
        try:
            return self._admit_cached(body, headers, address) or self._admit_parsed(body, headers, address)
        except Exception as error:
            return self._failure(error)

    def _admit_cached(self, body: bytes, headers: ParsedHeaders, address: str) -> AdmittedRequest | None:
        """Admit a request through the request cache, where only its variables have to be parsed."""
        known = self.requests.find(body)
        variables = None if known is None else known.variables_in(body, self.max_json_depth)
        if known is None or variables is None:
            return None
        bound = known.operation.bind(variables)
        if bound is None:
            return None
        principal = self.admission.principal(headers.authorization, address)
        # The cache entry may have been admitted for another caller, so rights are checked again for this one.
        if principal is not known.admitted.principal and principal != known.admitted.principal:
            known.admitted = self.admission.admit(known.request, known.request.query or "", principal, may_change=True)
        self.operations.hits += 1
        return AdmittedRequest(known.request, variables, known.admitted, principal, bound)

    def _admit_parsed(self, body: bytes, headers: ParsedHeaders, address: str) -> AdmittedRequest | None:
        request = from_body(body, self.max_json_depth)
        if request.extensions or request.document_id:
            return None
        admitted = self.admission.admit_request(request, headers.authorization, address, may_change=True)
        check_operation(admitted.operation)
        bound = self._bind(request, admitted)
        if bound is not None and admitted.operation is not None:
            operation = self.operations.fixed_cost(admitted.prepared, admitted.operation)
            if operation is not None:
                self.requests.put(body, request, admitted, operation)
        return AdmittedRequest(request, request.variables, admitted, admitted.principal, bound)

    def _bind(self, request: GraphQLRequest, admitted: AdmittedOperation) -> BoundOperation | None:
        try:
            return self.operations.bind(admitted.prepared, request.variables, request.operation)
        except (UgsError, GraphQLError, RecursionError):
            return None  # graphql-core reports the error
        except Exception as error:
            log.exception("an operation could not be compiled; the executor answers it", error)
            return None

    # ── the answer ───────────────────────────────────────────────────────────

    def run_sync(self, admitted: AdmittedRequest) -> FastAnswer | None:
        """The answer of a compiled query that needs no I/O; None, without side effects, if it cannot be given
        synchronously."""
        bound = admitted.bound
        if bound is None or isinstance(bound.compiled, CompiledMutation) or self.endpoint.tracing.is_on:
            return None
        system = self.admission.tenants.opened(admitted.principal)
        body = None if system is None else self.operations.answer_now(bound, system.storage)
        return None if body is None else FastAnswer(body)

    def submit(self, admitted: AdmittedRequest) -> Submission | None:
        """Submit a mutation that is a single command to the writer; None, without side effects, if it has to be
        executed in the general way (`run`)."""
        system = self.admission.tenants.opened(admitted.principal)
        if admitted.bound is None or system is None or self.endpoint.tracing.is_on:
            return None
        return self.operations.submit(admitted.bound, system, admitted.principal)

    def answer_submitted(
        self, headers: ParsedHeaders, admitted: AdmittedRequest, submitted: Submission
    ) -> FastAnswer | None:
        """The answer to a submitted mutation that is done; None if its fields need further reads (`complete`)."""
        try:
            body = submitted.mutation.render_outcome(submitted.input, submitted.outcome.result())
            return None if body is None else self._to_answer(headers, admitted, body)
        except asyncio.CancelledError:
            return self.timed_out()
        except Exception as error:
            return self._refused_mutation(headers, admitted, submitted, error)

    def _refused_mutation(
        self, headers: ParsedHeaders, admitted: AdmittedRequest, submitted: Submission, error: Exception
    ) -> FastAnswer:
        try:
            return self._to_answer(headers, admitted, submitted.mutation.refused(error))
        except Exception as bug:
            return self._failure(bug)

    async def complete(
        self, headers: ParsedHeaders, admitted: AdmittedRequest, submitted: Submission, outcome: Outcome
    ) -> FastAnswer:
        """Answer a submitted mutation whose selected fields need further reads."""
        try:
            context = await self.admission.context_of(admitted.principal)
            result = await submitted.mutation.complete(context, submitted.input, outcome)
            return await self.compress_large(headers, self._to_answer(headers, admitted, result))
        except Exception as error:
            return self._failure(error)

    async def run(self, headers: ParsedHeaders, admitted: AdmittedRequest) -> FastAnswer:
        """Run an admitted request without a timeout; the caller enforces the deadline."""
        try:
            with request_budget(self.seconds):
                return await self.compress_large(headers, await self._execute(headers, admitted))
        except Exception as error:
            return self._failure(error)

    async def _execute(self, headers: ParsedHeaders, admitted: AdmittedRequest) -> FastAnswer:
        request, operation = admitted.request, admitted.admitted
        context = await self.admission.context_of(admitted.principal)
        with self.endpoint.tracing.span(operation.operation):
            result = await self.operations.answer_bound(
                admitted.bound, operation.prepared, context, admitted.variables, request.operation
            )
        return self._to_answer(headers, admitted, result)

    def _to_answer(
        self, headers: ParsedHeaders, admitted: AdmittedRequest, result: bytes | ExecutionResult
    ) -> FastAnswer:
        system = self.admission.tenants.opened(admitted.principal)
        more = {} if system is None else position_headers(system.storage)
        if isinstance(result, bytes):
            return FastAnswer(result, headers=more)
        return FastAnswer(*render_result(headers.media, result, admitted.admitted.hinting), more)

    def timed_out(self) -> FastAnswer:
        """The answer to a request that exceeded its deadline."""
        return self._failure(TimeoutError())

    def _failure(self, error: Exception) -> FastAnswer:
        """The answer for an error: a rejection, or, for an unexpected one, an error id."""
        if isinstance(error, RequestRejected | TimeoutError | RecursionError):
            body, status, more = rejection_parts(rejection_for(error, self.seconds))
            return FastAnswer(body, status, "refused", more)
        return FastAnswer(report_unexpected(error), 500, "errors")

    def compress(self, headers: ParsedHeaders, answer: FastAnswer) -> tuple[bytes, Mapping[str, str]]:
        """The body, compressed if the client accepts that, and its additional headers."""
        if not self.endpoint.compressing or len(answer.body) < MIN_GZIP_BYTES or "content-encoding" in answer.headers:
            return answer.body, answer.headers
        body, more = compress(answer.body, headers.encodings)
        return body, {**answer.headers, **more}

    def is_slow_to_compress(self, headers: ParsedHeaders, answer: FastAnswer) -> bool:
        """Whether `compress` would block the event loop for too long: `compress_large` comes first then."""
        return self.endpoint.compressing and is_slow_to_compress(answer.body, headers.encodings)

    async def compress_large(self, headers: ParsedHeaders, answer: FastAnswer) -> FastAnswer:
        """The answer; a large body is already compressed, in a thread, if the client accepts that."""
        if not self.is_slow_to_compress(headers, answer):
            return answer
        body, more = await compress_off_loop(answer.body, headers.encodings)
        return FastAnswer(body, answer.status, answer.outcome, {**answer.headers, **more})

    def record_answer(self, answer: FastAnswer, started: float) -> float:
        """Record a sent answer in metrics and log; returns the current time."""
        now = time.perf_counter()
        self.admission.metrics.count_request(answer.outcome, now - started)
        log_access("POST", PATH, answer.status, now - started)
        return now
