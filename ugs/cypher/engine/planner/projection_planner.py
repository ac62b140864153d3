"""Planning of WITH and RETURN: projection, grouping, DISTINCT, ORDER BY, SKIP and LIMIT."""

from __future__ import annotations

from dataclasses import replace

from ugs.cypher import syntax as s
from ugs.cypher.analysis.projections import expand_items, is_narrow, substitute_columns
from ugs.cypher.analysis.tree_walk import aggregates, has_aggregate, has_subquery, is_aggregate
from ugs.cypher.engine.expressions import compile_all, compile_expression
from ugs.cypher.engine.operators.aggregate import Aggregate, Aggregation, Distinct
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.project import Project
from ugs.cypher.engine.operators.sort import Limit, Skip, Sort, compile_row_limit
from ugs.cypher.engine.slots import Env, Fn
from ugs.cypher.functions.aggregates import AGGREGATES
from ugs.cypher.unparser import print_expression


class ProjectionPlan:
    """A planned projection: operators, columns, and the environment of ORDER BY and WHERE."""

    def __init__(self, operators: list[Operator], columns: dict[str, int], visible: Env) -> None:
        self.operators = operators
        self.columns = columns
        self.visible = visible


def plan_projection(projection: s.Projection, env: Env, outer: Env, weight: int | None = None) -> ProjectionPlan:
    """Plan a projection; `weight` is the slot with the multiplicity of rows."""
    items = expand_items(projection, list(env.scope))
    columns = {item.name: env.layout.slot() for item in items}
    grouped = any(has_aggregate(item.value) for item in items)
    operators = _plan_grouping(items, columns, env, weight) if grouped else [_plan_columns(items, columns, env)]
    if projection.distinct:
        operators.append(Distinct(tuple(columns.values())))
    visible = outer.bind(columns) if is_narrow(projection) else env.bind(columns)
    operators += _plan_ordering(projection, items, visible, env)
    return ProjectionPlan(operators, columns, visible)


def _plan_columns(items: tuple[s.Item, ...], columns: dict[str, int], env: Env) -> Operator:
    targets = [(columns[item.name], compile_expression(item.value, env)) for item in items]
    nested = any(has_subquery(item.value) for item in items)
    return Project(targets, ", ".join(item.name for item in items), nested)


def _plan_grouping(items: tuple[s.Item, ...], columns: dict[str, int], env: Env, weight: int | None) -> list[Operator]:
    keys = [item for item in items if not has_aggregate(item.value)]
    found: dict[s.Expression, str] = {}
    for item in items:
        for aggregate in aggregates(item.value):
            found.setdefault(aggregate, f" aggregate {len(found)}")
    slots = {name: env.layout.slot() for name in found.values()}
    aggregations = tuple(_compile_aggregation(aggregate, slots[name], env) for aggregate, name in found.items())
    words = ", ".join(print_expression(aggregate) for aggregate in found)
    by = f" by {', '.join(item.name for item in keys)}" if keys else ""
    inner = env.bind(slots)
    # Grouped expressions may be used beside aggregations: they are read from their column, not from one row of many.
    rest = [
        (columns[item.name], compile_expression(_substitute_aggregates(item.value, found), inner))
        for item in items
        if has_aggregate(item.value)
    ]
    operators: list[Operator] = [_plan_columns(tuple(keys), columns, env)] if keys else []
    operators.append(Aggregate(tuple(columns[item.name] for item in keys), aggregations, words + by, weight))
    operators.append(Project(rest, ", ".join(item.name for item in items if has_aggregate(item.value))))
    return operators


def _substitute_aggregates(tree: s.Tree, found: dict[s.Expression, str]) -> s.Tree:
    """The expression with each aggregation replaced by the variable that holds its result."""
    if isinstance(tree, s.Expression) and is_aggregate(tree):
        return s.Variable(found[tree])
    if isinstance(tree, tuple):
        return tuple(_substitute_aggregates(part, found) for part in tree)
    if not hasattr(tree, "__dataclass_fields__") or isinstance(tree, s.Subquery):
        return tree
    names = [name for name in tree.__dataclass_fields__ if name != "at"]
    return replace(tree, **{name: _substitute_aggregates(getattr(tree, name), found) for name in names})


def _compile_aggregation(tree: s.Expression, slot: int, env: Env) -> Aggregation:
    if isinstance(tree, s.Call):
        return Aggregation(slot, AGGREGATES[tree.name], tuple(compile_all(tree.arguments, env)), tree.distinct)
    return Aggregation(slot, AGGREGATES["count"], (), False)


def _plan_ordering(projection: s.Projection, items: tuple[s.Item, ...], visible: Env, env: Env) -> list[Operator]:
    operators: list[Operator] = []
    skip = None if projection.skip is None else compile_expression(projection.skip, env)
    limit = None if projection.limit is None else compile_expression(projection.limit, env)
    if projection.order:
        keys = [(_sort_value(sort, items, visible), sort.descending) for sort in projection.order]
        words = ", ".join(
            print_expression(sort.value) + (" DESC" if sort.descending else "") for sort in projection.order
        )
        operators.append(Sort(keys, words, compile_row_limit(skip, limit)))
    if skip is not None:
        operators.append(Skip(skip))
    if limit is not None:
        operators.append(Limit(limit))
    return operators


def _sort_value(sort: s.Sort, items: tuple[s.Item, ...], visible: Env) -> Fn:
    return compile_expression(substitute_columns(sort.value, items), visible)
