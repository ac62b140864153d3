"""What changed between two positions of the log: elements and records added, changed and removed.

The result equals the difference of two exports, but costs no replay: the events of the range name what may differ, and
the own events of each element or record give its state at both positions. The cost is that of reading the range once
per page, and the events of what is on the page. Records are facts, entities, notes and predicates, as far as the reader
may see them, and ontologies (`ugs.records`).

In a log that another program wrote, an edge that disappears with its node without an event of its own is not listed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ugs.catalog import Rules
from ugs.errors import InvalidArgument, InvalidSyntax, LimitExceeded, PositionNotFound
from ugs.events import Event
from ugs.graph.content import content_after
from ugs.graph.events import ELEMENTS
from ugs.graph.model import Element, Node
from ugs.graph.record_history import bytes_of, events_between, kinds_by_type, show_states, states_between
from ugs.graph.versions import build_versions
from ugs.identity import Principal
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs.records import RecordKind, RecordState
from ugs.storage import Session
from ugs.support.budget import POOL, charge
from ugs.support.time_slice import TimeSlice
from ugs.values import JsonText, to_text

MAX_EVENTS = 100_000
"""The longest range that is compared; a longer one is compared in parts."""
ELEMENTS_PER_READ = 100
NAME_BYTES = 400
"""What the name of a changed element takes in memory, in a set and in a sorted list, about."""
MAX_PAGE_SIZE = 500
ELEMENT_EVENTS = frozenset(ELEMENTS)
ORDER = "change"


class ChangeKind(StrEnum):
    """What happened to an element between two positions."""

    ADDED = "ADDED"
    CHANGED = "CHANGED"
    REMOVED = "REMOVED"


class ElementState(Struct, frozen=True):
    """An element with its content, in the form events use."""

    element: Element
    content: dict[str, Any] | None = None

    def fields(self) -> dict[str, JsonText]:
        """The fields that an export shows, as canonical text."""
        return {name: to_text(value) for name, value in self.as_json().items()}

    def as_json(self) -> dict[str, Any]:
        """The element as an export shows it."""
        content = {} if self.content is None else {"content": self.content}
        return {**self.element.as_json(), **content}

    @property
    def kind_name(self) -> str:
        return "node" if isinstance(self.element, Node) else "edge"

    @property
    def rank(self) -> str:
        """What orders elements and records of one id: digits come before the names of records."""
        return NODE_RANK if isinstance(self.element, Node) else "1"


State = ElementState | RecordState
NODE_RANK = "0"


class ElementChange(Struct, frozen=True):
    """An element or a record that differs between two positions; at least one of the states exists."""

    id: str
    before: State | None
    after: State | None

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return ChangeKind.ADDED
        return ChangeKind.REMOVED if self.after is None else ChangeKind.CHANGED

    @property
    def state(self) -> State:
        """The later of the two states."""
        state = self.after or self.before
        assert state is not None
        return state

    @property
    def element(self) -> Element | None:
        """The node or edge in the later of the two states; None for a record."""
        state = self.state
        return state.element if isinstance(state, ElementState) else None

    @property
    def element_kind(self) -> str:
        """`node`, `edge`, or the name of the kind of record."""
        return self.state.kind_name

    @property
    def fields(self) -> list[str]:
        """The fields that differ, sorted; `properties` counts as one."""
        before = {} if self.before is None else self.before.fields()
        after = {} if self.after is None else self.after.fields()
        return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))

    @property
    def place(self) -> tuple[str, str]:
        """What changes are ordered by: the id, and for one id the node, then the edge, then records."""
        return self.id, self.state.rank

    @property
    def cursor(self) -> str:
        """The place of the change in the list."""
        return encode_cursor(ORDER, self.place)


class ChangeFilter(Struct, frozen=True):
    """Which changes are wanted; empty means all."""

    kinds: frozenset[ChangeKind] = frozenset()
    element: str = ""
    """`node`, `edge`, or the name of a kind of record."""
    types: frozenset[str | None] = frozenset()
    """Types before or after the change; None for elements without a type. Records have none."""
    ids: frozenset[str] = frozenset()

    def accepts(self, change: ElementChange) -> bool:
        if self.kinds and change.kind not in self.kinds:
            return False
        if self.element and change.element_kind != self.element:
            return False
        states = [state for state in (change.before, change.after) if isinstance(state, ElementState)]
        return not self.types or any(state.element.type in self.types for state in states)


class ChangePage(Struct, frozen=True):
    """A page of changes, by id; a node comes before an edge of the same id."""

    changes: list[ElementChange]
    has_more: bool
    start: int
    end: int
    """The positions that were compared."""


async def list_changes(
    session: Session,
    rules: Rules,
    principal: Principal,
    start: int,
    end: int,
    wanted: ChangeFilter = ChangeFilter(),  # noqa: B008 (immutable)
    first: int = 50,
    after: str | None = None,
) -> ChangePage:
    """The changes between two positions that a principal may see, a page at a time.

    Raises `PositionNotFound` for a position the log does not have, `InvalidArgument` if the range runs backwards, and
    `LimitExceeded` if it is longer than `MAX_EVENTS`.
    """
    await check_range(session, start, end)
    if not 0 <= first <= MAX_PAGE_SIZE:
        raise LimitExceeded(f"first lies between 0 and {MAX_PAGE_SIZE}; go on with after", limit=MAX_PAGE_SIZE)
    place = _parse_cursor(after)
    named = await _changed_names(session, rules, start, end, wanted)
    found: list[ElementChange] = []
    rest = sorted(name for name in named if place is None or name[0] >= place[0])
    async for change in _compare(session, rules, principal, rest, start, end):
        is_behind = place is None or change.place > place
        if is_behind and wanted.accepts(change):
            found.append(change)
            if len(found) > first:
                break
    return ChangePage(found[:first], len(found) > first, start, end)


async def check_range(session: Session, start: int, end: int) -> None:
    """Raise a coded error unless the log has both positions, in this order, and not too many events between them."""
    last = (await session.head()).position
    for position in (start, end):
        if not 0 <= position <= last:
            raise PositionNotFound(f"the log has positions 0 to {last}, not {position}", position=position, end=last)
    if start > end:
        raise InvalidArgument(f"the range runs backwards: from {start} to {end}", argument="from")
    if end - start > MAX_EVENTS:
        raise LimitExceeded(
            f"the range has {end - start} events, at most {MAX_EVENTS} are compared at once: go in parts",
            limit=MAX_EVENTS,
        )


def _parse_cursor(cursor: str | None) -> tuple[str, str] | None:
    if cursor is None:
        return None
    id, rank = decode_cursor(cursor, ORDER, 2)
    if not isinstance(id, str) or not isinstance(rank, str):
        raise InvalidSyntax("The cursor belongs to another list; start again without it")
    return id, rank


Name = tuple[str, str]
"""An id with the name of its kind of record, or with `NODE_RANK` for a node or edge."""


async def _changed_names(session: Session, rules: Rules, start: int, end: int, wanted: ChangeFilter) -> set[Name]:
    """The elements and records with an event in the range, as far as the filter names their kind."""
    kinds = {type: kind for type, kind in kinds_by_type(rules).items() if wanted.element in ("", kind.name)}
    if wanted.types:
        kinds = {}
    elements = ELEMENT_EVENTS if wanted.element in ("", "node", "edge") else frozenset()
    among = wanted.ids
    # What has no element in its events is found by their type alone.
    named = among if all(kind.is_element for kind in kinds.values()) else frozenset()
    found: set[Name] = set()
    counted, time = 0, TimeSlice()
    async for events in events_between(session, start, end, elements | kinds.keys(), named or None):
        for event in events:
            kind = kinds.get(event.type)
            if kind is not None:
                found.add((kind.id_of(event), kind.name))
            elif event.element is not None:
                found.add((event.element, NODE_RANK))
        charge(NAME_BYTES * (len(found) - counted))
        counted = len(found)
        await time.pause()
    return {name for name in found if not among or name[0] in among}


async def _compare(
    session: Session, rules: Rules, principal: Principal, names: Sequence[Name], start: int, end: int
) -> AsyncIterator[ElementChange]:
    """The differences of these elements and records, in the given order."""
    kinds = {kind.name: kind for kind in rules.records}
    for begin in range(0, len(names), ELEMENTS_PER_READ):
        some = names[begin : begin + ELEMENTS_PER_READ]
        found = await _compare_elements(session, [id for id, kind in some if kind == NODE_RANK], start, end)
        for name in dict.fromkeys(kind for _, kind in some if kind != NODE_RANK):
            ids = [id for id, kind in some if kind == name]
            found += await _compare_records(session, rules, principal, kinds[name], ids, start, end)
        for change in sorted(found, key=lambda change: change.place):
            yield change


async def _compare_elements(session: Session, ids: Sequence[str], start: int, end: int) -> list[ElementChange]:
    lives: dict[str, list[Event]] = {id: [] for id in ids}
    time = TimeSlice()
    found: list[ElementChange] = []
    with POOL.reserving() as reserve:
        if ids:
            async for events in events_between(session, 0, end, ELEMENT_EVENTS, frozenset(ids)):
                reserve(bytes_of(events))
                for event in events:
                    lives[event.element or ""].append(event)
                await time.pause()
        for id in ids:
            found += compare_states(id, state_after(id, lives[id], start), state_after(id, lives[id], end))
            await time.pause()
    return found


async def _compare_records(
    session: Session, rules: Rules, principal: Principal, kind: RecordKind, ids: Sequence[str], start: int, end: int
) -> list[ElementChange]:
    told = [one async for one in states_between(session, rules, kind, ids, start, end)]
    before = await show_states(session, rules, principal, [one[1] for one in told])
    after = await show_states(session, rules, principal, [one[2] for one in told])
    found = []
    for id, then, now in zip([one[0] for one in told], before, after, strict=True):
        if (then is None) != (now is None) or (then is not None and now is not None and then.fields() != now.fields()):
            found.append(ElementChange(id, then, now))
    return found


def state_after(id: str, events: Sequence[Event], position: int) -> ElementState | None:
    """The state of an element after a position, from its own events; None if it does not exist then."""
    some = [event for event in events if event.position <= position]
    life = build_versions(id, some)
    element = life[-1].element if life else None
    return None if element is None else ElementState(element, content_after(some))


def compare_states(id: str, before: ElementState | None, after: ElementState | None) -> list[ElementChange]:
    """No change, one, or two where an id went from a node to an edge or back."""
    if before is not None and after is not None:
        if type(before.element) is not type(after.element):
            apart = [ElementChange(id, before, None), ElementChange(id, None, after)]
            return sorted(apart, key=lambda change: change.place)
        return [ElementChange(id, before, after)] if before.fields() != after.fields() else []
    return [] if before is None and after is None else [ElementChange(id, before, after)]
