"""Steps that only take something away ask about W alone.

`-` and `&` need to know which nodes of W a result names, and nothing else of it. A query that returns what its patterns
match names a node of W just when it still finds it while one of the returned nodes is held to W. So it is asked for
each returned node in turn, from W outwards, and what lies elsewhere in the graph is never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeGuard

from ugs import cypher
from ugs.cypher import syntax as s
from ugs.cypher.analysis.walk import walk
from ugs.cypher.printing import print_query
from ugs.programs.parameters import W_IDS

ANSWER = "node"
MOST_HELD = 2_000
"""With more nodes in W, looking around each of them may well cost more than the query as it is."""


class Whole(Exception):
    """A query whose result is only known when all of it is."""


@lru_cache(maxsize=1024)
def narrowed(text: str) -> str | None:
    """The query that finds nodes of W, whose own ids it expects as `$W_IDS`; None where only the whole one tells."""
    try:
        matches, projection = _taken_apart(cypher.prepare(text).statement.query)
        parts = tuple(_held(matches, name) for name in _returned_nodes(matches, projection))
    except Whole:
        return None
    return print_query(s.Query(parts, all=True)) if parts else None


def _taken_apart(query: s.Query) -> tuple[list[s.Match], s.Projection]:
    """The patterns, and what is returned of them, when the query has nothing else."""
    if len(query.parts) != 1 or any(isinstance(part, s.Parameter) and part.name == W_IDS for part in walk(query)):
        raise Whole
    *first, last = query.parts[0].clauses
    matches = [clause for clause in first if isinstance(clause, s.Match) and not clause.optional]
    if len(matches) != len(first) or not isinstance(last, s.Return):
        raise Whole
    if last.projection.skip is not None or last.projection.limit is not None:
        raise Whole
    return matches, last.projection


def _returned_nodes(matches: Sequence[s.Match], projection: s.Projection) -> list[str]:
    """The names of all nodes that reach the result."""
    paths = [path for match in matches for path in match.patterns]
    reached = dict(_reached(paths))
    returned = list(reached) if projection.everything else []
    returned += [item.value.name for item in projection.items if _brings_elements(item.value)]
    return list(dict.fromkeys(node for name in returned for node in _nodes_of(name, reached)))


def _reached(paths: Sequence[s.PathPattern]) -> Iterator[tuple[str, Sequence[str | None]]]:
    """What the variables of patterns bring into a result: a node itself, a relationship nothing, a path its nodes."""
    for path in paths:
        yield from ((node.variable, [node.variable]) for node in path.nodes if node.variable is not None)
        yield from ((link.variable, []) for link in path.relationships if link.variable is not None)
        if path.variable is not None:
            many = any(link.length is not None for link in path.relationships)
            yield path.variable, [None] if many else [node.variable for node in path.nodes]


def _brings_elements(value: s.Expression) -> TypeGuard[s.Variable]:
    """Whether a column is an element of a pattern; a property of one brings nothing, of anything else who knows."""
    if isinstance(value, s.Property) and isinstance(value.subject, s.Variable):
        return False
    if not isinstance(value, s.Variable):
        raise Whole
    return True


def _nodes_of(name: str, reached: Mapping[str, Sequence[str | None]]) -> Iterator[str]:
    for node in reached[name]:
        if node is None:  # without a name it cannot be held
            raise Whole
        yield node


def _held(matches: Sequence[s.Match], name: str) -> s.Single:
    """The same patterns with one node of the first held to W, and that node as the answer."""
    first, *others = matches
    if not any(node.variable == name for path in first.patterns for node in path.nodes):
        raise Whole
    among = s.Binary("IN", s.Call("id", (s.Variable(name),)), s.Parameter(W_IDS))
    where = among if first.where is None else s.Binary("AND", first.where, among)
    answer = s.Projection((s.Item(s.Variable(name), ANSWER, aliased=True),), distinct=True)
    return s.Single((replace(first, where=where), *others, s.Return(answer)))
