"""Who may see what: the tenant, project, agent and scope that bound a reader.

What lies outside is not refused but does not exist, so nobody learns that it is there.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ugs.errors import Forbidden
from ugs.facts.names import GLOBAL, Space, own_key
from ugs.identity import Principal
from ugs.reads.where import EVERYTHING, NOTHING, Compare, Linked, Op, Where, all_of, any_of, eq, matcher

ADMIN = "admin"
PRIVATE = "agent_private"
"""Facts and notes of this scope are for their own agent only."""


class Viewer(Struct, frozen=True):
    """A reader: one project on behalf of one agent, or everything."""

    space: Space | None = None
    agent: str | None = None

    @classmethod
    def of(cls, principal: Principal) -> Viewer:
        """Administrators see everything; everybody else sees their own project."""
        if ADMIN in principal.roles:
            return cls()
        return cls(Space(principal.tenant, principal.project), principal.agent)

    def within(self, space: Space) -> Where:
        """Rows of a project, as far as this reader may see them."""
        if self.space is not None and space != self.space:
            return NOTHING
        return all_of(eq("tenant_id", space.tenant), eq("project_id", space.project))

    @property
    def visible(self) -> Where:
        """Entities this reader may see."""
        return EVERYTHING if self.space is None else self.within(self.space)

    @property
    def readable(self) -> Where:
        """Facts and notes this reader may see."""
        return EVERYTHING if self.space is None else all_of(self.visible, self.not_private)

    @property
    def not_private(self) -> Where:
        if self.space is None:
            return EVERYTHING
        return any_of(Compare("scope", Op.NE, PRIVATE), eq("agent_id", self.agent))

    @property
    def vouching(self) -> Where:
        """Evidence whose note this reader may see."""
        return EVERYTHING if self.space is None else Linked("note", self.readable)

    @property
    def vouched(self) -> Where:
        """Facts that a note says which this reader may see."""
        return Linked("evidence", self.vouching)

    def sees(self, row: Any) -> bool:
        """Whether this reader may see a fact or a note."""
        return matcher(self.readable)(row)


def space_of(principal: Principal, tenant: str | None, project: str | None) -> Space:
    """The project a request means: the principal's own unless told."""
    return Space(tenant or principal.tenant, project or principal.project)


def may_write(principal: Principal, space: Space, agent: str | None = None) -> None:
    """Refuse to write for another tenant, project or agent."""
    own = Space(principal.tenant, principal.project)
    if ADMIN in principal.roles:
        return
    if space != own or (agent is not None and agent != principal.agent):
        raise Forbidden(f"{principal.user} may write for {own_key(own)} as {principal.agent} only")


def may_configure(principal: Principal, scope_key: str) -> None:
    """Refuse to change a predicate that others share."""
    own = own_key(Space(principal.tenant, principal.project))
    if ADMIN not in principal.roles and scope_key != own:
        where = "everybody" if scope_key == GLOBAL else "other tenants"
        raise Forbidden(
            f"the predicate is shared with {where}: only an administrator may change it", scopeKey=scope_key
        )
