"""Access control of facts: by tenant, project, agent and scope.

Records outside a reader's scope are treated as missing, not as forbidden, so that their existence is not revealed.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ugs.errors import Forbidden
from ugs.facts.normalization import GLOBAL, Space, own_key
from ugs.identity import Principal
from ugs.reads.filters import EVERYTHING, NOTHING, Compare, Linked, Op, Where, all_of, any_of, eq, matcher

ADMIN = "admin"
PRIVATE = "agent_private"
"""The scope of facts and notes that only their own agent may see."""


class AccessScope(Struct, frozen=True):
    """What a reader may see: one project as one agent, or everything (`space` is None)."""

    space: Space | None = None
    agent: str | None = None

    @classmethod
    def of(cls, principal: Principal) -> AccessScope:
        """The scope of a principal: everything for administrators, else their own project."""
        if ADMIN in principal.roles:
            return cls()
        return cls(Space(principal.tenant, principal.project), principal.agent)

    def within(self, space: Space) -> Where:
        """The condition for rows of a project; matches nothing if the reader may not see it."""
        if self.space is not None and space != self.space:
            return NOTHING
        return all_of(eq("tenant_id", space.tenant), eq("project_id", space.project))

    @property
    def visible(self) -> Where:
        """The condition for visible entities."""
        return EVERYTHING if self.space is None else self.within(self.space)

    @property
    def readable(self) -> Where:
        """The condition for visible facts and notes."""
        return EVERYTHING if self.space is None else all_of(self.visible, self.exclude_private)

    @property
    def exclude_private(self) -> Where:
        if self.space is None:
            return EVERYTHING
        return any_of(Compare("scope", Op.NE, PRIVATE), eq("agent_id", self.agent))

    @property
    def visible_evidence(self) -> Where:
        """The condition for evidence whose note is visible."""
        return EVERYTHING if self.space is None else Linked("note", self.readable)

    @property
    def with_visible_evidence(self) -> Where:
        """The condition for facts with at least one visible note."""
        return Linked("evidence", self.visible_evidence)

    @property
    def linking(self) -> Where:
        """The condition for supersessions whose facts are both visible."""
        if self.space is None:
            return EVERYTHING
        return all_of(Linked("from_fact", self.readable), Linked("to_fact", self.readable))

    def sees(self, row: Any) -> bool:
        """Whether this reader may see a fact or a note."""
        return matcher(self.readable)(row)


def agent_key(scope: str, agent: str) -> str:
    """The agent as part of a key: that of private facts, else empty."""
    return agent if scope == PRIVATE else ""


def resolve_space(principal: Principal, tenant: str | None, project: str | None) -> Space:
    """The project of a request; defaults to the principal's own."""
    return Space(tenant or principal.tenant, project or principal.project)


def may_write(principal: Principal, space: Space, agent: str | None = None) -> None:
    """Raise `Forbidden` for writes to another tenant, project or agent."""
    own = Space(principal.tenant, principal.project)
    if ADMIN in principal.roles:
        return
    if space != own or (agent is not None and agent != principal.agent):
        raise Forbidden(f"{principal.user} may write for {own_key(own)} as {principal.agent} only")


def may_configure(principal: Principal, scope_key: str) -> None:
    """Raise `Forbidden` for changes of a predicate outside the principal's own project."""
    own = own_key(Space(principal.tenant, principal.project))
    if ADMIN not in principal.roles and scope_key != own:
        where = "everybody" if scope_key == GLOBAL else "other tenants"
        raise Forbidden(
            f"the predicate is shared with {where}: only an administrator may change it", scopeKey=scope_key
        )
