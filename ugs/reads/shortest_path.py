"""Shortest paths between two vertices by bidirectional breadth-first search, over any kind of graph.

The caller defines vertices and arcs: for each direction a function from a vertex to its arcs, each with the vertex at
its other end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any

Step = tuple[Any, Hashable]
"""An arc, and the vertex it leads to."""
Steps = Callable[[Any], Iterable[Step]]
Walk = list[Any]
"""A path as a list of arcs."""


class Front:
    """The frontier of one search: the last level, and for every vertex reached the steps that lead back."""

    def __init__(self, root: Hashable, steps: Steps, ready: Callable[[Collection[Any]], None] | None = None) -> None:
        self.root = root
        self.steps = steps
        self.ready = ready
        """Called with each level before it is expanded, so that the caller can prefetch."""
        self.last: Collection[Any] = [root]
        self.parents: dict[Any, list[Step]] = {root: []}

    def advance(self) -> None:
        """Expand the last level by one step, keeping all shortest ways to each new vertex."""
        if self.ready is not None:
            self.ready(self.last)
        reached: dict[Any, list[Step]] = {}
        parents, steps = self.parents, self.steps
        for here in self.last:
            for arc, there in steps(here):
                if there in reached:
                    reached[there].append((arc, here))
                elif there not in parents:
                    reached[there] = [(arc, here)]
        parents.update(reached)
        self.last = reached


class Meeting:
    """The vertices where both searches met, from which the shortest paths are built."""

    def __init__(self, there: Front, back: Front, met: list[Any]) -> None:
        self.there = there
        self.back = back
        self.met = met

    def walks(self) -> Iterator[Walk]:
        """All shortest paths, lazily; there may be exponentially many."""
        for vertex in self.met:
            for first in unrolled(self.there, vertex):
                for second in unrolled(self.back, vertex):
                    yield first[::-1] + second

    def smallest(self, key: Callable[[Any], Any]) -> Walk:
        """The lexicographically least shortest path, comparing the keys of its arcs; does not enumerate all paths."""
        forward, walk, here = self._forward(), [], self.there.root
        while steps := forward.get(here) or self.back.parents.get(here):
            arc, here = min(steps, key=lambda step: key(step[0]))
            walk.append(arc)
        return walk

    def _forward(self) -> dict[Any, list[Step]]:
        """The forward search's steps that lead to a meeting vertex, by the vertex they start from."""
        forward: dict[Any, list[Step]] = {}
        waiting, seen = list(self.met), set(self.met)
        while waiting:
            there = waiting.pop()
            for arc, here in self.there.parents[there]:
                forward.setdefault(here, []).append((arc, there))
                if here not in seen:
                    seen.add(here)
                    waiting.append(here)
        return forward


def search(there: Front, back: Front, max_steps: int) -> Meeting | None:
    """Run both searches, expanding the smaller frontier, at most `max_steps` times; None if they do not meet."""
    for _ in range(max_steps):
        if not there.last or not back.last:
            return None
        mine, other = (there, back) if len(there.last) <= len(back.last) else (back, there)
        mine.advance()
        # Every shortest path passes through exactly one of the first vertices that both have reached.
        if met := [vertex for vertex in mine.last if vertex in other.parents]:
            return Meeting(there, back, met)
    return None


def unrolled(front: Front, vertex: Any) -> Iterator[Walk]:
    """All shortest ways from a vertex back to the root of a search."""
    waiting: list[tuple[Any, Walk]] = [(vertex, [])]
    while waiting:
        here, walk = waiting.pop()
        steps = front.parents[here]
        if not steps:
            yield walk
        waiting.extend((before, [*walk, arc]) for arc, before in reversed(steps))
