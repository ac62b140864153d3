"""Explains an operation: its cost, its plans, and the statements of the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import OperationDefinitionNode

from ugs.reads.plan import Page, Read
from ugs.storage import Session
from ugs.system import System
from ugs_schema.compiler.executor import OperationExecutor, Prepared
from ugs_schema.compiler.queries import Root

RESOLVERS = "resolvers"
COMPILED = "compiled"


async def build_explanation(
    operations: OperationExecutor,
    prepared: Prepared,
    operation: OperationDefinitionNode | None,
    raw_variables: Mapping[str, Any],
    system: System,
) -> dict[str, Any]:
    """The explanation of a query for `extensions.explain`. Nothing is executed."""
    if operation is None:
        return {}
    explained: dict[str, Any] = {
        "cost": operations.cost(prepared, operation, raw_variables),
        "way": RESOLVERS,
        "roots": [],
    }
    plans = operations.plans(prepared, operation, raw_variables)
    if plans is not None:
        async with system.session() as session:
            explained |= {
                "way": COMPILED,
                "roots": [_explain_root(root, plan, system, session) for root, plan in plans],
            }
    return explained


def _explain_root(root: Root, plan: Read | None, system: System, session: Session) -> dict[str, Any]:
    if plan is None:
        return {"field": root.key, "plan": None, "statements": []}
    statements = system.storage.explain_render(plan, root.rendering) or session.explain_read(plan)
    return {"field": root.key, "plan": plan_to_json(plan), "statements": statements}


def plan_to_json(plan: Read) -> dict[str, Any]:
    """A plan as JSON; empty parts are omitted."""
    parts = {
        "table": plan.table.name,
        "where": str(plan.where),
        "order": [f"{part.field} {'DESC' if part.descending else 'ASC'}" for part in plan.order],
        "page": _page_to_json(plan.page),
        "total": plan.total or None,
        "nested": {f"{name} ({nest.relation})": plan_to_json(nest.read) for name, nest in plan.nest.items()},
    }
    return {name: value for name, value in parts.items() if value}


def _page_to_json(page: Page) -> dict[str, Any]:
    parts = {"limit": page.limit, "after": page.after and list(page.after), "backward": page.backward or None}
    return {name: value for name, value in parts.items() if value is not None}
