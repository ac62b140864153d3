"""What both doors, HTTP and WebSocket, do with a request before it runs, in the one order that is safe.

Size and tokens first, because they cost nothing; then who asks; then whether the document makes sense and may run.
The price is checked by `schema.operations` just before anything is executed.
"""

from __future__ import annotations

from graphql import GraphQLError, OperationDefinitionNode
from msgspec import Struct

from gateway.asked import Asked, Refused, operation_meant
from gateway.auth import Gatekeeper, check_rights
from gateway.documents import Documents
from gateway.metrics import Metrics
from gateway.origins import Origins
from gateway.rates import Rates, TooManyRequests
from gateway.settings import Settings
from gateway.tenants import Tenants
from schema.context import RequestContext
from schema.limits import Limits
from schema.operations import Operations, Prepared
from ugs.errors import Forbidden, LimitExceeded, UgsError, Unauthenticated
from ugs.identity import Principal
from ugs.programs.bounds import Bounds
from ugs.system import System


class Admitted(Struct, frozen=True):
    """A request that may run."""

    prepared: Prepared
    operation: OperationDefinitionNode | None
    principal: Principal
    hinting: bool
    """Whether error messages may suggest names from the schema."""


class Reception:
    """Admits requests or says why not."""

    def __init__(self, operations: Operations, settings: Settings, tenants: Tenants, metrics: Metrics) -> None:
        self.operations, self.tenants, self.metrics = operations, tenants, metrics
        self.gatekeeper = Gatekeeper(settings, tenants.keyring)
        self.documents = Documents(settings)
        self.origins = Origins(settings)
        self.rates = Rates(settings.max_requests_per_minute)
        self.shows_schema, self.seconds = settings.shows_schema, settings.request_seconds
        self.bounds = bounds_in(settings)

    def text_of(self, asked: Asked) -> str:
        """The document, found and not too long."""
        text = self.documents.text_of(asked)
        try:
            self.operations.check_size(text)
        except GraphQLError as error:
            cause = error.original_error
            raise Refused(400, cause if isinstance(cause, LimitExceeded) else LimitExceeded(error.message)) from error
        return text

    def principal(self, authorization: str | None, address: str) -> Principal:
        """Who asks; also whether they may ask again already."""
        try:
            principal = self.gatekeeper.principal(authorization)
            self.take_turn(principal, address)
        except Unauthenticated as error:
            raise Refused(401, error) from error
        except TooManyRequests as error:
            raise Refused(429, error) from error
        return principal

    def take_turn(self, principal: Principal, address: str) -> None:
        """Count a request of this caller, or refuse it."""
        self.rates.take(address if self.gatekeeper.open else principal.user)

    async def system_of(self, principal: Principal) -> System:
        """The system that belongs to the principal's tenant."""
        try:
            return self.tenants.opened(principal) or await self.tenants.system_of(principal)
        except UgsError as error:
            raise Refused(503, error) from error

    async def context_of(self, principal: Principal) -> RequestContext:
        """What a resolver finds around it."""
        return self.context_in(await self.system_of(principal), principal)

    def context_in(self, system: System, principal: Principal) -> RequestContext:
        """The same where the system is known."""
        return RequestContext(system, principal, self.bounds, self.seconds, keyring=self.tenants.keyring)

    def admit(self, asked: Asked, text: str, principal: Principal) -> Admitted:
        """The operation, valid and allowed for this principal."""
        prepared = self.operations.prepare(text)
        operation = operation_meant(prepared, asked.operation)
        hinting = self.shows_schema or "admin" in principal.roles
        try:
            check_rights(principal, prepared, operation)
            check_curiosity(prepared, asked, principal, hinting)
        except Forbidden as error:
            raise Refused(403, error) from error
        if not prepared.errors:
            self.documents.keep(asked)
        return Admitted(prepared, operation, principal, hinting)


def check_curiosity(prepared: Prepared, asked: Asked, principal: Principal, open: bool) -> None:
    """Refuse to show the schema or a plan to those who may not see it."""
    if prepared.introspects and not open:
        raise Forbidden("The schema cannot be explored here; ask whoever runs this gateway for it")
    if asked.explains and "admin" not in principal.roles:
        raise Forbidden("Seeing how a query is answered needs the role admin")


def limits_in(settings: Settings) -> Limits:
    """The limits of documents that the settings name."""
    return Limits(
        characters=settings.max_document_chars,
        tokens=settings.max_tokens,
        depth=settings.max_depth,
        aliases=settings.max_aliases,
        directives=settings.max_directives,
        cost=settings.max_cost,
        page=settings.max_page,
    )


def bounds_in(settings: Settings) -> Bounds:
    """What the settings say about programs."""
    return Bounds(
        seconds=settings.program_seconds,
        lenient_api_params=settings.lenient_api_params,
        any_is_concept=settings.any_is_concept,
    )
