"""Fast path for queries that need a single statement, and therefore no transaction around it.

Such a query is one MATCH that is pushed down to the store as a whole, plus computations on its rows. If a second
statement turns out to be needed, nothing has been returned yet and the query runs on the general path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.analysis.tree_walk import has_subquery
from ugs.cypher.engine.graph_cache import GraphCache
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.operators.base import Operator, apply_all
from ugs.cypher.engine.operators.project import Unwind as UnwindOperator
from ugs.cypher.engine.operators.store_match import StoreMatch
from ugs.cypher.engine.operators.store_pattern import NeedsMoreStatements
from ugs.cypher.engine.planner.statistics import Statistics
from ugs.cypher.engine.run import LoopTimeExceeded, Run
from ugs.cypher.engine.view import StoredGraph
from ugs.cypher.execution import (
    ErrorTranslation,
    Prepared,
    Result,
    build_result,
    check_count,
    check_size,
    flow,
    plan_for,
    prepare,
    project_columns,
    remaining_seconds,
    take_rows,
    yield_batch,
)
from ugs.cypher.syntax import Match, Return, Unwind, With
from ugs.storage import Session
from ugs.support.bounded_cache import bounded_cache


class SingleStatementPlan(Struct, frozen=True):
    """The compiled form of such a query; depends on its text only."""

    prepared: Prepared
    first: StoreMatch
    rest: Sequence[Operator]
    width: int
    slots: tuple[int, ...]
    """The slots of the result columns in a row."""
    unfolds: bool
    """It has an UNWIND, so few matches may become many rows, which are then produced in batches."""


@bounded_cache(max_entries=1_024, max_bytes=64 << 20, factor=400)
def plan_single_statement(text: str, alone: bool = True) -> SingleStatementPlan | None:
    """Compile a query for a single statement, cached; None if its text rules that out.

    `alone`: the store also matches patterns of a single node (`Session.matches_single_nodes`).
    """
    prepared = prepare(text)
    if not _is_single_match(prepared):
        return None
    (part,), layout = plan_for(text, Statistics(joins=True, alone=alone))
    first, *rest = part.operators
    if not isinstance(first, StoreMatch):
        return None
    unfolds = any(isinstance(operator, UnwindOperator) for operator in rest)
    return SingleStatementPlan(prepared, first, rest, layout.width, part.slots(prepared.columns), unfolds)


def _is_single_match(prepared: Prepared) -> bool:
    statement = prepared.statement
    first, *rest = statement.query.parts[0].clauses
    return (
        not statement.mode
        and len(statement.query.parts) == 1
        and isinstance(first, Match)
        and not first.optional
        and all(pattern.variable is None and not pattern.shortest for pattern in first.patterns)
        and all(isinstance(clause, Unwind | With | Return) for clause in rest)
        and not has_subquery(statement.query)
    )


async def run_single_statement(
    session: Session, query: str, params: Mapping[str, Any], limits: Limits
) -> Result | None:
    """The result, or None if more than one statement is needed or the query takes too long for this path."""
    view = StoredGraph(session)
    plan = plan_single_statement(query, view.matches_single_nodes)
    if plan is None or not view.joins or (plan.prepared.counted_labels and not view.orders_joins):
        return None
    execution = Run(GraphCache(view), params, limits)
    execution.single_statement = True
    execution.start_from(plan.width)
    try:
        with ErrorTranslation(query, limits):
            plan.prepared.check_given(params)
            async with asyncio.timeout(remaining_seconds(limits)):
                return await _answer(plan, execution)
    except (NeedsMoreStatements, LoopTimeExceeded):
        return None
    finally:
        execution.close()


async def _answer(plan: SingleStatementPlan, run: Run) -> Result:
    found = await plan.first.all_rows(run)
    if isinstance(found, list) and not plan.unfolds:
        rows = project_columns(plan.slots, apply_all(run, plan.rest, found))
        check_count(run, rows)
        check_size(run, rows)
    else:
        rows, first = [], run.limits.first
        flowing = flow(run, plan.rest, yield_batch(found) if isinstance(found, list) else found)
        await take_rows(run, flowing, plan.slots, rows, None if first is None else first + 1)
    return build_result(plan.prepared, run, rows)
