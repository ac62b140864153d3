"""Queries that are one question to the store: they need no transaction around them.

Such a query is a single MATCH that the store answers as a whole, and computations on its rows. Where the store would
have to be asked a second time after all, nothing has been answered yet and the query is run in the usual way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from ugs.cypher.analysis.walk import has_subquery
from ugs.cypher.answering import (
    InWords,
    Prepared,
    Result,
    check_count,
    columns_of,
    first_row,
    flow,
    one_batch,
    plan_for,
    prepare,
    result_of,
    take_rows,
)
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.operators.base import Operator, apply_all
from ugs.cypher.engine.operators.joining import StoreMatch
from ugs.cypher.engine.operators.questioning import NotAtOnce
from ugs.cypher.engine.operators.shaping import Unwind as Unfolding
from ugs.cypher.engine.planning.statistics import Statistics
from ugs.cypher.engine.reader import Reader
from ugs.cypher.engine.run import Run
from ugs.cypher.engine.view import StoredGraph
from ugs.cypher.syntax import Match, Return, Unwind, With
from ugs.storage import Session


class Glance(Struct, frozen=True):
    """A query with everything about it that depends on its text alone."""

    prepared: Prepared
    first: StoreMatch
    rest: Sequence[Operator]
    width: int
    slots: tuple[int, ...]
    """Where the columns of the answer are found in a row."""
    unfolds: bool
    """Few matches may become very many rows, which must not be made all at once."""


@lru_cache(maxsize=1024)
def glance_of(text: str, alone: bool = True) -> Glance | None:
    """What to do for a query that can be answered by asking the store once; None where it cannot, by its text.

    `alone`: the store can be asked for single nodes so.
    """
    prepared = prepare(text)
    if not _is_one_question(prepared):
        return None
    (part,), layout = plan_for(text, Statistics(joins=True, alone=alone))
    first, *rest = part.operators
    if not isinstance(first, StoreMatch):
        return None
    unfolds = any(isinstance(operator, Unfolding) for operator in rest)
    return Glance(prepared, first, rest, layout.width, part.slots(prepared.columns), unfolds)


def _is_one_question(prepared: Prepared) -> bool:
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


async def run_at_once(session: Session, query: str, params: Mapping[str, Any], limits: Limits) -> Result | None:
    """The answer, or None when more than one question is needed."""
    view = StoredGraph(session)
    glance = glance_of(query, view.matches_alone)
    if glance is None or not view.joins or (glance.prepared.rivals and not view.orders_joins):
        return None
    execution = Run(Reader(view), params, limits)
    execution.at_once = True
    execution.template = first_row(execution, glance.width)
    try:
        with InWords(query, limits):
            glance.prepared.check_given(params)
            async with asyncio.timeout(limits.seconds):
                return await _answer(glance, execution)
    except NotAtOnce:
        return None


async def _answer(glance: Glance, run: Run) -> Result:
    found = await glance.first.all_rows(run)
    if isinstance(found, list) and not glance.unfolds:
        rows = columns_of(glance.slots, apply_all(run, glance.rest, found))
        check_count(run, rows)
    else:
        rows, first = [], run.limits.first
        flowing = flow(run, glance.rest, one_batch(found) if isinstance(found, list) else found)
        await take_rows(run, flowing, glance.slots, rows, None if first is None else first + 1)
    return result_of(glance.prepared, run, rows)
