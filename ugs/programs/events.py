"""Reducers of program events."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ugs.changes import Change, Drop, Patch, Put, Raise
from ugs.events import Event
from ugs.graph.model import COUNTERS, Counter
from ugs.programs.ast import GraphProgram
from ugs.programs.model import COUNTER, PROGRAMS, ProgramRow
from ugs.programs.validation.limits import operation_count
from ugs.reads.filters import eq
from ugs.values import to_text


def row_of(event: Event) -> ProgramRow:
    """The table row of a program, from its event data."""
    data = event.payload
    definition = data["definition"]
    program = msgspec.convert(definition, GraphProgram)
    described = (definition.get("metadata") or {}).get("description")
    return ProgramRow(
        data["id"],
        data["name"],
        described,
        data["owner_id"],
        to_text(definition),
        data["sha256"],
        len(program.statements),
        operation_count(program.statements),
        f"{data['name']}\n{described or ''}".casefold(),
        data["created_at"],
        data["updated_at"],
    )


def store(event: Event) -> list[Change]:
    row = row_of(event)
    return [Put(PROGRAMS, row), Raise(COUNTERS, Counter(COUNTER, row.id))]


def update(event: Event) -> list[Change]:
    row = row_of(event)
    return [Patch(PROGRAMS, row.id, msgspec.structs.asdict(row))]


def delete(event: Event) -> list[Change]:
    return [Drop(PROGRAMS, eq("id", event.payload["id"]))]


REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {
    "ProgramStored": store,
    "ProgramUpdated": update,
    "ProgramDeleted": delete,
}
