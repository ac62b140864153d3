"""Changes: what an event does to rows, as data.

Reducers answer with `Put`, `Patch`, `Drop` and `Raise` and read nothing, so replay is exact on any store. Before
they reach a store they are settled into whole rows (`Writes`), which is all that a store must be able to keep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from ugs.catalog import Row, Table
from ugs.reads.where import Where
from ugs.values import JsonText, from_text, to_text


class Put(Struct, frozen=True, gc=False):
    """The row is there, replacing one with the same key."""

    table: Table
    row: Row


class Patch(Struct, frozen=True, gc=False):
    """Some fields of the row with this key become different; without such a row nothing happens."""

    table: Table
    key: Any
    set: Mapping[str, Any] = {}
    merge: Mapping[str, Mapping[str, Any]] = {}
    """Keys to lay over a JSON object field."""
    unset: Mapping[str, tuple[str, ...]] = {}
    """Keys to take out of a JSON object field."""


class Drop(Struct, frozen=True, gc=False):
    """All rows that meet the condition are gone; with `into`, the fields both tables share stay behind there."""

    table: Table
    where: Where
    into: Table | None = None


class Raise(Struct, frozen=True, gc=False):
    """The row is there; where one was before, each field outside the key keeps the greater value."""

    table: Table
    row: Row


Change = Put | Patch | Drop | Raise


class TableWrites(Struct):
    """Whole rows to store in one table."""

    inserts: list[Row] = field(default_factory=list)
    updates: list[Row] = field(default_factory=list)
    deletes: list[Any] = field(default_factory=list)
    """Keys of rows that were there."""
    before: dict[Any, Row] = field(default_factory=dict)
    """The former row by key, for updates and deletes."""


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


class NewElements(Struct, frozen=True):
    """What some commands come to that do nothing but add elements, an event and a row for each."""

    type: str
    """Of the events, whose elements are the keys."""
    data: Sequence[JsonText]
    table: Table
    keys: Sequence[str]
    rows: Sequence[Row]
    sizes: Sequence[int]
    """How many elements each command adds."""
