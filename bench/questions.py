"""What is asked of every side: the same questions, made once per size.

Two-hop reads start at well connected nodes. Paths lead from a random node to one of the two thousand nearest to it,
so that a path is a few steps long at every size and the work is that of finding it, not of emptying the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from bench import data

NEAREST = 2_000
SEARCH_LIMIT = 20
LIST_LIMIT = 100
FIRST_EDGES, SECOND_EDGES = 20, 10
DEPTH = 3
FORMAT = 1


class Questions(Struct, frozen=True):
    """The arguments of every kind of read."""

    point: list[tuple[str]]
    listing: list[tuple[str, str]]
    two_hop: list[tuple[str]]
    search: list[tuple[str]]
    search_common: list[tuple[str]]
    traverse: list[tuple[str]]
    path: list[tuple[str, str]]


SAME_AS = {"point_plan": "point"}
"""Kinds that ask the questions of another in another way."""

TITLES = {
    "point": "node by id",
    "point_plan": "node by id, as a plan",
    "listing": f"list of {LIST_LIMIT} of a type",
    "two_hop": f"two hops ({FIRST_EDGES} x {SECOND_EDGES} edges)",
    "search": "search, two words",
    "search_common": "search, a common word",
    "traverse": f"traverse, depth {DEPTH}",
    "path": "cheapest path",
}
KINDS = tuple(TITLES)


def questions_for(size: int, folder: Path) -> Questions:
    """The questions of a size, kept in a file since finding paths takes a while."""
    kept = folder / f"questions-{size}-v{FORMAT}.json"
    if kept.exists():
        return msgspec.json.decode(kept.read_bytes(), type=Questions)
    questions = make_questions(size)
    folder.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(msgspec.json.encode(questions))
    return questions


def make_questions(size: int) -> Questions:
    random = Random(3)
    hubs = min(1_000, max(1, size // 10))
    everyone = [(data.node_id(random.randrange(size)),) for _ in range(400)]
    return Questions(
        point=everyone[:200],
        listing=[(random.choice(data.TYPES[:6]), data.node_id(random.randrange(size * 9 // 10))) for _ in range(50)],
        two_hop=[(data.node_id(random.randrange(hubs)),) for _ in range(50)],
        search=[*islice(_pairs_of_words(size, random), 30)],
        search_common=[(data.WORDS[rank],) for rank in random.sample(range(20, 60), 10)],
        traverse=everyone[200:240],
        path=[*islice(_ends_of_paths(size, random), 10)],
    )


def _pairs_of_words(size: int, random: Random) -> Iterator[tuple[str]]:
    """Two words that stand in one note, neither among the most common."""
    usual = set(data.WORDS[:20])
    wanted = set(random.sample(range(size), min(size, 200)))
    for rank, node in enumerate(data.nodes(size)):
        rare = [word for word in dict.fromkeys(node.data["note"].split()) if word not in usual]
        if rank in wanted and len(rare) >= 2:
            yield (f"{rare[0]} {rare[1]}",)


def _ends_of_paths(size: int, random: Random) -> Iterator[tuple[str, str]]:
    outgoing: dict[str, list[tuple[str, float]]] = {}
    for edge in data.edges(size):
        outgoing.setdefault(edge.source, []).append((edge.target, edge.weight))
    while True:
        start = data.node_id(random.randrange(size))
        settled = [*islice(_by_cost(outgoing, start), NEAREST)]
        if len(settled) > min(100, size // 20):
            yield start, settled[random.randrange(len(settled) // 4, len(settled))]


def _by_cost(outgoing: dict[str, list[tuple[str, float]]], start: str) -> Iterator[str]:
    """Nodes by the cost of reaching them, cheapest first, the start left out."""
    heap, seen = [(0.0, start)], set[str]()
    while heap:
        cost, current = heappop(heap)
        if current in seen:
            continue
        seen.add(current)
        if current != start:
            yield current
        for target, weight in outgoing.get(current, ()):
            if target not in seen:
                heappush(heap, (cost + weight, target))


def arguments(questions: Questions, kind: str) -> list[tuple[str, ...]]:
    """The questions of a kind."""
    asked: list[tuple[str, ...]] = getattr(questions, SAME_AS.get(kind, kind))
    return asked
