"""Changes between two places in time, and their reversal, in a store that this process has opened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from ugs.graph.api import Graph
from ugs.graph.changes import MAX_PAGE_SIZE, ChangeFilter, ElementChange
from ugs.graph.undo import Undo
from ugs.log.at import At
from ugs_gateway.cli.clients import ChangeResult, Record


async def list_all_changes(
    graph: Graph, start: int | datetime, end: int | datetime | None, element: str | None
) -> list[Record]:
    """All changes, as records."""
    wanted = ChangeFilter() if element is None else ChangeFilter(ids=frozenset({element}))
    until = None if end is None else _at(end)
    page = await graph.changes(_at(start), until, wanted, MAX_PAGE_SIZE)
    found = list(page.changes)
    while page.has_more:
        until = At(position=page.end)
        page = await graph.changes(_at(start), until, wanted, MAX_PAGE_SIZE, page.changes[-1].cursor)
        found += page.changes
    return [to_record(change) for change in found]


async def undo_events(
    graph: Graph, selection: str, positions: Sequence[int], preview: bool, key: str | None
) -> ChangeResult:
    """The effect of an undo, or of its preview."""
    command = to_command(selection, positions)
    if preview:
        plan = await graph.preview_undo(command)
        conflicts = [{"seq": one.position, "id": one.element, "message": one.reason} for one in plan.conflicts]
        changes = [to_record(change) for change in plan.changes]
        return ChangeResult({"done": False, "changes": changes, "conflicts": conflicts, "events": 0})
    done = await graph.undo(command, key)
    warnings = [msgspec.structs.asdict(warning) for warning in done.warnings]
    return ChangeResult({"done": True, "changes": [], "conflicts": [], "events": len(done.events)}, warnings)


def to_command(selection: str, positions: Sequence[int]) -> Undo:
    """The command of a selection."""
    if selection == "after":
        return Undo(after=positions[0])
    return Undo(transaction=positions[0]) if selection == "transaction" else Undo(positions=tuple(positions))


def to_record(change: ElementChange) -> Record:
    """A change as a record."""
    return {
        "id": change.id,
        "element": change.element_kind,
        "kind": change.kind.value.lower(),
        "fields": change.fields,
        "before": None if change.before is None else change.before.as_json(),
        "after": None if change.after is None else change.after.as_json(),
    }


def _at(moment: int | datetime) -> At:
    return At(position=moment) if isinstance(moment, int) else At.time(moment)
