"""Merging consecutive MATCH clauses, so that the store answers them with one statement.

Relationships of one MATCH are all different, those of two need not be. Where no relationship can be of the types of
both, that makes no difference. A condition that may fail stays where it is: it is only asked of the rows of its MATCH.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from ugs.cypher import syntax as s
from ugs.cypher.analysis.tree_walk import pattern_variables

MAX_MERGED, MAX_UNDIRECTED = 6, 2
"""Longer patterns are not merged."""
ID_FUNCTIONS = ("id", "elementid")
TEXTUAL = ("STARTS WITH", "ENDS WITH", "CONTAINS")


def merge_matches(query: s.Query) -> s.Query:
    """The same query with as few MATCH clauses as possible at the beginning of its parts."""
    return replace(query, parts=tuple(s.Single(_merge_clauses(part.clauses)) for part in query.parts))


def _merge_clauses(clauses: tuple[s.Clause, ...]) -> tuple[s.Clause, ...]:
    first, *rest = clauses
    while rest and _is_plain(first) and _is_plain(rest[0]) and _may_merge(first, rest[0]):
        first = _join_matches(first, rest.pop(0))  # type: ignore[arg-type]
    return (first, *rest)


def _join_matches(one: s.Match, other: s.Match) -> s.Match:
    both = [where for where in (one.where, other.where) if where is not None]
    where = s.Binary("AND", *both) if len(both) == 2 else both[0] if both else None
    return replace(one, patterns=one.patterns + other.patterns, where=where)


def _is_plain(clause: s.Clause) -> TypeGuard[s.Match]:
    """Whether it is a MATCH of single relationships with types, on conditions that cannot fail."""
    return (
        isinstance(clause, s.Match)
        and not clause.optional
        and all(_is_plain_pattern(pattern) for pattern in clause.patterns)
        and all(one.length is None and one.types for one in _relationships(clause))
        and all(map(_is_map_of_values, _property_maps(clause)))
        and (clause.where is None or cannot_fail(clause.where))
    )


def _is_plain_pattern(pattern: s.PathPattern) -> bool:
    """Whether a pattern consists of single nodes and relationships without conditions of their own."""
    return (
        pattern.variable is None
        and not pattern.shortest
        and pattern.where is None
        and pattern.selector is None
        and all(node.where is None and node.label_expression is None for node in pattern.nodes)
        and all(
            isinstance(one, s.RelationshipPattern) and one.where is None and one.type_expression is None
            for one in pattern.relationships
        )
    )


def _may_merge(one: s.Match, other: s.Match) -> bool:
    links = [*_relationships(one), *_relationships(other)]
    types = [{type for link in _relationships(clause) for type in link.types} for clause in (one, other)]
    return (
        types[0].isdisjoint(types[1])
        and bool(types[0] and types[1])
        and bool(_nodes(one) & _nodes(other))
        and not _rebinds_relationship(one, other)
        and len(links) <= MAX_MERGED
        and sum(link.direction == "both" for link in links) <= MAX_UNDIRECTED
    )


def _rebinds_relationship(one: s.Match, other: s.Match) -> bool:
    """Whether a relationship variable of one clause occurs in the other."""
    names = [{name for pattern in clause.patterns for name in pattern_variables(pattern)} for clause in (one, other)]
    return bool(names[0] & names[1] - _nodes(one) | names[0] & names[1] - _nodes(other))


def _relationships(clause: s.Match) -> list[s.RelationshipPattern]:
    found = [one for pattern in clause.patterns for one in pattern.relationships]
    return [one for one in found if isinstance(one, s.RelationshipPattern)]


def _property_maps(clause: s.Match) -> list[s.Expression | None]:
    nodes = [node.properties for pattern in clause.patterns for node in pattern.nodes]
    return nodes + [one.properties for one in _relationships(clause)]


def _nodes(clause: s.Match) -> set[str]:
    return {node.variable for pattern in clause.patterns for node in pattern.nodes if node.variable is not None}


# ── conditions that cannot fail, whatever the data ───────────────────────────


def cannot_fail(condition: s.Expression) -> bool:
    """Whether a condition is true, false or null for every row."""
    if isinstance(condition, s.Binary) and condition.op in ("AND", "OR", "XOR"):
        return cannot_fail(condition.left) and cannot_fail(condition.right)
    if isinstance(condition, s.Unary):
        return condition.op == "NOT" and cannot_fail(condition.operand)
    if isinstance(condition, s.Comparison):
        return all(map(_is_value, condition.operands))
    if isinstance(condition, s.Binary):
        known = condition.op in TEXTUAL or (condition.op == "IN" and isinstance(condition.right, s.ListLiteral))
        return known and _is_value(condition.left) and _is_value(condition.right)
    if isinstance(condition, s.IsNull):
        return _is_value(condition.operand)
    return isinstance(condition, s.HasLabels) and isinstance(condition.subject, s.Variable)


def _is_value(tree: s.Expression) -> bool:
    """Whether evaluation cannot fail; missing parameters are reported before the query runs."""
    if isinstance(tree, s.Literal | s.Parameter | s.Variable):
        return True
    if isinstance(tree, s.ListLiteral):
        return all(map(_is_value, tree.items))
    if isinstance(tree, s.Call):
        return tree.name in ID_FUNCTIONS and all(isinstance(argument, s.Variable) for argument in tree.arguments)
    return isinstance(tree, s.Property) and isinstance(tree.subject, s.Variable)


def _is_map_of_values(tree: s.Expression | None) -> bool:
    return tree is None or (isinstance(tree, s.MapLiteral) and all(_is_value(value) for _, value in tree.entries))
