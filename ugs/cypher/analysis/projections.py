"""Analysis of WITH and RETURN: column names, aggregation rules and the scope of ORDER BY."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ugs.cypher.analysis.expressions import Scope, check, forbid_aggregates, undefined_variable
from ugs.cypher.analysis.tree_walk import aggregates, free_variables, has_aggregate, is_aggregate, parts, walk
from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.syntax import (
    Expression,
    Item,
    ListComprehension,
    Literal,
    Projection,
    Property,
    Quantifier,
    Reduce,
    Sort,
    Tree,
    Unary,
    Variable,
)


def expand_items(projection: Projection, names: list[str]) -> tuple[Item, ...]:
    """The items with `*` written out."""
    if not projection.everything:
        return projection.items
    return (*(Item(Variable(name), name) for name in sorted(names)), *projection.items)


def is_narrow(projection: Projection) -> bool:
    """Whether only the columns are left afterwards, because rows were grouped or made distinct."""
    return projection.distinct or any(has_aggregate(item.value) for item in projection.items)


def check_projection(projection: Projection, scope: Scope, at: int, is_with: bool) -> tuple[Scope, Scope]:
    """The scope after the projection, and the one that its ORDER BY and WHERE see."""
    if projection.everything and not scope and not is_with:
        raise CypherSyntaxError("NoVariablesInScope", "RETURN * needs at least one variable", at)
    items = expand_items(projection, list(scope))
    kinds = [check(item.value, scope) for item in items]
    after: Scope = {item.name: kind for item, kind in zip(items, kinds, strict=True)}
    if len(after) < len(items):
        raise CypherSyntaxError("ColumnNameConflict", "Two columns have the same name", at)
    grouped = any(has_aggregate(item.value) for item in items)
    if grouped:
        _check_groups(items)
    visible = after if grouped or projection.distinct else {**scope, **after}
    for sort in projection.order:
        _check_sort(sort, items, visible, grouped, projection.distinct)
    for bound, name in ((projection.skip, "SKIP"), (projection.limit, "LIMIT")):
        _check_bound(bound, name)
    if is_with:
        _check_aliases(items)
    return after, visible


def _check_aliases(items: tuple[Item, ...]) -> None:
    for item in items:
        if not item.aliased and not isinstance(item.value, Variable):
            message = f"In WITH, {item.name} needs a name: write {item.name} AS name"
            raise CypherSyntaxError("NoExpressionAlias", message, item.value.at)


def _check_groups(items: tuple[Item, ...]) -> None:
    keys = [item.value for item in items if not has_aggregate(item.value)]
    for item in items:
        if has_aggregate(item.value):
            for leaf in find_ungrouped(item.value, keys):
                raise _ambiguous(leaf)


def _ambiguous(leaf: Expression) -> CypherSyntaxError:
    message = "An expression with an aggregation may otherwise use only grouped variables and properties"
    return CypherSyntaxError("AmbiguousAggregationExpression", message, leaf.at)


def find_ungrouped(tree: Tree, keys: list[Expression], local: frozenset[str] = frozenset()) -> Iterator[Expression]:
    """Variables and properties beside the aggregations that are no grouping keys themselves."""
    if is_aggregate(tree) or (isinstance(tree, Variable | Property) and tree in keys):
        return
    if isinstance(tree, Variable):
        if tree.name not in local:
            yield tree
        return
    if isinstance(tree, ListComprehension | Quantifier):
        local |= {tree.variable}
    elif isinstance(tree, Reduce):
        local |= {tree.variable, tree.accumulator}
    for part in parts(tree):
        yield from find_ungrouped(part, keys, local)


def find_column(tree: Expression, items: tuple[Item, ...]) -> str | None:
    """The column that already holds the value of an expression."""
    return next((item.name for item in items if item.value == tree), None)


def _check_sort(sort: Sort, items: tuple[Item, ...], visible: Scope, grouped: bool, distinct: bool) -> None:
    if has_aggregate(sort.value) and not grouped:
        forbid_aggregates(sort.value, "ORDER BY without an aggregation in the projection")
    if find_column(sort.value, items) is not None:
        return
    if not grouped and not distinct:
        check(sort.value, visible)
        return
    if has_aggregate(sort.value):
        _check_grouped_sort(sort.value, items, visible)
    rewritten = substitute_columns(sort.value, items)
    check(rewritten, visible)
    for found in aggregates(rewritten):
        message = "ORDER BY may repeat an aggregation of the projection, not add another"
        raise CypherSyntaxError("InvalidAggregation", message, found.at)


def _check_grouped_sort(value: Expression, items: tuple[Item, ...], visible: Scope) -> None:
    keys = [item.value for item in items if not has_aggregate(item.value)]
    in_keys = {name for key in keys for name in free_variables(key)}
    projected = [item.value for item in items if has_aggregate(item.value)]
    for found in aggregates(value):
        if found not in projected:
            for name in sorted(free_variables(found) - visible.keys()):
                raise undefined_variable(name, visible, found.at)
    for leaf in find_ungrouped(value, keys):
        name = next(node.name for node in walk(leaf) if isinstance(node, Variable))
        if name in visible:
            continue
        raise _ambiguous(leaf) if name in in_keys else undefined_variable(name, visible, leaf.at)


def substitute_columns(tree: Tree, items: tuple[Item, ...]) -> Tree:
    """The expression with every part that is a projected expression replaced by its column."""
    name = find_column(tree, items) if isinstance(tree, Expression) else None
    if name is not None:
        return Variable(name, at=tree.at)
    if isinstance(tree, tuple):
        return tuple(substitute_columns(part, items) for part in tree)
    if not hasattr(tree, "__dataclass_fields__"):
        return tree
    names = [field for field in tree.__dataclass_fields__ if field != "at"]
    return replace(tree, **{field: substitute_columns(getattr(tree, field), items) for field in names})


def _check_bound(bound: Expression | None, name: str) -> None:
    if bound is None:
        return
    for node in walk(bound):
        if isinstance(node, Variable) or is_aggregate(node):
            raise CypherSyntaxError("NonConstantExpression", f"{name} takes a constant", node.at)
    kind = check(bound, {})
    if kind.name not in ("any", "null", "integer", "number"):
        raise CypherSyntaxError("InvalidArgumentType", f"{name} takes a whole number, not {kind}", bound.at)
    literal = bound.operand if isinstance(bound, Unary) and bound.op == "-" else bound
    if isinstance(literal, Literal) and isinstance(literal.value, int) and (literal is not bound or literal.value < 0):
        raise CypherSyntaxError("NegativeIntegerArgument", f"{name} takes no negative number", bound.at)
