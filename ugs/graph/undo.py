"""Undo: reverse events of the graph and of records by new events.

The selected events are reversed element by element: each element returns to its state before the first of them. Records
(`ugs.records`) are reversed row by row, so that what happened since to other rows of the same record stays. Nothing is
removed from the log, so an undo is an ordinary transaction that can be undone too.

An undo is refused if anything happened later to what it would reverse as well, if the selection contains events that
cannot be reversed or that the principal may not see, or if others need what would go. `plan_undo` computes all that
without changing anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from msgspec import UNSET, Struct

from ugs.catalog import Rules
from ugs.errors import InvalidArgument, InvalidSyntax, LimitExceeded, PositionNotFound, UndoConflict
from ugs.events import Event
from ugs.feature import Command, CommandWarning, Decision
from ugs.graph import commands as single
from ugs.graph.batches import OPERATIONS_PER_CHECK, content_from_event, decide_operation, restore_element
from ugs.graph.changes import (
    ELEMENT_EVENTS,
    ELEMENTS_PER_READ,
    ElementChange,
    ElementState,
    compare_states,
    state_after,
)
from ugs.graph.commands import Delete, Update
from ugs.graph.events import ELEMENTS, prepare
from ugs.graph.model import EDGES, Edge, Node
from ugs.graph.record_history import (
    Fetching,
    Obstacle,
    Restoration,
    events_between,
    find_obstacles,
    kinds_by_type,
    plan_restoration,
    show_states,
)
from ugs.graph.versions import difference
from ugs.identity import LOCAL, Principal
from ugs.reads.filters import any_of, in_
from ugs.records import RecordState
from ugs.storage import Session
from ugs.support.time_slice import TimeSlice
from ugs.unit_of_work import UnitOfWork

MAX_EVENTS = 10_000
"""Events that one undo reverses at most."""
INERT = frozenset({"EdgeCounterSet"})
"""Event types that an undo passes over. A counter stays where it is, so that no generated id is given twice."""
UNRESTORED = frozenset({"created", "modified"})
"""Fields that an undo does not restore: the new events made the element what it is."""
MAX_CONFLICTS = 20
"""Conflicts that an error names at most; a preview shows all."""


class Undo(Command, frozen=True):
    """Reverse events, atomically: a range of positions, single events, or the transaction that has an event."""

    GENERATED_FIELDS = frozenset({"principal"})

    after: int | None = None
    until: int | None = None
    """The events with positions in (after, until]."""
    positions: tuple[int, ...] = ()
    transaction: int | None = None
    """The position of any event of the transaction."""
    principal: Principal = LOCAL.principal
    """On whose behalf: only events that they may see are undone."""


class UndoObstacle(Struct, frozen=True):
    """Why the selection cannot be undone: a later event outside it, or one in it that is no change of an element."""

    position: int
    element: str | None
    reason: str


class UndoPlan(Struct, frozen=True):
    """The effect of an undo: what would change, or why it is refused."""

    changes: list[ElementChange]
    """By id; `before` is the state now, `after` the state that the undo restores."""
    conflicts: list[UndoObstacle]
    positions: list[int]
    """The positions of the events that are reversed."""
    kept_edges: list[ElementState]
    """Edges that are older than a node that goes, to which they lead: they go with it and are added again."""
    restorations: list[Restoration]
    """The rows of records that change."""

    @property
    def element_changes(self) -> list[ElementChange]:
        return [change for change in self.changes if change.element is not None]


async def plan_undo(session: Session, rules: Rules, command: Undo) -> UndoPlan:
    """What an undo would do now; reads only. Raises a coded error if the selection itself is not valid."""
    return await _plan(session, session, rules, command, ())


async def undo(command: Undo, uow: UnitOfWork) -> Decision:
    """Decide an undo: stages the reversal of each element, or raises `UndoConflict`."""
    # Events decided earlier in the same group are not in the log yet.
    plan = await _plan(uow.session, uow, uow.catalog.rules, command, uow.events)
    if plan.conflicts:
        raise UndoConflict(
            f"Nothing was undone: {plan.conflicts[0].reason}",
            conflicts=[_describe(conflict) for conflict in plan.conflicts[:MAX_CONFLICTS]],
            total=len(plan.conflicts),
        )
    removed = [change.id for change in plan.element_changes if change.after is None]
    await prepare(uow, [change.id for change in plan.element_changes], removed)
    return Decision([], await _reverse(plan, uow))


def _describe(conflict: UndoObstacle) -> dict[str, Any]:
    return {"position": conflict.position, "element": conflict.element, "reason": conflict.reason}


# ── the selection ────────────────────────────────────────────────────────────


async def _select(session: Session, command: Undo, pending: Sequence[Event] = ()) -> list[Event]:
    """The selected events, oldest first."""
    given = [command.after is not None or command.until is not None, bool(command.positions)]
    if [*given, command.transaction is not None].count(True) != 1:
        raise InvalidSyntax("an undo takes a range, events, or a transaction: exactly one of them")
    end = (await session.head()).position + len(pending)
    if command.transaction is not None:
        return await _select_transaction(session, _check_position(command.transaction, end, 1), pending)
    if command.positions:
        return await _select_events(session, command.positions, end, pending)
    start = _check_position(command.after or 0, end)
    until = _check_position(end if command.until is None else command.until, end)
    if start > until:
        raise InvalidArgument(f"the range runs backwards: from {start} to {until}", argument="after")
    _check_count(until - start)
    return await _read_range(session, start, until, pending)


async def _select_events(session: Session, positions: Sequence[int], end: int, pending: Sequence[Event]) -> list[Event]:
    _check_count(len(positions))
    wanted = sorted({_check_position(position, end, 1) for position in positions})
    selected = []
    for position in wanted:
        selected += await _read_range(session, position - 1, position, pending)
    return selected


async def _select_transaction(session: Session, position: int, pending: Sequence[Event]) -> list[Event]:
    (event,) = await _read_range(session, position - 1, position, pending)
    if event.tx is None:
        return [event]
    start = position - event.tx.index - 1
    _check_count(event.tx.size)
    return await _read_range(session, start, start + event.tx.size, pending)


async def _read_range(session: Session, start: int, until: int, pending: Sequence[Event]) -> list[Event]:
    events = [event async for chunk in events_between(session, start, until) for event in chunk]
    return [*events, *(event for event in pending if start < event.position <= until)]


def _check_position(position: int, end: int, begin: int = 0) -> int:
    if not begin <= position <= end:
        raise PositionNotFound(f"the log has positions {begin} to {end}, not {position}", position=position, end=end)
    return position


def _check_count(count: int) -> None:
    if count > MAX_EVENTS:
        raise LimitExceeded(
            f"the selection has {count} events, one undo reverses at most {MAX_EVENTS}: undo the newest part first",
            limit=MAX_EVENTS,
        )


# ── the plan ─────────────────────────────────────────────────────────────────


async def _plan(session: Session, rows: Fetching, rules: Rules, command: Undo, pending: Sequence[Event]) -> UndoPlan:
    """What to restore, and what stands in the way: per element the selected events must be its newest ones."""
    selected = await _select(session, command, pending)
    positions = {event.position for event in selected}
    conflicts = await _check_selected(session, rules, command, selected)
    if conflicts:
        return UndoPlan([], conflicts, sorted(positions), [], [])
    first: dict[str, int] = {}
    for event in selected:
        if event.type in ELEMENTS and event.element is not None:
            first.setdefault(event.element, event.position)
    changes: list[ElementChange] = []
    async for id, events in _lives(session, sorted(first), pending):
        conflicts += [
            UndoObstacle(event.position, id, f"{id} was changed by event {event.position} ({event.type}), which stays")
            for event in events
            if event.position > first[id] and event.position not in positions
        ]
        end = events[-1].position if events else 0
        found = compare_states(id, state_after(id, events, end), state_after(id, events, first[id] - 1))
        changes += [change for change in found if not UNRESTORED.issuperset(change.fields)]
    kept: list[ElementState] = []
    since = {change.id: first[change.id] for change in changes}
    edges = {edge.id: edge for edge in await _attached_edges(rows, changes)}
    async for id, events in _lives(session, sorted(edges), pending):
        edge = edges[id]
        if edge.seq > min(since.get(end, edge.seq) for end in _ends(edge)):
            conflicts.append(UndoObstacle(edge.seq, id, f"the edge {id} was added since to a node that would go"))
        elif (state := state_after(id, events, events[-1].position)) is not None:
            kept.append(state)
    removed = frozenset(change.id for change in changes if change.after is None)
    restorations, more = await _plan_records(session, rows, rules, command, selected, pending, removed)
    conflicts += more
    told = [*changes, *await _show(session, rules, command.principal, restorations)]
    return UndoPlan(sorted(told, key=lambda change: change.place), conflicts, sorted(positions), kept, restorations)


async def _check_selected(
    session: Session, rules: Rules, command: Undo, selected: Sequence[Event]
) -> list[UndoObstacle]:
    """The selected events that cannot be undone, or not by this principal."""
    reversible = {*ELEMENTS, *INERT, *rules.inert, *kinds_by_type(rules)}
    assert rules.audiences_of is not None
    audiences = await rules.audiences_of(session, selected)
    refused = [
        event
        for event, audience in zip(selected, audiences, strict=True)
        if event.type not in reversible or not audience(command.principal)
    ]
    # Neither the type nor the element of an event: not everybody may see it. Of a batch not even its extent.
    if refused and command.transaction is not None:
        text = f"event {command.transaction} or its batch is no change that you can undo"
        return [UndoObstacle(command.transaction, None, text)]
    return [
        UndoObstacle(event.position, None, f"event {event.position} is no change that you can undo")
        for event in refused
    ]


async def _plan_records(
    session: Session,
    rows: Fetching,
    rules: Rules,
    command: Undo,
    selected: Sequence[Event],
    pending: Sequence[Event],
    removed: frozenset[str],
) -> tuple[list[Restoration], list[UndoObstacle]]:
    """What to restore of records, and what stands in the way."""
    restorations: list[Restoration] = []
    obstacles: list[Obstacle] = []
    for kind in rules.records:
        ours = [event for event in selected if event.type in kind.types]
        if ours:
            some, more = await plan_restoration(session, rules, kind, ours, pending)
            restorations += some
            obstacles += more
    if not obstacles:
        obstacles = await find_obstacles(session, rows, rules, command.principal, restorations, removed)
    first = selected[0].position if selected else 0
    return restorations, [UndoObstacle(one.position or first, one.id, one.reason) for one in obstacles]


async def _show(
    session: Session, rules: Rules, principal: Principal, restorations: Sequence[Restoration]
) -> list[ElementChange]:
    """The changes of records that a principal may see."""
    now = await show_states(session, rules, principal, [one.now for one in restorations])
    then = await show_states(session, rules, principal, [one.then for one in restorations])
    found = [ElementChange(one.id, *states) for one, *states in zip(restorations, now, then, strict=True)]
    return [
        change
        for change in found
        if (change.before is not None or change.after is not None) and not UNRESTORED.issuperset(change.fields)
    ]


async def _lives(
    session: Session, ids: Sequence[str], pending: Sequence[Event]
) -> AsyncIterator[tuple[str, list[Event]]]:
    """Each element with all its events, oldest first."""
    end = (await session.head()).position
    time = TimeSlice()
    for begin in range(0, len(ids), ELEMENTS_PER_READ):
        lives: dict[str, list[Event]] = {id: [] for id in ids[begin : begin + ELEMENTS_PER_READ]}
        async for events in events_between(session, 0, end, ELEMENT_EVENTS, frozenset(lives)):
            for event in events:
                lives[event.element or ""].append(event)
            await time.pause()
        for event in pending:
            if event.element in lives and event.type in ELEMENTS:
                lives[event.element].append(event)
        for life in lives.items():
            yield life


async def _attached_edges(rows: Fetching, changes: Sequence[ElementChange]) -> list[Edge]:
    """The edges that go with a node that is removed, although they are not part of the undo."""
    nodes = [change.id for change in changes if change.after is None and isinstance(change.element, Node)]
    if not nodes:
        return []
    ours = {change.id for change in changes if isinstance(change.element, Edge)}
    edges = await rows.fetch(EDGES, any_of(in_("source", nodes), in_("target", nodes)))
    return [edge for edge in edges if edge.id not in ours]


# ── the reversal ─────────────────────────────────────────────────────────────


async def _reverse(plan: UndoPlan, uow: UnitOfWork) -> list[CommandWarning]:
    """Stage the reversal: edges go before nodes do, and nodes return before edges do."""
    warnings: list[CommandWarning] = []
    time = TimeSlice()
    changes = sorted(plan.element_changes, key=_rank)
    going = sum(change.after is None for change in changes)
    for index, change in enumerate(changes):
        if index == going:
            await _restore_records(plan, uow)
        if index % OPERATIONS_PER_CHECK == 0:
            await time.pause()
        decision = await _reverse_one(change, uow)
        await uow.stage(decision.drafts)
        warnings += decision.warnings
    if going == len(changes):
        await _restore_records(plan, uow)
    for state in sorted(plan.kept_edges, key=lambda state: state.element.seq):  # type: ignore[union-attr]
        decision = await restore_element(state.element, content_from_event(state.content), uow)
        await uow.stage(decision.drafts)
        warnings += decision.warnings
    return warnings


async def _restore_records(plan: UndoPlan, uow: UnitOfWork) -> None:
    """Stage what changes in records: between the elements that go and those that come back, which may need a type."""
    await uow.stage(one.draft() for one in plan.restorations)
    rules = uow.catalog.rules
    if plan.restorations and rules.after_restoring is not None:
        await rules.after_restoring(uow, [row for one in plan.restorations for row in one.rows])


def _rank(change: ElementChange) -> tuple[int, int, str]:
    """Removed edges, removed nodes, then nodes, then edges in the order in which they were first added."""
    state = change.state
    assert isinstance(state, ElementState)
    is_edge = isinstance(state.element, Edge)
    if change.after is None:
        return (0 if is_edge else 1, 0, change.id)
    return (3, state.element.seq, change.id) if isinstance(state.element, Edge) else (2, 0, change.id)


async def _reverse_one(change: ElementChange, uow: UnitOfWork) -> Decision:
    now, then = change.before, change.after
    assert not isinstance(now, RecordState) and not isinstance(then, RecordState)
    if then is None:
        if await single.find_element(uow, change.id) is None:
            return Decision([])  # an edge that went with its node
        return await decide_operation(Delete(id=change.id), uow)
    # A changed edge may have gone with a node that was not there when the edge was made.
    if now is None or await single.find_element(uow, change.id) is None:
        return await restore_element(then.element, content_from_event(then.content), uow)
    if isinstance(now.element, Edge) and isinstance(then.element, Edge) and _ends(now.element) != _ends(then.element):
        await uow.stage((await decide_operation(Delete(id=change.id), uow)).drafts)
        return await restore_element(then.element, content_from_event(then.content), uow)
    return await decide_operation(_update(change), uow)


def _ends(edge: Edge) -> tuple[str, str]:
    return edge.source, edge.target


def _update(change: ElementChange) -> Update:
    """The update that turns the state now into the earlier one."""
    before, after = change.before, change.after
    assert isinstance(before, ElementState) and isinstance(after, ElementState)
    now, then = before.element, after.element
    told = difference(now, then)
    content: Any = UNSET
    if before.content != after.content:
        content = content_from_event(after.content)
    return Update(
        id=change.id,
        kind="node" if isinstance(then, Node) else "edge",
        type=told.get("type", UNSET),
        properties=told.get("properties", {}),
        remove=tuple(told.get("removed", ())),
        data=told.get("data", UNSET),
        weight=told.get("weight", UNSET),
        content=content,
    )


DECIDERS: dict[type[Command], Any] = {Undo: undo}
