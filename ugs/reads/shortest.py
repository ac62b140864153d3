"""Shortest walks between two vertices, by two searches that go towards each other, over any kind of graph.

What a vertex and an arc are is up to the caller, who gives for each side a function from a vertex to the arcs that lead
on from it, each with the vertex at its other end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any

Step = tuple[Any, Hashable]
"""An arc, and the vertex it leads to."""
Steps = Callable[[Any], Iterable[Step]]
Walk = list[Any]
"""Arcs, one after the other."""


class Front:
    """How far one search has come: the vertices reached last, and for every one reached the steps that lead back."""

    def __init__(self, root: Hashable, steps: Steps, ready: Callable[[Collection[Any]], None] | None = None) -> None:
        self.root = root
        self.steps = steps
        self.ready = ready
        """Told of all vertices whose steps will be asked for."""
        self.last: Collection[Any] = [root]
        self.parents: dict[Any, list[Step]] = {root: []}

    def advance(self) -> None:
        """Go one step further."""
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
    """Where two searches have met: all shortest walks, and the first of them."""

    def __init__(self, there: Front, back: Front, met: list[Any]) -> None:
        self.there = there
        self.back = back
        self.met = met

    def walks(self) -> Iterator[Walk]:
        """All shortest walks; there may be very many."""
        for vertex in self.met:
            for first in unrolled(self.there, vertex):
                for second in unrolled(self.back, vertex):
                    yield first[::-1] + second

    def least(self, key: Callable[[Any], Any]) -> Walk:
        """The walk whose first arc has the least key, then its second, and so on."""
        forward, walk, here = self._forward(), [], self.there.root
        while steps := forward.get(here) or self.back.parents.get(here):
            arc, here = min(steps, key=lambda step: key(step[0]))
            walk.append(arc)
        return walk

    def _forward(self) -> dict[Any, list[Step]]:
        """The steps of the first search that lead to where they met, each under the vertex it starts from."""
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


def search(there: Front, back: Front, most: int) -> Meeting | None:
    """Where the searches meet within so many steps, the one with less to look at going first."""
    for _ in range(most):
        if not there.last or not back.last:
            return None
        mine, other = (there, back) if len(there.last) <= len(back.last) else (back, there)
        mine.advance()
        # The first vertices that both have reached lie on all shortest walks, one on each.
        if met := [vertex for vertex in mine.last if vertex in other.parents]:
            return Meeting(there, back, met)
    return None


def unrolled(front: Front, vertex: Any) -> Iterator[Walk]:
    """All ways from a vertex back to where a search began."""
    waiting: list[tuple[Any, Walk]] = [(vertex, [])]
    while waiting:
        here, walk = waiting.pop()
        steps = front.parents[here]
        if not steps:
            yield walk
        waiting.extend((before, [*walk, arc]) for arc, before in reversed(steps))
