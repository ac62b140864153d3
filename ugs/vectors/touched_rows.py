"""The rows of a table that a range of events changed, derived from the events alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ugs.changes import Change, Drop, Patch
from ugs.events import Event
from ugs.reads.filters import Compare, Op, Where, conditions
from ugs.tables import Table

Reduce = Callable[[Event], list[Change]]


class KeysUnknown(Exception):
    """A change selects rows by something other than their key."""


def touched_keys(table: Table, events: Iterable[Event], reduce: Reduce) -> set[Any] | None:
    """The keys of rows that were added, changed or deleted; None if a change does not name its keys."""
    try:
        return {
            key for event in events for change in reduce(event) if change.table is table for key in _keys(table, change)
        }
    except KeysUnknown:
        return None


def _keys(table: Table, change: Change) -> Iterator[Any]:
    if isinstance(change, Drop):
        yield from _listed_keys(table, change.where)
    elif isinstance(change, Patch):
        yield change.key
    else:
        yield table.key_of(change.row)


def _listed_keys(table: Table, where: Where) -> Iterable[Any]:
    """The keys that a condition lists."""
    for part in conditions(where):
        if isinstance(part, Compare) and (part.field,) == table.key and part.op in (Op.EQ, Op.IN):
            return (part.value,) if part.op is Op.EQ else part.value
    raise KeysUnknown
