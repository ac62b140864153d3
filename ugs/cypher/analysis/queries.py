"""Checking clauses in their order, and the parts of a UNION against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.analysis.expressions import Scope, check, check_condition, forbid_aggregates
from ugs.cypher.analysis.patterns import bind_patterns
from ugs.cypher.analysis.projections import all_items, check_projection, is_narrow, with_columns
from ugs.cypher.errors import CypherError, CypherSyntaxError
from ugs.cypher.kinds import ANY

Columns = list[str]


def analyse(statement: s.Statement, text: str) -> Columns:
    """The columns of a sound query, or the first thing that is wrong with it."""
    try:
        return check_query(statement.query, {}) or []
    except CypherError as error:
        error.locate(text)
        raise


def check_query(query: s.Query, scope: Scope, inner: bool = False) -> Columns | None:
    """The columns of a query; a subquery may have none and sees the scope around it."""
    columns = [check_single(part, scope) for part in query.parts]
    if any(set(names or []) != set(columns[0] or []) for names in columns):
        message = "All parts of a UNION must have the same columns"
        raise CypherSyntaxError("DifferentColumnsInUnion", message, query.parts[-1].clauses[-1].at)
    return columns[0]


def check_single(single: s.Single, outer: Scope) -> Columns | None:
    scope, columns = dict(outer), None
    for clause in single.clauses:
        scope, columns = CLAUSES[type(clause)](clause, scope, outer)
    return columns


def _match(clause: s.Match, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    inner = bind_patterns(clause.patterns, scope)
    if clause.where is not None:
        check_condition(clause.where, inner, "WHERE")
    return inner, None


def _unwind(clause: s.Unwind, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    forbid_aggregates(clause.source, "UNWIND")
    kind = check(clause.source, scope)
    if clause.variable in scope:
        raise CypherSyntaxError("VariableAlreadyBound", f"{clause.variable} has been defined before", clause.at)
    return {**scope, clause.variable: kind.item or ANY}, None


def _with(clause: s.With, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    after, visible = check_projection(clause.projection, scope, clause.at, is_with=True)
    if clause.where is not None:
        where = condition_after(clause, list(scope))
        check_condition(where, {**outer, **visible}, "WHERE")
    return {**outer, **after}, None


def condition_after(clause: s.With, names: list[str]) -> s.Expression:
    """The WHERE of a WITH; what was projected is meant by its column once only columns are left."""
    assert clause.where is not None
    if not is_narrow(clause.projection):
        return clause.where
    found: s.Expression = with_columns(clause.where, all_items(clause.projection, names))
    return found


def _return(clause: s.Return, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    after, _ = check_projection(clause.projection, scope, clause.at, is_with=False)
    return after, list(after)


CLAUSES: dict[type, Callable[[Any, Scope, Scope], tuple[Scope, Columns | None]]] = {
    s.Match: _match,
    s.Unwind: _unwind,
    s.With: _with,
    s.Return: _return,
}
