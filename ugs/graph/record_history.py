"""The history of records from their own events: their states at two positions, and what an undo of events restores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from ugs.catalog import Rules
from ugs.errors import UgsError
from ugs.events import Draft, Event
from ugs.identity import Principal
from ugs.log.replay import CHUNK_BYTES
from ugs.reads.filters import Where, all_of, eq, matcher
from ugs.records import RecordKind, RecordState, RowChange, RowFold
from ugs.storage import EventQuery, Session
from ugs.support.budget import POOL
from ugs.support.time_slice import TimeSlice
from ugs.tables import Row, Table

CHUNK_EVENTS = 2_000
EVENT_BYTES = 600
"""What an event takes in memory besides its data, about."""
RECORDS_PER_READ = 100


class Fetching(Protocol):
    """What a session and a unit of work have in common."""

    async def fetch(self, table: Table, where: Where = ..., /) -> list[Any]: ...


async def events_between(
    session: Session, start: int, end: int, types: frozenset[str] | None = None, elements: frozenset[str] | None = None
) -> AsyncIterator[list[Event]]:
    """The events in (start, end], oldest first, in chunks, each counted as memory in use until the next."""
    while start < end:
        query = EventQuery(
            after=start, until=end, limit=CHUNK_EVENTS, types=types, elements=elements, max_bytes=CHUNK_BYTES
        )
        events = await session.events(query)
        if not events:
            return
        with POOL.reserving() as reserve:
            reserve(bytes_of(events))
            yield events
        start = events[-1].position


def bytes_of(events: Sequence[Event]) -> int:
    """What events take in memory, about."""
    return sum(EVENT_BYTES + len(event.data) for event in events)


def kinds_by_type(rules: Rules) -> dict[str, RecordKind]:
    """The kind of record that events of each type are about."""
    return {type: kind for kind in rules.records for type in kind.types}


async def lives_of(
    session: Session, kind: RecordKind, ids: Iterable[str], end: int, pending: Sequence[Event] = ()
) -> list[Event]:
    """All events of these records up to a position, oldest first, and the pending ones of their kind."""
    wanted = frozenset(ids)
    found: list[Event] = []
    time = TimeSlice()
    elements = wanted if kind.is_element else None
    async for events in events_between(session, 0, end, kind.types, elements):
        found += [event for event in events if kind.id_of(event) in wanted]
        await time.pause()
    return [*found, *(event for event in pending if event.type in kind.types and kind.id_of(event) in wanted)]


def new_fold(kind: RecordKind, rules: Rules) -> RowFold:
    """An empty fold of the tables of a kind."""
    return RowFold([part.table for part in kind.parts], rules.reduce)


async def states_between(
    session: Session, rules: Rules, kind: RecordKind, ids: Sequence[str], start: int, end: int
) -> AsyncIterator[tuple[str, RecordState | None, RecordState | None]]:
    """Each record with its states at two positions."""
    time = TimeSlice()
    for begin in range(0, len(ids), RECORDS_PER_READ):
        some = ids[begin : begin + RECORDS_PER_READ]
        events = await lives_of(session, kind, some, end)
        fold = new_fold(kind, rules)
        for event in events:
            if event.position <= start:
                fold.apply(event)
        before = {id: fold.state_of(kind, id) for id in some}
        await time.pause()
        for event in events:
            if event.position > start:
                fold.apply(event)
        for id in some:
            yield id, before[id], fold.state_of(kind, id)
        await time.pause()


async def show_states(
    session: Session, rules: Rules, principal: Principal, states: Sequence[RecordState | None]
) -> list[RecordState | None]:
    """The states as a principal may see them: None for a record, and nothing for a row, that it may not see."""
    flat = [(part.table, row) for state in states if state is not None for part, row in state.rows]
    if rules.show_rows is None or not flat:
        return list(states)
    told = iter(await rules.show_rows(session, principal, flat))
    found: list[RecordState | None] = []
    for state in states:
        if state is None:
            found.append(None)
            continue
        hidden = [not next(told) for _ in state.rows]
        found.append(None if hidden[0] else state.without(hidden))
    return found


# ── undo ─────────────────────────────────────────────────────────────────────


class Obstacle(Struct, frozen=True):
    """Why a record cannot be restored: an event in the way, if there is one, and the reason."""

    position: int
    id: str
    reason: str


class Restoration(Struct, frozen=True):
    """The rows of one record that an undo puts back or takes away."""

    kind: RecordKind
    id: str
    now: RecordState | None
    then: RecordState | None
    rows: list[RowChange]
    """`before` is the row now, `after` the row that the undo restores."""

    def draft(self) -> Draft:
        """The event that restores the rows."""
        kind = self.kind
        put: dict[str, list[Any]] = {}
        drop: dict[str, list[Any]] = {}
        for row in self.rows:
            if row.after is None:
                key = list(row.key) if isinstance(row.key, tuple) else row.key
                drop.setdefault(row.table.name, []).append(key)
            else:
                put.setdefault(row.table.name, []).append(kind.encode(msgspec.to_builtins(row.after)))
        element = self.id if kind.is_element else None
        return Draft(kind.restored, element, {kind.key: self.id, "drop": drop, "put": put})


async def plan_restoration(
    session: Session,
    rules: Rules,
    kind: RecordKind,
    selected: Sequence[Event],
    pending: Sequence[Event],
) -> tuple[list[Restoration], list[Obstacle]]:
    """What undoing events of one kind restores, and which later events changed the same rows since."""
    positions = {event.position for event in selected}
    ids = sorted({kind.id_of(event) for event in selected})
    restorations: list[Restoration] = []
    obstacles: list[Obstacle] = []
    time = TimeSlice()
    end = (await session.head()).position
    for begin in range(0, len(ids), RECORDS_PER_READ):
        some = ids[begin : begin + RECORDS_PER_READ]
        fold = new_fold(kind, rules)
        wanted: dict[str, dict[tuple[Table, Any], Row | None]] = {id: {} for id in some}
        owners = {part.table: part.owner for part in kind.parts}
        for event in await lives_of(session, kind, some, end, pending):
            is_selected = event.position in positions
            blocked: set[str] = set()
            for change in fold.apply(event):
                # Where two records go in one batch, the event of the one may remove a row of the other.
                id = getattr(change.before or change.after, owners[change.table])
                rows, place = wanted.setdefault(id, {}), (change.table, change.key)
                if is_selected:
                    rows.setdefault(place, change.before)
                elif place in rows:
                    blocked.add(id)
            for id in sorted(blocked):
                reason = f"the {kind.name} {id} was changed by event {event.position} ({event.type}), which stays"
                obstacles.append(Obstacle(event.position, id, reason))
        found = [_restoration(fold, kind, id, rows) for id, rows in wanted.items()]
        restorations += [one for one in found if one is not None]
        await time.pause()
    return restorations, obstacles


def _restoration(
    fold: RowFold, kind: RecordKind, id: str, wanted: Mapping[tuple[Table, Any], Row | None]
) -> Restoration | None:
    now = fold.state_of(kind, id)
    changes = [
        RowChange(table, key, fold.rows[table].get(key), row)
        for (table, key), row in wanted.items()
        if fold.rows[table].get(key) != row
    ]
    if not changes:
        return None
    then = RowFold(fold.rows, lambda event: [])
    for table, rows in fold.rows.items():
        then.rows[table] = {key: row for key, row in rows.items()}
    for change in changes:
        if change.after is None:
            then.rows[change.table].pop(change.key, None)
        else:
            then.rows[change.table][change.key] = change.after
    return Restoration(kind, id, now, then.state_of(kind, id), changes)


async def find_obstacles(
    session: Session,
    rows: Fetching,
    rules: Rules,
    principal: Principal,
    restorations: Sequence[Restoration],
    removed: frozenset[str],
) -> list[Obstacle]:
    """What stands in the way of these restorations besides later events.

    A row that goes must not be used by others, one that comes back needs what it refers to and a free name, and the
    principal must have the right to change the record. `removed` are elements that the same undo removes.
    """
    after = {(row.table, row.key): row.after for one in restorations for row in one.rows}
    found: list[Obstacle] = []
    for one in restorations:
        for state in (one.now, one.then):
            try:
                if state is not None:
                    one.kind.check_restoring(principal, state.main)
            except UgsError as error:
                found.append(Obstacle(0, one.id, error.message))
                break
        found += [Obstacle(0, one.id, reason) for reason in await _reasons(session, rows, rules, one, after, removed)]
    return found


After = Mapping[tuple[Table, Any], Row | None]


async def _reasons(
    session: Session, rows: Fetching, rules: Rules, one: Restoration, after: After, removed: frozenset[str]
) -> list[str]:
    what = f"the {one.kind.name} {one.id}"
    main = one.kind.parts[0].table
    for row in one.rows:
        if row.after is None and row.table is main and one.now is not None:
            gone = {(change.table, change.key) for change in one.rows if change.after is None}
            kept = [state for part, state in one.now.rows if (part.table, part.table.key_of(state)) not in gone]
            if kept or await _is_referred_to(rows, rules, main, row.key, after):
                return [f"{what} is used by what came later, which stays"]
        if row.after is None and one.kind.is_in_use is not None:
            assert row.before is not None
            if await one.kind.is_in_use(session, row.before, removed):
                return [f"{what} is used by elements that stay"]
        if row.after is not None:
            if not await _has_ends(rows, rules, row, after):
                return [f"{what} refers to what was deleted since"]
            if await _is_taken(rows, row, after):
                return [f"{what} would repeat what came later, which stays"]
    return []


async def _is_referred_to(rows: Fetching, rules: Rules, main: Table, key: Any, after: After) -> bool:
    """Whether a row that stays refers to a main row that goes."""
    tables = {part.table for kind in rules.records for part in kind.parts}
    for table in sorted(tables, key=lambda one: one.name):
        for reference in table.references:
            if reference.table == main.name:
                staying = [
                    row
                    for row in await rows.fetch(table, eq(reference.field, key))
                    if _after(after, table, row) is not None
                    and getattr(_after(after, table, row), reference.field) == key
                ]
                if staying:
                    return True
    return False


def _after(after: After, table: Table, row: Row) -> Row | None:
    """A row as it will be."""
    return after.get((table, table.key_of(row)), row)


async def _has_ends(rows: Fetching, rules: Rules, change: RowChange, after: After) -> bool:
    """Whether all rows exist that a row which comes back refers to."""
    tables = {part.table.name: part.table for kind in rules.records for part in kind.parts}
    for reference in change.table.references:
        key = getattr(change.after, reference.field)
        if key is None:
            continue
        other = tables[reference.table]
        if (other, key) in after:
            if after[other, key] is None:
                return False
        elif not await rows.fetch(other, eq(other.key[0], key)):
            return False
    return True


async def _is_taken(rows: Fetching, change: RowChange, after: After) -> bool:
    """Whether a row that stays has the values that must be unique."""
    for unique in change.table.unique:
        values = {name: getattr(change.after, name) for name in unique.fields}
        if None in values.values():  # a null equals nothing
            continue
        same = all_of(unique.when, *(eq(name, value) for name, value in values.items()))
        matches = matcher(same)
        if not matches(change.after):
            continue
        for row in await rows.fetch(change.table, same):
            other = _after(after, change.table, row)
            if change.table.key_of(row) != change.key and other is not None and matches(other):
                return True
    return False
