"""What changed between two positions of the log: elements added, changed and removed.

The result equals the difference of two exports, but costs no replay: the events of the range name the elements, and
the own events of each element give its state at both positions. The cost is that of reading the range once per page,
and the events of the elements on the page.

In a log that another program wrote, an edge that disappears with its node without an event of its own is not listed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ugs.errors import InvalidArgument, InvalidSyntax, LimitExceeded, PositionNotFound
from ugs.events import Event
from ugs.graph.content import content_after
from ugs.graph.events import ELEMENTS
from ugs.graph.model import Edge, Element, Node
from ugs.graph.versions import build_versions
from ugs.log.replay import CHUNK_BYTES
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs.storage import EventQuery, Session
from ugs.support.time_slice import TimeSlice
from ugs.values import JsonText, to_text

MAX_EVENTS = 100_000
"""The longest range that is compared; a longer one is compared in parts."""
CHUNK_EVENTS = 2_000
ELEMENTS_PER_READ = 100
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
        record = {name: to_text(value) for name, value in self.element.as_json().items()}
        if self.content is not None:
            record["content"] = to_text(self.content)
        return record


class ElementChange(Struct, frozen=True):
    """An element that differs between two positions; at least one of the states exists."""

    id: str
    before: ElementState | None
    after: ElementState | None

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return ChangeKind.ADDED
        return ChangeKind.REMOVED if self.after is None else ChangeKind.CHANGED

    @property
    def element(self) -> Element:
        """The later of the two states."""
        state = self.after or self.before
        assert state is not None
        return state.element

    @property
    def fields(self) -> list[str]:
        """The fields that differ, sorted; `properties` counts as one."""
        before = {} if self.before is None else self.before.fields()
        after = {} if self.after is None else self.after.fields()
        return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))

    @property
    def place(self) -> tuple[str, int]:
        """What changes are ordered by: the id, and for one id the node before the edge."""
        return self.id, int(isinstance(self.element, Edge))

    @property
    def cursor(self) -> str:
        """The place of the change in the list."""
        return encode_cursor(ORDER, self.place)


class ChangeFilter(Struct, frozen=True):
    """Which changes are wanted; empty means all."""

    kinds: frozenset[ChangeKind] = frozenset()
    element: str = ""
    """`node` or `edge`."""
    types: frozenset[str | None] = frozenset()
    """Types before or after the change; None for elements without a type."""
    ids: frozenset[str] = frozenset()

    def accepts(self, change: ElementChange) -> bool:
        if self.kinds and change.kind not in self.kinds:
            return False
        if self.element and isinstance(change.element, Node) != (self.element == "node"):
            return False
        states = [state for state in (change.before, change.after) if state is not None]
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
    start: int,
    end: int,
    wanted: ChangeFilter = ChangeFilter(),  # noqa: B008 (immutable)
    first: int = 50,
    after: str | None = None,
) -> ChangePage:
    """The changes between two positions, a page at a time.

    Raises `PositionNotFound` for a position the log does not have, `InvalidArgument` if the range runs backwards, and
    `LimitExceeded` if it is longer than `MAX_EVENTS`.
    """
    await check_range(session, start, end)
    if not 0 <= first <= MAX_PAGE_SIZE:
        raise LimitExceeded(f"first lies between 0 and {MAX_PAGE_SIZE}; go on with after", limit=MAX_PAGE_SIZE)
    place = _parse_cursor(after)
    ids = await _changed_ids(session, start, end, wanted.ids)
    found: list[ElementChange] = []
    rest = sorted(id for id in ids if place is None or id >= place[0])
    async for change in _compare(session, rest, start, end):
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


def _parse_cursor(cursor: str | None) -> tuple[str, int] | None:
    if cursor is None:
        return None
    id, rank = decode_cursor(cursor, ORDER, 2)
    if not isinstance(id, str) or not isinstance(rank, int):
        raise InvalidSyntax("The cursor belongs to another list; start again without it")
    return id, rank


async def events_between(
    session: Session, start: int, end: int, types: frozenset[str] | None = None, elements: frozenset[str] | None = None
) -> AsyncIterator[list[Event]]:
    """The events in (start, end], oldest first, in chunks."""
    while start < end:
        query = EventQuery(
            after=start, until=end, limit=CHUNK_EVENTS, types=types, elements=elements, max_bytes=CHUNK_BYTES
        )
        events = await session.events(query)
        if not events:
            return
        yield events
        start = events[-1].position


async def _changed_ids(session: Session, start: int, end: int, among: frozenset[str]) -> set[str]:
    """The elements with an event in the range."""
    ids: set[str] = set()
    time = TimeSlice()
    async for events in events_between(session, start, end, ELEMENT_EVENTS, among or None):
        ids.update(event.element for event in events if event.element is not None)
        await time.pause()
    return ids


async def _compare(session: Session, ids: Sequence[str], start: int, end: int) -> AsyncIterator[ElementChange]:
    """The differences of these elements, in the given order."""
    time = TimeSlice()
    for begin in range(0, len(ids), ELEMENTS_PER_READ):
        some = ids[begin : begin + ELEMENTS_PER_READ]
        lives: dict[str, list[Event]] = {id: [] for id in some}
        async for events in events_between(session, 0, end, ELEMENT_EVENTS, frozenset(some)):
            for event in events:
                lives[event.element or ""].append(event)
            await time.pause()
        for id in some:
            for change in compare_states(id, state_after(id, lives[id], start), state_after(id, lives[id], end)):
                yield change
            await time.pause()


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
