"""Rows on their way in and out: structs of the catalog and events as tuples of column values, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import astuple

from ugs.catalog import Field, Kind, Row, Table
from ugs.events import GENESIS_CRC, Event, Head, Idem, Tx
from ugs.values import JsonText, to_text, whole

Values = Sequence[Any]
"""The values of one stored row, in the order of its columns."""

_FROM_STORE: dict[Kind, Callable[[Any], Any]] = {Kind.REAL: whole, Kind.BOOLEAN: bool}
_TO_STORE: dict[Kind, Callable[[Any], Any]] = {Kind.REAL: float}


@lru_cache(maxsize=1024)
def maker_of(table: Table, places: tuple[int, ...]) -> Callable[[Values], Row]:
    """A function that makes a row of what the database answered, with the fields at these places of it.

    Written out once per table: a loop over fields would cost several times as much for each row.
    """
    values = ", ".join(
        _expression(field, f"values[{place}]") for field, place in zip(table.fields, places, strict=True)
    )
    names = {"make": table.row, **{kind.value: change for kind, change in _FROM_STORE.items()}}
    function: Callable[[Values], Row] = eval(f"lambda values: make({values})", names)
    return function


def _expression(field: Field, value: str) -> str:
    if field.kind not in _FROM_STORE:
        return value
    changed = f"{field.kind.value}({value})"
    return f"(None if {value} is None else {changed})" if field.nullable else changed


def reader_of(table: Table) -> Callable[[Sequence[Values]], list[Row]]:
    """A function that makes the table's rows of what the database answered."""
    make, of_values = table.row, maker_of(table, tuple(range(len(table.fields))))
    if _changes(table, _FROM_STORE):
        return lambda records: list(map(of_values, records))
    return lambda records: [make(*record) for record in records]


def writer_of(table: Table) -> Callable[[Row], tuple[Any, ...]]:
    """A function that gives a row's values as they are stored."""
    changes = _changes(table, _TO_STORE)
    return astuple if not changes else lambda row: tuple(_changed(astuple(row), changes))


def is_changed(field: Field) -> bool:
    """Whether a row has a value in another form than the database answers it."""
    return field.kind in _FROM_STORE


def value_from_store(field: Field, value: Any) -> Any:
    """One value as a row would have it."""
    return value if value is None else _FROM_STORE.get(field.kind, _same)(value)


def _same(value: Any) -> Any:
    return value


Change = tuple[int, Callable[[Any], Any]]


def _changes(table: Table, by_kind: dict[Kind, Callable[[Any], Any]]) -> list[Change]:
    return [(place, by_kind[field.kind]) for place, field in enumerate(table.fields) if field.kind in by_kind]


def _changed(values: Values, changes: list[Change]) -> list[Any]:
    changed = list(values)
    for place, change in changes:
        if changed[place] is not None:
            changed[place] = change(changed[place])
    return changed


# ── events ───────────────────────────────────────────────────────────────────

EVENT_COLUMNS: tuple[tuple[str, Kind], ...] = (
    ("position", Kind.INTEGER),
    ("id", Kind.TEXT),
    ("timestamp", Kind.INTEGER),
    ("type", Kind.TEXT),
    ("data", Kind.JSON),
    ("element", Kind.TEXT),
    ("version", Kind.INTEGER),
    ("tx", Kind.JSON),
    ("idem", Kind.JSON),
    ("by", Kind.TEXT),
    ("extra", Kind.JSON),
    ("crc", Kind.TEXT),
)

_STRUCTURED = [place for place, (name, _) in enumerate(EVENT_COLUMNS) if name in ("tx", "idem")]
_decode_tx = msgspec.json.Decoder(Tx).decode
_decode_idem = msgspec.json.Decoder(Idem).decode


def event_columns(events: Sequence[Event]) -> list[Sequence[Any]]:
    """Events as the values of their columns, column by column: an event has its fields in the same order."""
    columns: list[Sequence[Any]] = list(zip(*map(astuple, events), strict=True))
    for place in _STRUCTURED if columns else ():
        if any(columns[place]):
            columns[place] = [None if value is None else to_text(value) for value in columns[place]]
    return columns


def event_from(values: Values) -> Event:
    """The event that was stored as these values."""
    position, id, timestamp, type, data, element, version, tx, idem, by, extra, crc = values
    return Event(
        position=position,
        id=id,
        timestamp=timestamp,
        type=type,
        data=JsonText(data),
        element=element,
        version=version,
        tx=None if tx is None else _decode_tx(tx),
        idem=None if idem is None else _decode_idem(idem),
        by=by,
        extra=extra,
        crc=crc,
    )


def head_from(values: Values) -> Head:
    """The end of the log, from the last event's position, timestamp and checksum."""
    position, timestamp, crc = values
    return Head(position, timestamp, crc or GENESIS_CRC, timestamp)
