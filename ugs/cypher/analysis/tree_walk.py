"""Tree traversal: children, free variables and aggregations of expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from ugs.cypher.functions.aggregates import AGGREGATES
from ugs.cypher.syntax import (
    Call,
    CountStar,
    Expression,
    ListComprehension,
    PathPattern,
    PatternComprehension,
    QuantifiedPath,
    Quantifier,
    Query,
    Reduce,
    Subquery,
    Tree,
    Variable,
)


def _names(kind: Any) -> tuple[str, ...]:
    known = _NAMES.get(kind)
    if known is None:
        known = _NAMES[kind] = tuple(field.name for field in fields(kind) if field.name != "at")
    return known


_NAMES: dict[Any, tuple[str, ...]] = {}


def parts(tree: Tree) -> Iterator[Tree]:
    """The nodes of the tree directly below one."""
    for name in _names(type(tree)):
        yield from _nodes_in(getattr(tree, name))


def _nodes_in(value: Tree) -> Iterator[Tree]:
    if isinstance(value, tuple):
        for item in value:
            yield from _nodes_in(item)
    elif hasattr(value, "__dataclass_fields__"):
        yield value


def walk(tree: Tree) -> Iterator[Tree]:
    """A node and everything below."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(parts(node))


def is_aggregate(tree: Tree) -> bool:
    return isinstance(tree, CountStar) or (isinstance(tree, Call) and tree.name in AGGREGATES)


def aggregates(tree: Tree) -> Iterator[Expression]:
    """The outermost aggregations, without those inside subqueries."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if is_aggregate(node):
            yield node
        elif not isinstance(node, Subquery):
            waiting.extend(parts(node))


def has_aggregate(tree: Tree) -> bool:
    return next(aggregates(tree), None) is not None


def has_subquery(tree: Tree) -> bool:
    """Whether evaluating needs the graph beyond what the row holds."""
    return any(type(node).__name__ in GRAPH_BOUND or _is_live(node) for node in walk(tree))


GRAPH_BOUND = frozenset({"Subquery", "PatternExpression", "PatternComprehension"})


def _is_live(node: Tree) -> bool:
    return isinstance(node, Call) and node.name in ("startnode", "endnode")


def pattern_variables(pattern: PathPattern) -> set[str]:
    names = {element.variable for element in pattern.elements} | {pattern.variable}
    for element in pattern.elements:
        if isinstance(element, QuantifiedPath):
            names |= {inner.variable for inner in element.elements}
    return {name for name in names if name is not None}


def free_variables(tree: Tree) -> set[str]:
    """The variables an expression takes from its surroundings."""
    special = BINDERS.get(type(tree))
    if special is not None:
        return special(tree)
    if isinstance(tree, Variable):
        return {tree.name}
    found: set[str] = set()
    for part in parts(tree):
        found |= free_variables(part)
    if isinstance(tree, PathPattern):
        found |= pattern_variables(tree)
    return found


def _maybe(tree: Tree | None) -> set[str]:
    return set() if tree is None else free_variables(tree)


def _of_comprehension(tree: ListComprehension) -> set[str]:
    inner = _maybe(tree.where) | _maybe(tree.projection)
    return free_variables(tree.source) | (inner - {tree.variable})


def _of_quantifier(tree: Quantifier) -> set[str]:
    return free_variables(tree.source) | (free_variables(tree.where) - {tree.variable})


def _of_reduce(tree: Reduce) -> set[str]:
    inner = free_variables(tree.body) - {tree.variable, tree.accumulator}
    return free_variables(tree.initial) | free_variables(tree.source) | inner


def _of_pattern_comprehension(tree: PatternComprehension) -> set[str]:
    # Which of the pattern's variables are new depends on the surroundings, so all of them are named.
    return free_variables(tree.pattern) | _maybe(tree.where) | free_variables(tree.projection)


def _of_query(tree: Query) -> set[str]:
    """All names used inside; too many rather than too few."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, Variable):
            found.add(node.name)
        elif isinstance(node, PathPattern):
            found |= pattern_variables(node)
    return found


BINDERS: dict[type, Callable[..., set[str]]] = {
    ListComprehension: _of_comprehension,
    Quantifier: _of_quantifier,
    Reduce: _of_reduce,
    PatternComprehension: _of_pattern_comprehension,
    Query: _of_query,
}
