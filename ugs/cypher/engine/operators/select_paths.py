"""Path selectors: of all paths between two nodes the `k` shortest, or those of the `k` least lengths.

The pattern is an automaton: a state is the segment of the pattern, the repetitions made of it, and the place inside a
repetition. Layer by layer, all states are found that walks of one length reach; from the wanted ends the walks are then
traced back, and those that use no relationship twice are the paths. Of paths of one length those with the least
relationship ids, compared from the far end, come first, so every store gives the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.engine.graph_cache import CacheMiss, Types
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.expand import get_start_node
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.values.entities import Node, Relationship
from ugs.errors import LimitExceeded

ENTRY_BYTES = 300
"""Approximate size of a reached state with its predecessors."""


class PathStep(Struct, frozen=True):
    """One relationship of a segment: its slots, and the conditions on it and the nodes at its ends."""

    start: int
    relationship: int
    end: int
    direction: str
    types: Types
    conditions: tuple[Fn, ...]


class Segment(Struct, frozen=True):
    """What lies between two nodes of the pattern: a relationship, or a repeated pattern; then the node at its end."""

    steps: tuple[PathStep, ...]
    low: int
    high: int | None
    relationships: int
    """The slot of the relationship, or of the list of all of them."""
    repeated: bool
    known: bool
    """Whether that slot is bound already."""
    first_conditions: tuple[Fn, ...]
    """On the first node of each repetition."""
    conditions: tuple[Fn, ...]
    """On a whole repetition."""
    groups: tuple[tuple[int, int], ...]
    """For each variable of a repetition its place there, and the slot of its list outside."""
    places: tuple[tuple[int, int], ...]
    """For each place in a repetition, nodes and relationships in turn, the slot inside."""
    node: int
    node_known: bool
    node_conditions: tuple[Fn, ...]


class Selection(Struct, frozen=True):
    """Which paths are wanted."""

    start: int
    segments: tuple[Segment, ...]
    conditions: tuple[Fn, ...]
    """On a whole path; they are part of the pattern, so only paths that satisfy them are counted."""
    count: int
    groups: bool
    backwards: bool
    words: str

    @property
    def end_known(self) -> bool:
        return self.segments[-1].node_known


State = tuple[int, int, int]
"""Segment, repetitions made, relationships followed in the present one."""
Key = tuple[str, State]
Taken = tuple[int, Relationship, Node]
"""A relationship of a path: its segment, itself, and the node it leads to."""
MANY = "more than one relationship"
START: Key = ("", (0, 0, 0))
"""Stands before the start."""


class Reached(Struct, eq=False):
    """A state at a node, and how walks of the present length come there: None stands for no relationship."""

    node: Node
    before: list[tuple[Relationship | None, Key]]

    def last(self, layer: Layer) -> str:
        """The id of the last relationship if all walks have the same one; empty for the empty walk."""
        found = {
            one.id if one is not None else "" if key is START else layer[key].last(layer) for one, key in self.before
        }
        return found.pop() if len(found) == 1 else MANY


Layer = dict[Key, Reached]


class SelectPaths(Operator):
    """One row for each selected path."""

    title = "SelectPaths"

    def __init__(self, selection: Selection) -> None:
        self.selection = selection

    def describe(self) -> str:
        return self.selection.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        found: list[Row] = []
        missing = False
        for row in batch:
            before = run.made
            try:
                made = Search(run, self.selection, row).rows()
            except CacheMiss:
                missing = True
                continue
            finally:
                run.made = before
            run.spend(len(made) * run.row_bytes)
            found += made
            run.hold(found)
        if missing:
            raise CacheMiss
        return found


class Search:
    """The search from the start node of one row."""

    def __init__(self, run: Run, selection: Selection, row: Row) -> None:
        self.run = run
        self.selection = selection
        self.row = row
        self.scratch = row[:]
        self.layers: list[Layer] = []
        self.seen: dict[Key, str] = {}
        """Each state found so far, with the last relationship of the walks to it."""
        self.backward: dict[Key, set[Key]] = {}
        """From which states each one was reached."""
        self.edges: set[str] = set()
        self.found: dict[str, int] = {}
        """How many paths, or groups of paths, lead to each end."""
        self.useful: tuple[int, set[Key]] | None = None
        """The states from which an open end can be reached, when so many ends were open."""

    def rows(self) -> list[Row]:
        """A row for each path, the shortest first."""
        start = get_start_node(self.row, self.selection.start)
        last = self.selection.segments[-1]
        if start is None or (last.node_known and not isinstance(self.row[last.node], Node)):
            return []
        made: list[Row] = []
        layer: Layer = {}
        self._reach(layer, start, (0, 0, 0), None, START)
        # A path of so many relationships needs as many different ones.
        while layer and len(self.edges) >= len(self.layers):
            if len(self.layers) > self.run.limits.path:
                limit = self.run.limits.path
                raise LimitExceeded(f"A path grew beyond {limit} relationships", limit=limit)
            self.layers.append(layer)
            made += self._select(layer)
            fresh = self._note(layer)
            if self._is_complete(fresh):
                break
            layer = self._next_layer(layer, fresh)
        return made

    # ── walks, layer by layer ────────────────────────────────────────────────

    def _bind(self, slot: int, value: Any) -> None:
        self.scratch[slot] = value

    def _reach(self, layer: Layer, node: Node, state: State, one: Relationship | None, before: Key) -> None:
        """Add a state to a layer, with the states that follow from it without a relationship."""
        key = (node.id, state)
        known = layer.get(key)
        if known is not None:
            known.before.append((one, before))
            return
        layer[key] = Reached(node, [(one, before)])
        number, count, place = state
        if number == len(self.selection.segments):
            return
        segment = self.selection.segments[number]
        if place == 0 and count >= segment.low and self._accepts(segment, node):
            self._reach(layer, node, (number + 1, 0, 0), None, key)

    def _accepts(self, segment: Segment, node: Node) -> bool:
        """Whether the node may stand at the end of a segment."""
        if segment.node_known:
            known = self.row[segment.node]
            if not isinstance(known, Node) or known.id != node.id:
                return False
        self._bind(segment.node, node)
        return all(condition(self.scratch) is True for condition in segment.node_conditions)

    def _next_layer(self, layer: Layer, fresh: bool) -> Layer:
        useful = None if fresh else self._useful()
        waiting = [(key, reached) for key, reached in layer.items() if useful is None or key in useful]
        self._require(waiting)
        made: Layer = {}
        for key, reached in waiting:
            self._extend(made, key, reached, layer)
        self.run.spend(len(made) * ENTRY_BYTES)
        return made

    def _step(self, state: State) -> PathStep | None:
        """The relationship that follows in a state."""
        number, count, place = state
        if number == len(self.selection.segments):
            return None
        segment = self.selection.segments[number]
        if place == 0 and segment.high is not None and count >= segment.high:
            return None
        return segment.steps[place]

    def _require(self, waiting: list[tuple[Key, Reached]]) -> None:
        """Fetch what the next layer needs, for all its states at once."""
        wanted: dict[tuple[str, Types], set[str]] = {}
        for (id, state), _ in waiting:
            step = self._step(state)
            if step is not None:
                wanted.setdefault((step.direction, step.types), set()).add(id)
        missing = False
        for (direction, types), ids in wanted.items():
            try:
                self.run.graph.require_steps(ids, direction, types)
            except CacheMiss:
                missing = True
        if missing:
            raise CacheMiss

    def _extend(self, made: Layer, key: Key, reached: Reached, layer: Layer) -> None:
        state = key[1]
        step = self._step(state)
        if step is None:
            return
        number, count, place = state
        segment = self.selection.segments[number]
        steps = self.run.graph.steps(reached.node.id, step.direction, step.types)
        self.run.tick(len(steps) + 1)
        if place == 0 and segment.first_conditions:
            self._bind(step.start, reached.node)
            if not all(condition(self.scratch) is True for condition in segment.first_conditions):
                return
        last, whole = reached.last(layer), place + 1 == len(segment.steps)
        after = (number, _count(segment, count + 1), 0) if whole else (number, count, place + 1)
        for one, other in steps:
            if one.id != last and self._passes(segment, step, reached.node, one, other):
                self.edges.add(one.id)
                self._reach(made, other, after, one, key)

    def _passes(self, segment: Segment, step: PathStep, start: Node, one: Relationship, end: Node) -> bool:
        if segment.known and not segment.repeated:
            known = self.row[segment.relationships]
            if not isinstance(known, Relationship) or known.id != one.id:
                return False
        if not step.conditions:
            return True
        self._bind(step.start, start)
        self._bind(step.relationship, one)
        self._bind(step.end, end)
        return all(condition(self.scratch) is True for condition in step.conditions)

    # ── when it ends ─────────────────────────────────────────────────────────

    def _note(self, layer: Layer) -> bool:
        """Remember the states of a layer; whether walks can go on in ways not seen before."""
        fresh = False
        for key, reached in layer.items():
            last = reached.last(layer)
            before = self.seen.get(key)
            if before is None or before not in (last, MANY):
                self.seen[key] = last if before is None else MANY
                fresh = True
            if key[1][0] == len(self.selection.segments):
                self.found.setdefault(key[0], 0)
            self.backward.setdefault(key, set()).update([state for _, state in reached.before if state is not START])
        return fresh

    def _is_complete(self, fresh: bool) -> bool:
        """Whether all ends have their paths, and no other end can be reached."""
        if not all(count >= self.selection.count for count in self.found.values()):
            return False
        return not fresh or (self.selection.end_known and bool(self.found))

    def _useful(self) -> set[Key]:
        """The states from which an end that lacks paths can be reached."""
        ends = [id for id, count in self.found.items() if count < self.selection.count]
        if self.useful is not None and self.useful[0] == len(ends):
            return self.useful[1]
        final = (len(self.selection.segments), 0, 0)
        waiting: list[Key] = [(id, final) for id in ends]
        useful = set(waiting)
        while waiting:
            before = self.backward[waiting.pop()] - useful
            self.run.tick(len(before) + 1)
            useful |= before
            waiting += before
        self.useful = (len(ends), useful)
        return useful

    # ── paths ────────────────────────────────────────────────────────────────

    def _select(self, layer: Layer) -> list[Row]:
        """The rows of the paths that end in a layer."""
        selection, made = self.selection, []
        final = (len(selection.segments), 0, 0)
        for key in [key for key in layer if key[1] == final]:
            count = self.found.get(key[0], 0)
            if count >= selection.count:
                continue
            found: list[Row] = []
            for taken in self._trace(len(self.layers) - 1, key, [], set()):
                row = self._build(taken)
                if row is None:
                    continue
                self.run.spend(self.run.row_bytes)
                found.append(row)
                if not selection.groups and count + len(found) >= selection.count:
                    break
            self.found[key[0]] = count + (bool(found) if selection.groups else len(found))
            made += found
        return made

    def _trace(self, depth: int, key: Key, taken: list[Taken], used: set[str]) -> Iterator[list[Taken]]:
        """The paths that lead to a state, each from its end to its start; with an explicit stack."""
        branches = [iter(self._ways(depth, key))]
        marks: list[tuple[int, Relationship | None]] = [(depth, None)]
        while branches:
            way = next(branches[-1], None)
            if way is None:
                branches.pop()
                _, one = marks.pop()
                if one is not None:
                    taken.pop()
                    used.discard(one.id)
                continue
            one, here, before = way
            self.run.tick()
            if before is START:
                yield taken[::-1]
                continue
            depth = marks[-1][0]
            if one is not None:
                if one.id in used:
                    continue
                used.add(one.id)
                taken.append((before[1][0], one, here))
                depth -= 1
            branches.append(iter(self._ways(depth, before)))
            marks.append((depth, one))

    def _ways(self, depth: int, key: Key) -> list[tuple[Relationship | None, Node, Key]]:
        reached = self.layers[depth][key]
        ways = [(one, reached.node, before) for one, before in reached.before]
        return ways if len(ways) == 1 else sorted(ways, key=_way_order)

    def _build(self, taken: list[Taken]) -> Row | None:
        """The row of a path; None if it does not satisfy the conditions that look at more than one step."""
        selection = self.selection
        made = self.row[:]
        node = made[selection.start]
        bound = {selection.start: node.id}
        for number, segment in enumerate(selection.segments):
            mine = [(one, other) for place, one, other in taken if place == number]
            if not self._fill(segment, node, mine, made):
                return None
            node = mine[-1][1] if mine else node
            if bound.setdefault(segment.node, node.id) != node.id:
                return None
            made[segment.node] = node
        return made if all(condition(made) is True for condition in selection.conditions) else None

    def _fill(self, segment: Segment, start: Node, taken: Sequence[tuple[Relationship, Node]], made: Row) -> bool:
        """Set the slots of one segment."""
        turn = -1 if self.selection.backwards else 1
        if not segment.repeated:
            made[segment.relationships] = taken[0][0]
            return True
        relationships = [one for one, _ in taken][::turn]
        if segment.known and not _is_same_list(self.row[segment.relationships], relationships):
            return False
        made[segment.relationships] = relationships
        length = len(segment.steps)
        values: list[list[Any]] = []
        for place in range(0, len(taken), length):
            repetition: list[Any] = [start]
            for one, other in taken[place : place + length]:
                repetition += [one, other]
            start = repetition[-1]
            if not self._fits(segment, repetition):
                return False
            values.append(repetition)
        for place, outside in segment.groups:
            made[outside] = [repetition[place] for repetition in values][::turn]
        return True

    def _fits(self, segment: Segment, repetition: list[Any]) -> bool:
        """Whether one repetition is the same node where it has the same name, and satisfies the conditions."""
        bound: dict[int, str] = {}
        for place, slot in segment.places:
            value = repetition[place]
            if bound.setdefault(slot, value.id) != value.id:
                return False
            self._bind(slot, value)
        return all(condition(self.scratch) is True for condition in segment.conditions)


def _count(segment: Segment, count: int) -> int:
    """How many repetitions a state counts: beyond the least number only if there is a greatest one."""
    return min(count, segment.low) if segment.high is None else count


def _way_order(way: tuple[Relationship | None, Node, Key]) -> tuple[str, State]:
    return ("" if way[0] is None else way[0].id, way[2][1])


def _is_same_list(known: Any, found: list[Relationship]) -> bool:
    return isinstance(known, list) and known == found
