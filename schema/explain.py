"""How an operation is answered: its price, its plans, and the statements a store makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import OperationDefinitionNode

from schema.compiled import Root
from schema.operations import Operations, Prepared
from ugs.reads.plan import Page, Read
from ugs.storage import Session
from ugs.system import System

RESOLVERS = "resolvers"
COMPILED = "compiled"


async def explanation(
    operations: Operations,
    prepared: Prepared,
    operation: OperationDefinitionNode | None,
    given: Mapping[str, Any],
    system: System,
) -> dict[str, Any]:
    """What somebody who wonders why a query is slow wants to see. Nothing is executed."""
    if operation is None:
        return {}
    told: dict[str, Any] = {"cost": operations.cost(prepared, operation, given), "way": RESOLVERS, "roots": []}
    plans = operations.plans(prepared, operation, given)
    if plans is not None:
        async with system.session() as session:
            told |= {"way": COMPILED, "roots": [_root(root, plan, system, session) for root, plan in plans]}
    return told


def _root(root: Root, plan: Read | None, system: System, session: Session) -> dict[str, Any]:
    if plan is None:
        return {"field": root.key, "plan": None, "statements": []}
    statements = system.storage.written_by(plan, root.rendering) or session.statements(plan)
    return {"field": root.key, "plan": shown_plan(plan), "statements": statements}


def shown_plan(plan: Read) -> dict[str, Any]:
    """A plan as JSON; what is not asked for is left out."""
    shown = {
        "table": plan.table.name,
        "where": str(plan.where),
        "order": [f"{part.field} {'DESC' if part.descending else 'ASC'}" for part in plan.order],
        "page": _page(plan.page),
        "total": plan.total or None,
        "nested": {f"{name} ({nest.relation})": shown_plan(nest.read) for name, nest in plan.nest.items()},
    }
    return {name: value for name, value in shown.items() if value}


def _page(page: Page) -> dict[str, Any]:
    shown = {"limit": page.limit, "after": page.after and list(page.after), "backward": page.backward or None}
    return {name: value for name, value in shown.items() if value is not None}
