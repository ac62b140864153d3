"""Codec between rows of the catalog or events and tuples of column values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import astuple

from ugs.events import GENESIS_CRC, Event, Head, Idem, Tx
from ugs.tables import Field, Kind, Row, Table
from ugs.values import JsonText, to_text, whole

Values = Sequence[Any]
"""The values of one stored row, in the order of its columns."""

_FROM_STORE: dict[Kind, Callable[[Any], Any]] = {Kind.REAL: whole, Kind.BOOLEAN: bool}
_TO_STORE: dict[Kind, Callable[[Any], Any]] = {Kind.REAL: float}


@lru_cache(maxsize=1024)
def compile_maker(table: Table, places: tuple[int, ...]) -> Callable[[Values], Row]:
    """Generate a function that converts a record to a row, with the fields at these columns.

    Unrolled once per table: a loop over fields would cost several times as much for each row.
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


def get_reader(table: Table) -> Callable[[Sequence[Values]], list[Row]]:
    """A function that converts records to rows."""
    make, of_values = table.row, compile_maker(table, tuple(range(len(table.fields))))
    if _list_changes(table, _FROM_STORE):
        return lambda records: list(map(of_values, records))
    return lambda records: [make(*record) for record in records]


def get_writer(table: Table) -> Callable[[Row], tuple[Any, ...]]:
    """A function that converts a row to its stored values."""
    changes = _list_changes(table, _TO_STORE)
    return astuple if not changes else lambda row: tuple(_apply_changes(astuple(row), changes))


def is_changed(field: Field) -> bool:
    """Whether values of a field are converted when they are read."""
    return field.kind in _FROM_STORE


def decode_value(field: Field, value: Any) -> Any:
    """Convert one stored value."""
    return value if value is None else _FROM_STORE.get(field.kind, _return_value)(value)


def _return_value(value: Any) -> Any:
    return value


Change = tuple[int, Callable[[Any], Any]]


def _list_changes(table: Table, by_kind: dict[Kind, Callable[[Any], Any]]) -> list[Change]:
    return [(place, by_kind[field.kind]) for place, field in enumerate(table.fields) if field.kind in by_kind]


def _apply_changes(values: Values, changes: list[Change]) -> list[Any]:
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


def encode_events(events: Sequence[Event]) -> list[Sequence[Any]]:
    """Events as columns of values; `Event` declares its fields in the order of the columns."""
    columns: list[Sequence[Any]] = list(zip(*map(astuple, events), strict=True))
    for place in _STRUCTURED if columns else ():
        if any(columns[place]):
            columns[place] = [None if value is None else to_text(value) for value in columns[place]]
    return columns


def decode_event(values: Values) -> Event:
    """Convert a record of the log to an event."""
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


def decode_head(values: Values) -> Head:
    """The head of the log, from the last event's position, timestamp and checksum."""
    position, timestamp, crc = values
    return Head(position, timestamp, crc or GENESIS_CRC, timestamp)
