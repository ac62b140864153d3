"""MATCH after MATCH as one, so that a store can be asked for both at once.

Relationships of one MATCH are all different, those of two need not be. Where no relationship can be of the types of
both, that makes no difference. A condition that may fail stays where it is: it is only asked of the rows of its MATCH.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from ugs.cypher import syntax as s
from ugs.cypher.analysis.walk import pattern_variables

MOST_MERGED, MOST_UNDIRECTED = 6, 2
"""Longer patterns are better left in the pieces that somebody wrote."""
IDS = ("id", "elementid")
TEXTUAL = ("STARTS WITH", "ENDS WITH", "CONTAINS")


def merge_matches(query: s.Query) -> s.Query:
    """The same query with as few MATCH clauses as possible at the beginning of its parts."""
    return replace(query, parts=tuple(s.Single(_merged(part.clauses)) for part in query.parts))


def _merged(clauses: tuple[s.Clause, ...]) -> tuple[s.Clause, ...]:
    first, *rest = clauses
    while rest and _is_plain(first) and _is_plain(rest[0]) and _may_merge(first, rest[0]):
        first = _both(first, rest.pop(0))  # type: ignore[arg-type]
    return (first, *rest)


def _both(one: s.Match, other: s.Match) -> s.Match:
    both = [where for where in (one.where, other.where) if where is not None]
    where = s.Binary("AND", *both) if len(both) == 2 else both[0] if both else None
    return replace(one, patterns=one.patterns + other.patterns, where=where)


def _is_plain(clause: s.Clause) -> TypeGuard[s.Match]:
    """Whether it is a MATCH of single relationships with types, on conditions that cannot fail."""
    return (
        isinstance(clause, s.Match)
        and not clause.optional
        and all(pattern.variable is None and not pattern.shortest for pattern in clause.patterns)
        and all(one.length is None and one.types for one in _relationships(clause))
        and all(_is_map_of_values(one.properties) for pattern in clause.patterns for one in pattern.elements)
        and (clause.where is None or is_sure(clause.where))
    )


def _may_merge(one: s.Match, other: s.Match) -> bool:
    links = [*_relationships(one), *_relationships(other)]
    types = [{type for link in _relationships(clause) for type in link.types} for clause in (one, other)]
    return (
        types[0].isdisjoint(types[1])
        and bool(types[0] and types[1])
        and bool(_nodes(one) & _nodes(other))
        and not _bound_again(one, other)
        and len(links) <= MOST_MERGED
        and sum(link.direction == "both" for link in links) <= MOST_UNDIRECTED
    )


def _bound_again(one: s.Match, other: s.Match) -> bool:
    """Whether a relationship of one is named by the other, as whatever."""
    names = [{name for pattern in clause.patterns for name in pattern_variables(pattern)} for clause in (one, other)]
    return bool(names[0] & names[1] - _nodes(one) | names[0] & names[1] - _nodes(other))


def _relationships(clause: s.Match) -> list[s.RelationshipPattern]:
    return [one for pattern in clause.patterns for one in pattern.relationships]


def _nodes(clause: s.Match) -> set[str]:
    return {node.variable for pattern in clause.patterns for node in pattern.nodes if node.variable is not None}


# ── conditions that cannot fail, whatever the data ───────────────────────────


def is_sure(condition: s.Expression) -> bool:
    """Whether a condition is true, false or null for every row."""
    if isinstance(condition, s.Binary) and condition.op in ("AND", "OR", "XOR"):
        return is_sure(condition.left) and is_sure(condition.right)
    if isinstance(condition, s.Unary):
        return condition.op == "NOT" and is_sure(condition.operand)
    if isinstance(condition, s.Comparison):
        return all(map(_is_value, condition.operands))
    if isinstance(condition, s.Binary):
        known = condition.op in TEXTUAL or (condition.op == "IN" and isinstance(condition.right, s.ListLiteral))
        return known and _is_value(condition.left) and _is_value(condition.right)
    if isinstance(condition, s.IsNull):
        return _is_value(condition.operand)
    return isinstance(condition, s.HasLabels) and isinstance(condition.subject, s.Variable)


def _is_value(tree: s.Expression) -> bool:
    """Whether a value can always be had; that a parameter is missing is everybody's mistake."""
    if isinstance(tree, s.Literal | s.Parameter | s.Variable):
        return True
    if isinstance(tree, s.ListLiteral):
        return all(map(_is_value, tree.items))
    if isinstance(tree, s.Call):
        return tree.name in IDS and all(isinstance(argument, s.Variable) for argument in tree.arguments)
    return isinstance(tree, s.Property) and isinstance(tree.subject, s.Variable)


def _is_map_of_values(tree: s.Expression | None) -> bool:
    return tree is None or (isinstance(tree, s.MapLiteral) and all(_is_value(value) for _, value in tree.entries))
