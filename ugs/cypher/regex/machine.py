"""The machine: a pattern's states, and sets of states built while a text is read and kept for the next text."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.regex.reading import Chain, Choice, Edge, One, Part, Repeat, Test

MAX_STATES = 5_000
MAX_KEPT = 20_000
STRIDE = 4_096
States = frozenset[int]


class Machine:
    """Reads a text character by character, being in all possible states at once."""

    def __init__(self, part: Part) -> None:
        self.tests: list[Test | None] = []
        self.next: list[list[int]] = []
        self.edges: dict[int, bool] = {}
        """States that can be passed only at the start (False) or at the end (True) of the text."""
        self.final = self._state()
        self.first = self._build(part, self.final)
        self._kept: dict[tuple[States, str], States] = {}

    def _state(self, test: Test | None = None, then: Iterable[int] = ()) -> int:
        if len(self.tests) >= MAX_STATES:
            message = f"A pattern with more than {MAX_STATES} states cannot be used"
            raise CypherArgumentError("InvalidArgumentValue", message)
        self.tests.append(test)
        self.next.append(list(then))
        return len(self.tests) - 1

    def _build(self, part: Part, then: int) -> int:
        """The state from which the part leads to `then`."""
        if isinstance(part, One):
            return self._state(part.test, [then])
        if isinstance(part, Chain):
            for inner in reversed(part.parts):
                then = self._build(inner, then)
            return then
        if isinstance(part, Choice):
            return self._state(None, [self._build(inner, then) for inner in part.parts])
        if isinstance(part, Repeat):
            return self._repeat(part, then)
        return self._edge(part, then)

    def _edge(self, part: Edge, then: int) -> int:
        state = self._state(None, [then])
        self.edges[state] = part.at_end
        return state

    def _repeat(self, part: Repeat, then: int) -> int:
        if part.high is None:
            loop = self._state(None, [then])
            self.next[loop].append(self._build(part.part, loop))
            then = loop
        else:
            for _ in range(part.high - part.low):
                then = self._state(None, [self._build(part.part, then), then])
        for _ in range(part.low):
            then = self._build(part.part, then)
        return then

    def _reach(self, states: Iterable[int], at_start: bool = False, at_end: bool = False) -> States:
        """All states that can be reached without reading a character."""
        found: set[int] = set()
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state in found:
                continue
            found.add(state)
            if self.tests[state] is None and self._passes(state, at_start, at_end):
                waiting.extend(self.next[state])
        return frozenset(found)

    def _passes(self, state: int, at_start: bool, at_end: bool) -> bool:
        edge = self.edges.get(state)
        return edge is None or (at_end if edge else at_start)

    def _step(self, states: States, char: str) -> States:
        tests = self.tests
        reached = [
            then for state in states if (test := tests[state]) is not None and test(char) for then in self.next[state]
        ]
        return self._reach(reached)

    def matches(self, text: str, tick: Callable[[int], None]) -> bool:
        states = self._reach([self.first], at_start=True, at_end=not text)
        for place, char in enumerate(text):
            if place % STRIDE == 0:
                tick(1 + min(len(text) - place, STRIDE) // 64)
            states = self._after(states, char, tick)
            if not states:
                return False
        return self.final in self._reach(states, at_start=not text, at_end=True)

    def _after(self, states: States, char: str, tick: Callable[[int], None]) -> States:
        known = self._kept.get((states, char))
        if known is None:
            tick(1 + len(states) // 16)
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            known = self._kept[states, char] = self._step(states, char)
        return known
