"""Changes: the effect of an event on rows, as data.

Reducers return `Put`, `Patch`, `Drop` and `Raise` and read nothing, so replay is exact on any store. The unit of work
resolves them into whole rows (`Writes`), which is all that a store must be able to write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from ugs.events import NewEvents
from ugs.reads.filters import Where
from ugs.tables import Row, Table
from ugs.values import JsonText, from_text, to_text


class Put(Struct, frozen=True, gc=False):
    """Insert the row, or replace the one with the same key."""

    table: Table
    row: Row


class Patch(Struct, frozen=True, gc=False):
    """Change some fields of the row with this key; no effect without such a row."""

    table: Table
    key: Any
    set: Mapping[str, Any] = {}
    merge: Mapping[str, Mapping[str, Any]] = {}
    """Keys to set in a JSON object field."""
    unset: Mapping[str, tuple[str, ...]] = {}
    """Keys to remove from a JSON object field."""


class Drop(Struct, frozen=True, gc=False):
    """Delete all rows that meet the condition; with `into`, their shared fields are put into that table."""

    table: Table
    where: Where
    into: Table | None = None


class Raise(Struct, frozen=True, gc=False):
    """Insert the row; if the key exists, each field outside the key becomes the greater of both values."""

    table: Table
    row: Row


Change = Put | Patch | Drop | Raise


Step = tuple[int, Any, Row | None]
"""A change of a row: the log position of its event, the key, and the row from then on; None for a deleted one."""


class TableWrites(Struct):
    """Whole rows to store in one table."""

    inserts: list[Row] = field(default_factory=list)
    updates: list[Row] = field(default_factory=list)
    deletes: list[Any] = field(default_factory=list)
    """Keys of existing rows."""
    before: dict[Any, Row] = field(default_factory=dict)
    """The former row by key, for updates and deletes."""
    steps: list[Step] = field(default_factory=list)
    """Every change of a versioned table in order, also those that later ones undo; only for sessions with
    `keeps_history`."""


Writes = dict[Table, TableWrites]


def patched(row: Row, patch: Patch) -> Row:
    """The row after the patch."""
    changed = dict(patch.set)
    for name, laid_over in patch.merge.items():
        changed[name] = _merged(changed.get(name, getattr(row, name)), laid_over)
    for name, keys in patch.unset.items():
        changed[name] = _without(changed.get(name, getattr(row, name)), keys)
    return msgspec.structs.replace(row, **changed)


def _merged(text: str, laid_over: Mapping[str, Any]) -> JsonText:
    return to_text({**from_text(text), **laid_over})


def _without(text: str, keys: tuple[str, ...]) -> JsonText:
    return to_text({key: value for key, value in from_text(text).items() if key not in keys})


def raised(table: Table, old: Row, new: Row) -> Row:
    """Field by field the greater of two rows with one key."""
    values = (
        new_value if name in table.key else max(getattr(old, name), new_value)
        for name, new_value in zip(table.names, msgspec.structs.astuple(new), strict=True)
    )
    return table.row(*values)


def projected(row: Row, table: Table) -> Row:
    """A row of another table made of the fields it shares with this one."""
    return table.row(*(getattr(row, name) for name in table.names))


class NewElements(NewEvents, frozen=True):
    """The result of a batch of commands that only add elements: one event and one row per element."""

    table: Table
    rows: Sequence[Row]
