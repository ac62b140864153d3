"""Compilation of expressions that read the graph: pattern predicates, pattern comprehensions, subqueries."""

from __future__ import annotations

from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.engine.expressions import COMPILERS, ELEMENT_BYTES, compile_expression
from ugs.cypher.engine.operators.apply import compile_columns, compile_rows
from ugs.cypher.engine.planner.match_planner import MatchPlanner
from ugs.cypher.engine.planner.query_planner import Planner
from ugs.cypher.engine.planner.statistics import Statistics
from ugs.cypher.engine.run import Row
from ugs.cypher.engine.slots import Env, Fn
from ugs.cypher.engine.value_limits import check_nested_size
from ugs.cypher.engine.value_size import LIST_BYTES

NO_STATISTICS = Statistics()


def _pattern(tree: s.PatternExpression, env: Env) -> Fn:
    operators, inner = MatchPlanner(env, NO_STATISTICS).plan((_name_path(tree.pattern),), None)
    compute_rows = compile_rows(operators)
    if not tree.pattern.shortest:
        return lambda row: bool(compute_rows(row))
    slot = inner[PATH]
    if tree.pattern.shortest == "allShortestPaths":
        return lambda row: [found[slot] for found in compute_rows(row)]
    return lambda row: next((found[slot] for found in compute_rows(row)), None)


PATH = "path of the pattern"
"""The column of a shortest path used as a value; no query can write this name without quotes."""


def _name_path(pattern: s.PathPattern) -> s.PathPattern:
    if not pattern.shortest:
        return pattern
    return s.PathPattern(PATH, pattern.elements, pattern.shortest, at=pattern.at)


def _pattern_comprehension(tree: s.PatternComprehension, env: Env) -> Fn:
    operators, inner = MatchPlanner(env, NO_STATISTICS).plan((tree.pattern,), tree.where)
    compute_rows, projection = compile_rows(operators), compile_expression(tree.projection, inner)

    def build(row: Row) -> list[Any]:
        found = compute_rows(row)
        row[0].spend(LIST_BYTES + ELEMENT_BYTES * len(found))
        values = list(map(projection, found))
        return check_nested_size(values, row[0])  # type: ignore[no-any-return]

    return build


def _subquery(tree: s.Subquery, env: Env) -> Fn:
    parts = [Planner(env, NO_STATISTICS).plan(part) for part in tree.query.parts]
    finders = [(part.operators, tuple(part.columns.values())) for part in parts]
    columns = compile_columns(finders, union_all=tree.query.all or len(parts) == 1)
    if tree.kind == "EXISTS":
        return lambda row: bool(columns(row))
    if tree.kind == "COUNT":
        return lambda row: len(columns(row))
    return lambda row: [values[0] for values in columns(row)]


COMPILERS.update(
    {
        s.PatternExpression: _pattern,
        s.PatternComprehension: _pattern_comprehension,
        s.Subquery: _subquery,
    }
)
