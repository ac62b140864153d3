"""Restricts queries of the removing operators to the nodes of W.

`-` and `&` only need to know which nodes of W a result contains. A query that returns what its patterns match contains
a node of W if and only if it still matches with one of its returned nodes bound to W. So it is executed once per
returned node, starting from W, and the rest of the graph is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from ugs import cypher
from ugs.cypher import syntax as s
from ugs.cypher.analysis.tree_walk import walk
from ugs.cypher.unparser import print_query
from ugs.programs.validation.parameters import W_IDS
from ugs.support.bounded_cache import bounded_cache

ANSWER = "node"
MAX_BOUND_NODES = 2_000
"""With more nodes in W, expanding from each of them may cost more than the original query."""


class NotRestrictable(Exception):
    """The query's result depends on all of its rows, so it cannot be restricted."""


@bounded_cache(max_entries=1_024, max_bytes=8 << 20)
def restrict_to_w(text: str) -> str | None:
    """The query restricted to nodes whose ids are passed as `$W_IDS`; None if it cannot be restricted."""
    try:
        matches, projection = _split(cypher.prepare(text).statement.query)
        parts = tuple(_bind_to_w(matches, name) for name in _returned_nodes(matches, projection))
    except NotRestrictable:
        return None
    return print_query(s.Query(parts, all=True)) if parts else None


def _split(query: s.Query) -> tuple[list[s.Match], s.Projection]:
    """The patterns and the projection of a query that consists of nothing else."""
    if len(query.parts) != 1 or any(isinstance(part, s.Parameter) and part.name == W_IDS for part in walk(query)):
        raise NotRestrictable
    *first, last = query.parts[0].clauses
    matches = [clause for clause in first if isinstance(clause, s.Match) and not clause.optional]
    if len(matches) != len(first) or not isinstance(last, s.Return):
        raise NotRestrictable
    if last.projection.skip is not None or last.projection.limit is not None:
        raise NotRestrictable
    return matches, last.projection


def _returned_nodes(matches: Sequence[s.Match], projection: s.Projection) -> list[str]:
    """The names of all nodes that reach the result."""
    paths = [path for match in matches for path in match.patterns]
    reached = dict(_reached(paths))
    returned = list(reached) if projection.everything else []
    returned += [item.value.name for item in projection.items if _brings_elements(item.value)]
    return list(dict.fromkeys(node for name in returned for node in _nodes_of(name, reached)))


def _reached(paths: Sequence[s.PathPattern]) -> Iterator[tuple[str, Sequence[str | None]]]:
    """The nodes that each variable contributes to a result: itself, none for a relationship, all nodes of a path."""
    for path in paths:
        yield from ((node.variable, [node.variable]) for node in path.nodes if node.variable is not None)
        yield from ((link.variable, []) for link in path.relationships if link.variable is not None)
        if path.variable is not None:
            many = any(isinstance(link, s.QuantifiedPath) or link.length is not None for link in path.relationships)
            yield path.variable, [None] if many else [node.variable for node in path.nodes]


def _brings_elements(value: s.Expression) -> TypeGuard[s.Variable]:
    """Whether a column is an element of a pattern. Properties contribute none; other expressions are unknown."""
    if isinstance(value, s.Property) and isinstance(value.subject, s.Variable):
        return False
    if not isinstance(value, s.Variable):
        raise NotRestrictable
    return True


def _nodes_of(name: str, reached: Mapping[str, Sequence[str | None]]) -> Iterator[str]:
    for node in reached[name]:
        if node is None:  # without a name it cannot be held
            raise NotRestrictable
        yield node


def _bind_to_w(matches: Sequence[s.Match], name: str) -> s.Single:
    """The same patterns with one node of the first bound to W, returning that node."""
    first, *others = matches
    if not any(node.variable == name for path in first.patterns for node in path.nodes):
        raise NotRestrictable
    among = s.Binary("IN", s.Call("id", (s.Variable(name),)), s.Parameter(W_IDS))
    where = among if first.where is None else s.Binary("AND", first.where, among)
    answer = s.Projection((s.Item(s.Variable(name), ANSWER, aliased=True),), distinct=True)
    return s.Single((replace(first, where=where), *others, s.Return(answer)))
