"""The tree of a pattern, and the automaton that matches it.

The automaton follows all states that could match at once, so time grows with the text only, never with the ways to read
it. Sets of states are computed while a text is read and kept for the next text, up to a number of bytes.

What a pattern needs is counted on its tree before anything is built: `(a{1000}){1000}` is refused at once. A part that
can match nothing but the empty text is never repeated, so `(){1000}{1000}` costs no more than `()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Test = Callable[[str], bool]
States = frozenset[int]
MAX_TRANSITION_CACHE_BYTES = 512 << 10
"""Maximum size of the transition cache of one automaton."""
STATE_BYTES = 400
"""About what one state takes, with its test and its successors."""
TRANSITION_BYTES = 200
SET_BYTES, MEMBER_BYTES = 250, 64
TICK_INTERVAL_CHARS = 4_096
"""Characters between two reports of work, while all transitions are known."""


@dataclass(frozen=True, slots=True)
class One:
    """One character that passes a test."""

    test: Test


@dataclass(frozen=True, slots=True)
class Edge:
    """The start (`^`) or the end (`$`) of the text."""

    at_end: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """Parts one after another."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several parts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part so many times; None is without end."""

    part: Part
    low: int
    high: int | None


Part = One | Edge | Chain | Choice | Repeat
EMPTY = Chain(())


def _accept_any(char: str) -> bool:
    return True


ANY = Repeat(One(_accept_any), 0, None)
"""Any text."""


class PatternTooLarge(Exception):
    """A pattern needs more states than allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"A pattern with more than {limit} states cannot be used")
        self.limit = limit


def build_set_test(tests: Sequence[Test], singles: Iterable[str] = (), negated: bool = False) -> Test:
    """The test for a set of characters: single ones are looked up, the other tests are tried in turn."""
    known = frozenset(singles)
    if not tests:
        return (lambda char: char not in known) if negated else (lambda char: char in known)
    return lambda char: (char in known or any(test(char) for test in tests)) is not negated


def simplify_part(part: Part, limit: int) -> tuple[Part, int, bool]:
    """The part without useless repetitions, how many states it needs, and whether it can read a character.

    Raises `PatternTooLarge` as soon as more than `limit` states are needed; the cost is that of the tree's size.
    """
    if isinstance(part, One):
        return part, 1, True
    if isinstance(part, Edge):
        return part, 1, False
    if isinstance(part, Repeat):
        return _simplify_repeat(part, limit)
    inner = [simplify_part(one, limit) for one in part.parts]
    count = sum(size for _, size, _ in inner) + isinstance(part, Choice)
    _check_size(count, limit)
    reads = any(reading for _, _, reading in inner)
    parts = tuple(one for one, _, _ in inner)
    return (Chain(parts) if isinstance(part, Chain) else Choice(parts)), count, reads


def _simplify_repeat(part: Repeat, limit: int) -> tuple[Part, int, bool]:
    inner, size, reads = simplify_part(part.part, limit)
    if part.high == 0:
        return EMPTY, 0, False
    if not reads:
        # Nothing is read, so once is as good as often; and none at all asks for nothing.
        return (EMPTY, 0, False) if part.low == 0 else (inner, size, False)
    often = part.low + 1 if part.high is None else part.high
    optional = 1 if part.high is None else part.high - part.low
    count = size * often + optional
    _check_size(count, limit)
    return Repeat(inner, part.low, part.high), count, True


def _check_size(count: int, limit: int) -> None:
    if count > limit:
        raise PatternTooLarge(limit)


class Machine:
    """Reads a text character by character, being in all possible states at once."""

    def __init__(self, part: Part, max_states: int) -> None:
        part, count, _ = simplify_part(part, max_states)
        self.tests: list[Test | None] = []
        self.next: list[list[int]] = []
        self.edges: dict[int, bool] = {}
        """States that can be passed only at the start (False) or at the end (True) of the text."""
        self.final = self._state()
        self.first = self._build(part, self.final)
        self.max_bytes = (count + 1) * STATE_BYTES + MAX_TRANSITION_CACHE_BYTES
        """The most that this automaton will ever hold."""
        self._transitions: dict[tuple[States, str], States] = {}
        self._sets: dict[States, States] = {}
        self._cached_bytes = 0

    def _state(self, test: Test | None = None, then: Iterable[int] = ()) -> int:
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
            return self._state(None, dict.fromkeys(self._build(inner, then) for inner in part.parts))
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
        passed: dict[Test | None, bool] = {None: False}
        reached: list[int] = []
        for state in states:
            test = tests[state]
            # Repeated parts share their test, which is asked once for each character.
            if (passes := passed.get(test)) is None and test is not None:
                passes = passed[test] = test(char)
            if passes:
                reached += self.next[state]
        return self._reach(reached)

    def matches(self, text: str, tick: Callable[[int], None]) -> bool:
        """Whether the whole text fits; `tick` is told the work and may stop it."""
        states = self._reach([self.first], at_start=True, at_end=not text)
        for place, char in enumerate(text):
            if place % TICK_INTERVAL_CHARS == 0:
                tick(1 + min(len(text) - place, TICK_INTERVAL_CHARS) // 64)
            states = self._transitions.get((states, char)) or self._after(states, char, tick)
            if not states:
                return False
        return self.final in self._reach(states, at_start=not text, at_end=True)

    def _after(self, states: States, char: str, tick: Callable[[int], None]) -> States:
        known = self._transitions.get((states, char))
        if known is None:
            tick(1 + len(states) // 8)
            found = self._step(states, char)
            if self._cached_bytes > MAX_TRANSITION_CACHE_BYTES - TRANSITION_BYTES - SET_BYTES - MEMBER_BYTES * len(
                found
            ):
                self._transitions.clear()
                self._sets.clear()
                self._cached_bytes = 0
            known = self._sets.setdefault(found, found)
            self._transitions[states, char] = known
            fresh = SET_BYTES + MEMBER_BYTES * len(found) if known is found else 0
            self._cached_bytes += TRANSITION_BYTES + fresh
        return known
