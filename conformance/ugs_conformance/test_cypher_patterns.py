"""`Session.match`: a store that answers whole patterns finds exactly what a plain search finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

from msgspec.structs import replace

from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.graph.model import EDGES, NODES
from ugs.reads.filters import EVERYTHING, Any_, Op, Property, Where, eq, in_, matcher
from ugs.reads.pattern import EdgeDirection, EdgePattern, Fields, Match, NodePattern, Pattern
from ugs.storage import Session
from ugs_conformance.support.pytest_plugin import clause

TYPES = ("R", "S", None)
PATTERNS = 70


async def add_random_graph(graph: Graph, random: Random) -> None:
    """Seven nodes, loops, parallel edges, edges without a type, and edges that lead nowhere."""
    names = [f"n{number}" for number in range(7)]
    nodes = [
        AddNode(id=name, type=random.choice(("A", "B", None)), properties={"x": random.randint(0, 2)}) for name in names
    ]
    ends = [*names, "nowhere"]
    edges = [
        AddEdge(id=f"e{n}", source=random.choice(names), target=random.choice(ends), type=random.choice(TYPES))
        for n in range(16)
    ]
    await graph.do(Batch(operations=(*nodes, *edges)))


def spot_where(random: Random) -> Where:
    return random.choice(
        (EVERYTHING, EVERYTHING, eq("type", "A"), Property("properties_text", "x", Op.EQ, 1), in_("id", ["n1", "n3"]))
    )


def leg_where(random: Random) -> Where:
    untyped = Any_((in_("type", ["R"]), eq("type", None)))
    return random.choice((EVERYTHING, in_("type", ["R"]), in_("type", ["R", "S"]), untyped))


def fields(random: Random) -> Fields:
    """The whole row, or some fields of it."""
    return random.choice((None, ("type",), ("id", "type"), ("properties_text", "id")))


def random_edge(random: Random, start: int, end: int, reach: tuple[int, int] | None) -> EdgePattern:
    way, where = random.choice(list(EdgeDirection)), leg_where(random)
    return EdgePattern(start, end, way, where, reach, fields(random) if reach is None else None)


def random_pattern(random: Random) -> Pattern:
    """A chain of one to three legs; now and then it comes back to where it was, or begins with a walk."""
    ends = [0]
    for _ in range(random.randint(1, 3)):
        ends.append(random.choice(ends) if random.random() < 0.2 else max(ends) + 1)
    legs = [
        random_edge(random, start, end, (random.randint(0, 2), 2) if first else None)
        for first, (start, end) in zip([random.random() < 0.3, False, False], pairwise(ends), strict=False)
    ]
    spots = tuple(NodePattern(spot_where(random), fields(random)) for _ in range(max(ends) + 1))
    wanted_spots = tuple(n for n in range(len(spots)) if random.random() < 0.6)
    counted = random.random() < 0.4
    wanted_legs = tuple(n for n, leg in enumerate(legs) if random.random() < 0.5 and not (counted and leg.reach))
    loose = counted and random.random() < 0.6
    return Pattern(NODES, EDGES, spots, tuple(legs), wanted_spots, wanted_legs, counted, loose=loose)


class Plain:
    """The plain search."""

    def __init__(self, nodes: list[Any], edges: list[Any]) -> None:
        self.nodes = {node.id: node for node in nodes}
        self.edges = edges
        self.arcs = {edge.id: edge for edge in edges}

    def matches(self, pattern: Pattern) -> Iterator[tuple[Any, ...]]:
        first = matcher(pattern.spots[0].where)
        for node in self.nodes.values():
            if first(node):
                for spots, walks in self._follow(pattern, 0, {0: node}, []):
                    kept = [as_wanted(pattern.spots[n].fields, spots[n]) for n in pattern.wanted_spots]
                    yield (*kept, *(self._walked(pattern.legs[n], walks[n]) for n in pattern.wanted_legs))

    def _walked(self, leg: EdgePattern, walk: tuple[str, ...]) -> Any:
        return walk if leg.reach is not None else as_wanted(leg.fields, self.arcs[walk[0]])

    def _follow(self, pattern: Pattern, number: int, spots: dict[int, Any], walks: list[Any]) -> Iterator[Any]:
        if number == len(pattern.legs):
            yield spots, walks
            return
        leg = pattern.legs[number]
        low, high = leg.reach or (1, 1)
        used = {id for walk in walks for id in walk}
        for walk, end in self._walks(leg, spots[leg.start].id, (), high, used):
            known = spots.get(leg.end)
            fits = known.id == end if known is not None else matcher(pattern.spots[leg.end].where)(self.nodes[end])
            if len(walk) >= low and fits:
                yield from self._follow(pattern, number + 1, {**spots, leg.end: self.nodes[end]}, [*walks, walk])

    def _walks(
        self, leg: EdgePattern, here: str, walk: tuple[str, ...], max_edges: int, used: set[str]
    ) -> Iterator[Any]:
        yield walk, here
        if len(walk) == max_edges:
            return
        for edge in self.edges:
            ends = {
                EdgeDirection.OUT: [(edge.source, edge.target)],
                EdgeDirection.IN: [(edge.target, edge.source)],
            }.get(leg.way, list({(edge.source, edge.target), (edge.target, edge.source)}))
            for start, end in ends:
                fresh = edge.id not in used and edge.id not in walk
                if start == here and end in self.nodes and fresh and matcher(leg.where)(edge):
                    yield from self._walks(leg, end, (*walk, edge.id), max_edges, used)


def match_ids(pattern: Pattern, match: Match) -> tuple[Any, ...]:
    """A match by ids or fields; each walk as the tuple of its arcs."""
    spots, legs = match[: len(pattern.wanted_spots)], match[len(pattern.wanted_spots) : -1]
    walks = [tuple(row.id for row in leg) if isinstance(leg, list) else as_wanted(None, leg) for leg in legs]
    return (*(as_wanted(None, spot) for spot in spots), *walks)


def as_wanted(wanted: Fields, row: Any) -> Any:
    """A row by its id, or the fields that are wanted of it, as a store gives them."""
    if isinstance(row, tuple):
        return row
    return row.id if wanted is None else tuple(getattr(row, name) for name in wanted)


async def found_by(session: Session, pattern: Pattern) -> Counter[Any] | None:
    matches = await session.match(pattern)
    if matches is None:
        return None
    found: Counter[Any] = Counter()
    for match in matches:
        found[match_ids(pattern, match)] += match[-1]
    return Counter(dict.fromkeys(found, 1)) if pattern.loose else found


async def check_unless(session: Session, pattern: Pattern, found: Counter[Any]) -> None:
    """The same matches where nobody has a key, and none where everybody has it."""
    for key in ("w", "y"):
        assert await found_by(session, replace(pattern, unless=("properties_text", key))) == found, pattern
    assert await session.match(replace(pattern, unless=("properties_text", "x"))) is None, pattern


async def check_alone(session: Session, plain: Plain, random: Random) -> None:
    """Single vertices come by their keys, groups of them by the first of each."""
    for number in range(PATTERNS):
        wanted, counted = fields(random), number % 3 == 0
        spots, unless = (NodePattern(spot_where(random), wanted),), random.choice((None, ("properties_text", "w")))
        pattern = Pattern(NODES, EDGES, spots, (), (0,), (), counted, random.choice((None, 2, 9)), unless=unless)
        found = await session.match(replace(pattern, unless=None) if not session.supports_unless else pattern)
        rows = [as_wanted(wanted, row) for row in plain.nodes.values() if matcher(spots[0].where)(row)]
        expected = [*Counter(rows).items()] if counted else [(row, 1) for row in rows]
        shown = None if found is None else [(as_wanted(None, row), times) for row, times in found]
        assert shown == expected[: pattern.limit], pattern


@clause("UGS-137", "UGS-138", "UGS-214")
async def test_whole_patterns_are_found_as_a_plain_search_finds_them(graph: Graph) -> None:
    random = Random(5)
    await add_random_graph(graph, random)
    async with graph.system.session() as session:
        plain = Plain(await session.fetch(NODES), await session.fetch(EDGES))
        answered = 0
        for _ in range(PATTERNS):
            pattern = random_pattern(random)
            found = await found_by(session, pattern)
            if found is not None:
                answered += 1
                expected = Counter(plain.matches(pattern))
                assert found == (Counter(dict.fromkeys(expected, 1)) if pattern.loose else expected), pattern
                if session.supports_unless:
                    await check_unless(session, pattern, found)
        if session.matches_single_nodes:
            await check_alone(session, plain, random)
    if "match" in graph.system.storage.capabilities.native:
        assert answered > PATTERNS // 2
