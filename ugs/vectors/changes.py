"""Which rows of a table a stretch of the log has touched, told from the events alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ugs.catalog import Table
from ugs.changes import Change, Drop, Patch
from ugs.events import Event
from ugs.reads.where import Compare, Op, Where, conditions

Reduce = Callable[[Event], list[Change]]


class Unclear(Exception):
    """A change names rows by something else than their key."""


def touched_keys(table: Table, events: Iterable[Event], reduce: Reduce) -> set[Any] | None:
    """The keys of rows that came, changed or went; None when they cannot be told."""
    try:
        return {
            key for event in events for change in reduce(event) if change.table is table for key in _keys(table, change)
        }
    except Unclear:
        return None


def _keys(table: Table, change: Change) -> Iterator[Any]:
    if isinstance(change, Drop):
        yield from _named_by(table, change.where)
    elif isinstance(change, Patch):
        yield change.key
    else:
        yield table.key_of(change.row)


def _named_by(table: Table, where: Where) -> Iterable[Any]:
    """The keys that a condition lists."""
    for part in conditions(where):
        if isinstance(part, Compare) and (part.field,) == table.key and part.op in (Op.EQ, Op.IN):
            return (part.value,) if part.op is Op.EQ else part.value
    raise Unclear
