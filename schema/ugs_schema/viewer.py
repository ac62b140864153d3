"""Root fields about the caller and about the gateway itself: rights, settings, tenants and the end of its log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import strawberry
from msgspec import Struct

from ugs.errors import Forbidden, LimitExceeded
from ugs.identity import ROLES, TENANT_ADMIN, Principal
from ugs_schema.api_keys import Role
from ugs_schema.context import Info, RequestContext
from ugs_schema.scalars import Json, Position

MAX_LOG_LINES = 500
HOME = Principal().tenant


class SettingState(Struct, frozen=True):
    """A setting of the gateway; secrets in its value are masked."""

    name: str
    value: str | int | float | bool
    origin: str
    meaning: str


class TenantState(Struct, frozen=True):
    """A tenant whose store is open."""

    name: str
    store: str
    events: int


class GatewayReport(Protocol):
    """What a gateway tells of itself; without one, `gateway` is null."""

    @property
    def version(self) -> str:
        """The version of the gateway."""
        ...

    def settings(self) -> Sequence[SettingState]:
        """All settings."""
        ...

    def tenants(self) -> Sequence[TenantState]:
        """The tenants whose stores are open, the owner of the store first."""
        ...

    def log_lines(self, last: int) -> Sequence[str]:
        """The last lines that the gateway logged, oldest first."""
        ...


@strawberry.type(description="Who asks, and what they may do")
class Viewer:
    principal: strawberry.Private[Principal]

    @strawberry.field(description="Who asks; `local` where nobody logs in")
    def user(self) -> str:
        return self.principal.user

    @strawberry.field(description="What they may do: each role includes those before it, and those are named too")
    def roles(self) -> list[Role]:
        return [Role(name) for name in effective_roles(self.principal)]

    @strawberry.field(description="Whether they may make and revoke API keys of their tenant")
    def manages_keys(self) -> bool:
        return bool({"admin", TENANT_ADMIN} & self.principal.roles)

    @strawberry.field(description="Whether `gateway` answers them: admins of the tenant that owns the store")
    def manages_gateway(self) -> bool:
        return is_owner(self.principal)

    @strawberry.field(description="Whose graph they see")
    def tenant(self) -> str:
        return self.principal.tenant

    @strawberry.field(description="Their project, where a request names none")
    def project(self) -> str:
        return self.principal.project

    @strawberry.field(description="Their agent, where a request names none")
    def agent(self) -> str:
        return self.principal.agent


def effective_roles(principal: Principal) -> tuple[str, ...]:
    """The roles that the principal has, itself or by a higher one, in ascending order."""
    highest = max((ROLES.index(role) for role in principal.roles if role in ROLES), default=-1)
    return ROLES[: highest + 1]


def is_owner(principal: Principal) -> bool:
    """Whether the principal administers the tenant that owns the store."""
    return "admin" in principal.roles and principal.tenant == HOME


@strawberry.type(description="A setting of the gateway")
class GatewaySetting:
    state: strawberry.Private[SettingState]

    @strawberry.field(description="Its name")
    def name(self) -> str:
        return self.state.name

    @strawberry.field(description="Its value; passwords in URLs are masked")
    def value(self) -> Json:
        return Json(self.state.value)

    @strawberry.field(description="Where the value comes from: a flag, the environment, a file, or built in")
    def origin(self) -> str:
        return self.state.origin

    @strawberry.field(description="What it does")
    def meaning(self) -> str:
        return self.state.meaning


@strawberry.type(description="A tenant whose store is open")
class Tenant:
    state: strawberry.Private[TenantState]

    @strawberry.field(description="Its name")
    def name(self) -> str:
        return self.state.name

    @strawberry.field(description="What keeps its data, in words")
    def store(self) -> str:
        return self.state.store

    @strawberry.field(description="How many events its log holds")
    def events(self) -> Position:
        return Position(self.state.events)


@strawberry.type(description="The gateway that answers")
class Gateway:
    report: strawberry.Private[GatewayReport]

    @strawberry.field(description="Its version")
    def version(self) -> str:
        return self.report.version

    @strawberry.field(description="All settings with their values and origins")
    def settings(self) -> list[GatewaySetting]:
        return [GatewaySetting(state=state) for state in self.report.settings()]

    @strawberry.field(description="Tenants whose stores are open, the owner of the store first; others open when asked")
    def tenants(self) -> list[Tenant]:
        return [Tenant(state=state) for state in self.report.tenants()]

    @strawberry.field(description="The last lines of its log, oldest first, at most 500, without secrets")
    def log(self, last: int = 100) -> list[str]:
        if not 0 <= last <= MAX_LOG_LINES:
            raise LimitExceeded(f"last lies between 0 and {MAX_LOG_LINES}", limit=MAX_LOG_LINES)
        return list(self.report.log_lines(last))


@strawberry.type
class ViewerQuery:
    @strawberry.field(description="Who asks, and what they may do")
    def viewer(self, info: Info) -> Viewer:
        return Viewer(principal=info.context.principal)

    @strawberry.field(
        description="The gateway: settings, tenants and log, for admins of the tenant default; null without a gateway"
    )
    def gateway(self, info: Info) -> Gateway | None:
        return describe_gateway(info.context)


def describe_gateway(context: RequestContext) -> Gateway | None:
    """The gateway; rejects callers who do not administer the tenant that owns the store."""
    if not is_owner(context.principal):
        raise Forbidden("This concerns all tenants, so it is for admins of the tenant default, which owns the store")
    return None if context.gateway is None else Gateway(report=context.gateway)
