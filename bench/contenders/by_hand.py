"""What somebody without us writes by hand: look-ups by type and word, a walk, Dijkstra over fetched edges."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterable, Sequence
from heapq import heappop, heappush, nsmallest

from bench.answers import ids_answer, to_json_text
from bench.data import NodeMade
from bench.questions import DEPTH, LIST_LIMIT, SEARCH_LIMIT
from ugs.graph.text.tokenizer import node_words, rarity
from ugs.values import to_text

DIJKSTRA_BATCH_SIZE = 256


class LookUps:
    """Dicts beside a graph: ids by type in order, and ids by word with their weights."""

    def __init__(self, nodes: Iterable[NodeMade]) -> None:
        self.total = 0
        self.by_type: dict[str, list[str]] = {}
        self.by_word: dict[str, dict[str, float]] = {}
        for node in nodes:
            self.total += 1
            self.by_type.setdefault(node.type, []).append(node.id)
            for word, weight in _words_of(node).items():
                self.by_word.setdefault(word, {})[node.id] = weight

    def page(self, type: str, after: str) -> list[str]:
        """The next ids of a type behind a place."""
        ids = self.by_type[type]
        start = bisect_right(ids, after)
        return ids[start : start + LIST_LIMIT]

    def search(self, query: str) -> bytes:
        """The best ids that have every word."""
        postings = [self.by_word.get(word, {}) for word in query.split()]
        rarities = [rarity(self.total, len(posting)) for posting in postings]
        rarest = min(postings, key=len)
        found = [
            (-sum(rare * posting[id] for rare, posting in zip(rarities, postings, strict=True)), id)
            for id in rarest
            if all(id in posting for posting in postings)
        ]
        return ids_answer(id for _, id in nsmallest(SEARCH_LIMIT, found))


def _words_of(node: NodeMade) -> dict[str, float]:
    return node_words(node.id, node.type, to_text(node.properties), to_text(node.data))


Reached = tuple[str, str, str]
"""The node an edge leaves, the node it arrives at, and that node's type."""


async def walk(start: tuple[str, str], leaving: Callable[[Sequence[str]], Awaitable[Iterable[Reached]]]) -> bytes:
    """A traversal, one statement per level; edges come by age."""
    id, type = start
    parts = [_step(id, type, 0)]
    seen, frontier = {id}, [id]
    for depth in range(1, DEPTH + 1):
        by_source: dict[str, list[tuple[str, str]]] = {}
        for source, target, kind in await leaving(frontier):
            by_source.setdefault(source, []).append((target, kind))
        reached = {
            target: kind for source in frontier for target, kind in by_source.get(source, ()) if target not in seen
        }
        parts += [_step(target, kind, depth) for target, kind in reached.items()]
        seen.update(reached)
        frontier = list(reached)
        if not frontier:
            break
    return f"[{','.join(parts)}]".encode()


def _step(id: str, type: str, depth: int) -> str:
    return f'{{"id":"{id}","type":{to_json_text(type)},"depth":{depth}}}'


Weighed = tuple[str, str, float]
"""The node an edge leaves, the node it arrives at, and its weight."""


async def find_cheapest_path(
    start: str, goal: str, leaving: Callable[[Sequence[str]], Awaitable[Iterable[Weighed]]]
) -> bytes:
    """Dijkstra, fetching the edges of many nodes at a time."""
    known: dict[str, list[tuple[str, float]]] = {}
    best: dict[str, float] = {start: 0.0}
    came: dict[str, str] = {}
    heap, settled = [(0.0, start)], set[str]()
    while heap:
        cost, current = heappop(heap)
        if current in settled:
            continue
        settled.add(current)
        if current == goal:
            return ids_answer(reversed([*_trace_back(goal, start, came)]))
        if current not in known:
            near = {id for _, id in nsmallest(DIJKSTRA_BATCH_SIZE, heap) if id not in known} | {current}
            known |= {id: [] for id in near}
            for source, target, weight in await leaving(list(near)):
                known[source].append((target, weight))
        for target, weight in known[current]:
            if cost + weight < best.get(target, float("inf")):
                best[target], came[target] = cost + weight, current
                heappush(heap, (cost + weight, target))
    return b"null"


def _trace_back(goal: str, start: str, came: dict[str, str]) -> Iterable[str]:
    yield goal
    while goal != start:
        goal = came[goal]
        yield goal
