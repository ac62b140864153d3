"""Admission of GraphQL requests over HTTP and WebSocket: every check before execution, in one safe order.

Document size first, because it is cheap; then authentication and rate limit; then validation of the document and the
caller's rights. The cost of the operation is checked by `ugs_schema.compiler.executor` just before execution.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from graphql import GraphQLError, OperationDefinitionNode, OperationType
from msgspec import Struct
from starlette.requests import Request

from ugs.errors import Forbidden, InvalidSyntax, LimitExceeded, UgsError, Unauthenticated
from ugs.identity import Principal
from ugs.programs.validation.limits import Bounds
from ugs.system import System
from ugs.webhooks.model import Webhook
from ugs_gateway.auth.authenticator import Authenticator, check_rights, token_in
from ugs_gateway.auth.login_limit import LoginLimit
from ugs_gateway.graphql.persisted_documents import Documents
from ugs_gateway.graphql.request import GraphQLRequest, RequestRejected, select_operation
from ugs_gateway.http.cors import Origins
from ugs_gateway.http.rate_limit import RateLimiter, TooManyRequests
from ugs_gateway.observability.gateway_report import GatewaySelfReport
from ugs_gateway.observability.metrics import Metrics
from ugs_gateway.settings import Settings
from ugs_gateway.tenants import Tenants
from ugs_schema.compiler.executor import OperationExecutor, Prepared
from ugs_schema.compiler.limits import Limits
from ugs_schema.context import RequestContext


class AdmittedOperation(Struct, frozen=True):
    """A validated operation that the principal may run."""

    prepared: Prepared
    operation: OperationDefinitionNode | None
    principal: Principal
    hinting: bool
    """Whether error messages may suggest names from the schema."""


class RequestAdmission:
    """Authenticates, validates, authorises and rate-limits requests; raises `RequestRejected` with an HTTP status."""

    def __init__(self, operations: OperationExecutor, settings: Settings, tenants: Tenants, metrics: Metrics) -> None:
        self.operations, self.tenants, self.metrics = operations, tenants, metrics
        self.authenticator = Authenticator(settings, tenants.keyring)
        self.documents = Documents(settings)
        self.report = GatewaySelfReport(settings, tenants)
        self.origins = Origins(settings)
        self.rates = RateLimiter(settings.max_requests_per_minute)
        self.login_limit = LoginLimit(failed_logins_in(settings))
        self.shows_schema, self.seconds = settings.shows_schema, settings.request_seconds
        self.bounds = bounds_in(settings)
        self.redeliver: Callable[[Webhook], Awaitable[int]] | None = None
        """What delivers dead letters; set where webhooks are on."""

    def text_of(self, graphql_request: GraphQLRequest) -> str:
        """The text of the document, looked up by its hash if need be, within the size limits."""
        text = self.documents.text_of(graphql_request)
        try:
            self.operations.check_size(text)
        except GraphQLError as error:
            cause = error.original_error
            raise RequestRejected(
                400, cause if isinstance(cause, LimitExceeded) else LimitExceeded(error.message)
            ) from error
        return text

    def principal(self, authorization: str | None, address: str) -> Principal:
        """Authenticate the caller and count the request against its rate limit."""
        principal = self.authenticate(authorization, address)
        try:
            self.count_request(principal, address)
        except TooManyRequests as error:
            raise RequestRejected(429, error) from error
        return principal

    def authenticate(self, authorization: str | None, address: str) -> Principal:
        """Authenticate the caller; a wrong key or token is counted against the network address."""
        try:
            return self.authenticator.principal(authorization)
        except Unauthenticated as error:
            if token_in(authorization):
                self._count_failure(address)
            raise RequestRejected(401, error) from error

    def _count_failure(self, address: str) -> None:
        try:
            self.login_limit.count_failure(address)
        except TooManyRequests as error:
            raise RequestRejected(429, error) from error

    def count_request(self, principal: Principal, address: str) -> None:
        """Count a request against the caller's rate limit, or raise `TooManyRequests`.

        The key is the address where no login is required, else tenant and user: equal user names of two tenants are two
        callers.
        """
        if self.rates.per_minute:
            self.rates.take(address if self.authenticator.open else (principal.tenant, principal.user))

    async def system_of(self, principal: Principal) -> System:
        """The system that belongs to the principal's tenant."""
        try:
            return self.tenants.opened(principal) or await self.tenants.system_of(principal)
        except UgsError as error:
            raise RequestRejected(503, error) from error

    async def context_of(self, principal: Principal) -> RequestContext:
        """The request context for resolvers."""
        return self.context_in(await self.system_of(principal), principal)

    def context_in(self, system: System, principal: Principal) -> RequestContext:
        """The same, for a system that is already open."""
        return RequestContext(
            system,
            principal,
            self.bounds,
            self.seconds,
            keyring=self.tenants.keyring,
            webhooks=self.tenants.webhooks,
            redeliver=self.redeliver,
            gateway=self.report,
        )

    def admit_request(
        self, graphql_request: GraphQLRequest, authorization: str | None, address: str, may_change: bool
    ) -> AdmittedOperation:
        """Every check of an HTTP request, in order: size, caller, rate, document, rights."""
        text = self.text_of(graphql_request)
        return self.admit(graphql_request, text, self.principal(authorization, address), may_change)

    def admit(
        self, graphql_request: GraphQLRequest, text: str, principal: Principal, may_change: bool = False
    ) -> AdmittedOperation:
        """The operation, validated and authorised for this principal.

        `may_change` says whether the transport may carry mutations: a POST or a WebSocket message. Every transport
        calls this method, so a mutation cannot run over GET.
        """
        prepared = self.operations.prepare(text)
        operation = select_operation(prepared, graphql_request.operation)
        if operation is not None and operation.operation is OperationType.MUTATION and not may_change:
            raise RequestRejected(405, InvalidSyntax("GET only reads; send mutations by POST"))
        hinting = self.shows_schema or "admin" in principal.roles
        try:
            check_rights(principal, prepared, operation)
            check_introspection(prepared, graphql_request, principal, hinting)
        except Forbidden as error:
            raise RequestRejected(403, error) from error
        if not prepared.errors:
            self.documents.keep(graphql_request)
        return AdmittedOperation(prepared, operation, principal, hinting)


def address_of(request: Request) -> str:
    """The network address a request comes from."""
    return request.client.host if request.client else ""


def check_introspection(prepared: Prepared, graphql_request: GraphQLRequest, principal: Principal, open: bool) -> None:
    """Reject introspection, and requests for the query plan, from callers without the right to them."""
    if prepared.introspects and not open:
        raise Forbidden("The schema cannot be explored here; ask whoever runs this gateway for it")
    if graphql_request.explains and "admin" not in principal.roles:
        raise Forbidden("Seeing how a query is answered needs the role admin")


def limits_in(settings: Settings) -> Limits:
    """The document limits in the settings."""
    return Limits(
        characters=settings.max_document_chars,
        tokens=settings.max_tokens,
        depth=settings.max_depth,
        aliases=settings.max_aliases,
        directives=settings.max_directives,
        cost=settings.max_cost,
        page=settings.max_page,
        answer_bytes=settings.max_answer_bytes,
    )


def failed_logins_in(settings: Settings) -> int:
    """Failed logins per minute and address; never more than requests per minute, where those are limited."""
    given = settings.max_failed_logins_per_minute, settings.max_requests_per_minute
    return min((limit for limit in given if limit), default=0) if given[0] else 0


def bounds_in(settings: Settings) -> Bounds:
    """The limits of programs in the settings."""
    return Bounds(
        seconds=settings.program_seconds,
        lenient_api_params=settings.lenient_api_params,
        any_is_concept=settings.any_is_concept,
    )
