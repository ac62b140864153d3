"""Compiling expressions that look at the graph: pattern conditions, pattern comprehensions, subqueries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.engine.env import Env, Fn
from ugs.cypher.engine.expressions import COMPILERS, compile_expression
from ugs.cypher.engine.operators.base import Operator, apply_all
from ugs.cypher.engine.planning.matching import MatchPlanner
from ugs.cypher.engine.planning.queries import Planned, Planner
from ugs.cypher.engine.planning.statistics import Statistics
from ugs.cypher.engine.run import Row
from ugs.cypher.values.comparing import identity

NO_STATISTICS = Statistics()


def found_by(operators: Sequence[Operator]) -> Callable[[Row], list[Row]]:
    """The rows that a plan makes of one row."""

    def find(row: Row) -> list[Row]:
        run = row[0]
        around, run.template = run.template, row
        try:
            return apply_all(run, operators, [row[:]])
        finally:
            run.template = around

    return find


def _pattern(tree: s.PatternExpression, env: Env) -> Fn:
    operators, inner = MatchPlanner(env, NO_STATISTICS).plan((_named(tree.pattern),), None)
    find = found_by(operators)
    if not tree.pattern.shortest:
        return lambda row: bool(find(row))
    slot = inner[PATH]
    if tree.pattern.shortest == "allShortestPaths":
        return lambda row: [found[slot] for found in find(row)]
    return lambda row: next((found[slot] for found in find(row)), None)


PATH = "path of the pattern"
"""The column of a shortest path used as a value; no query can write this name without quotes."""


def _named(pattern: s.PathPattern) -> s.PathPattern:
    if not pattern.shortest:
        return pattern
    return s.PathPattern(PATH, pattern.elements, pattern.shortest, at=pattern.at)


def _pattern_comprehension(tree: s.PatternComprehension, env: Env) -> Fn:
    operators, inner = MatchPlanner(env, NO_STATISTICS).plan((tree.pattern,), tree.where)
    find, projection = found_by(operators), compile_expression(tree.projection, inner)
    return lambda row: [projection(found) for found in find(row)]


def _subquery(tree: s.Subquery, env: Env) -> Fn:
    parts = [Planner(env, NO_STATISTICS).plan(part) for part in tree.query.parts]
    columns = _column_finder(parts, union_all=tree.query.all or len(parts) == 1)
    if tree.kind == "EXISTS":
        return lambda row: bool(columns(row))
    if tree.kind == "COUNT":
        return lambda row: len(columns(row))
    return lambda row: [values[0] for values in columns(row)]


def _column_finder(parts: list[Planned], union_all: bool) -> Callable[[Row], list[tuple[Any, ...]]]:
    finders = [(found_by(part.operators), tuple(part.columns.values())) for part in parts]

    def find(row: Row) -> list[tuple[Any, ...]]:
        rows = [tuple(made[slot] for slot in slots) for seek, slots in finders for made in seek(row)]
        if union_all:
            return rows
        return list({tuple(identity(value) for value in values): values for values in rows}.values())

    return find


COMPILERS.update(
    {
        s.PatternExpression: _pattern,
        s.PatternComprehension: _pattern_comprehension,
        s.Subquery: _subquery,
    }
)
