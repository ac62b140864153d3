"""Queries that are one question to the store: they need no transaction around them.

Such a query is a single MATCH that the store answers as a whole, and computations on its rows. Where the store would
have to be asked a second time after all, nothing has been answered yet and the query is run in the usual way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ugs.cypher.analysis.walk import has_subquery
from ugs.cypher.answering import Result, answer_within, prepare
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.operators.joining import NotAtOnce
from ugs.cypher.engine.reader import Reader
from ugs.cypher.engine.run import Run
from ugs.cypher.engine.view import StoredGraph
from ugs.cypher.syntax import Match, Return, Unwind, With
from ugs.storage import Session


@lru_cache(maxsize=1024)
def is_one_question(text: str) -> bool:
    """Whether a query can be answered by asking the store once, as far as its text tells."""
    statement = prepare(text).statement
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
    view, prepared = StoredGraph(session), prepare(query)
    if not view.joins or not is_one_question(query) or (prepared.rivals and not view.orders_joins):
        return None
    execution = Run(Reader(view), params, limits)
    execution.at_once = True
    try:
        return await answer_within(prepared, execution)
    except NotAtOnce:
        return None
