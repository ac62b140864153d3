"""Rows as JSON objects and back, for snapshots: the seed's keys for nodes and edges, every column for all tables.

A column is written under its stored name; the two ends of an arc are `from` and `to`, as in the seed. JSON columns
are written as JSON and come back with the same characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sys import intern
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ugs.catalog import Arc, Columns, Field, Kind, Row, Table

NULL = Raw(b"null")
KINDS: dict[Kind, Any] = {
    Kind.TEXT: str,
    Kind.INTEGER: int,
    Kind.REAL: int | float,
    Kind.BOOLEAN: bool,
    Kind.JSON: Raw,
    Kind.VECTOR: bytes,
}


def json_key(table: Table, field: Field) -> str:
    """How a column is called in a snapshot."""
    if isinstance(table.shape, Arc):
        ends = {table.shape.source: "from", table.shape.target: "to"}
        return ends.get(field.name, field.stored_as)
    return field.stored_as


class RowText:
    """Writes and reads the rows of one table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        names = [f"field{number}" for number, _ in enumerate(table.fields)]
        self.wire: type[Struct] = msgspec.defstruct(
            "Wire",
            [(name, _kind(field)) for name, field in zip(names, table.fields, strict=True)],
            rename=dict(zip(names, (json_key(table, field) for field in table.fields), strict=True)),
            gc=False,
        )
        self.to_wire: Callable[[Row], Struct] = _compiled(table, self.wire)
        self.to_columns: Callable[[list[Struct]], Columns] = _compiled_columns(table)
        self._encode_lines = msgspec.json.Encoder().encode_lines

    def encode(self, rows: Iterable[Row]) -> bytes:
        """Rows as the inside of a JSON array, one on each line."""
        # Canonical JSON has no line breaks of its own, so every one of them stands behind a row.
        return self._encode_lines(list(map(self.to_wire, rows)))[:-1].replace(b"\n", b",\n")


def _kind(field: Field) -> Any:
    kind = KINDS[field.kind]
    return kind | None if field.nullable and field.kind is not Kind.JSON else kind


def _writing(field: Field) -> str:
    value = f"row.{field.name}"
    if field.kind is not Kind.JSON:
        return value
    return f"NULL if {value} is None else Raw({value})" if field.nullable else f"Raw({value})"


def _reading(number: int, field: Field) -> str:
    value = f"wire.field{number}"
    if field.kind is Kind.TEXT and field.nullable:
        # Optional texts are labels: thousands of rows share one.
        return f"None if (text := {value}) is None else intern(text)"
    if field.kind is not Kind.JSON:
        return value
    text = f"str({value}, 'utf-8')"
    return f"None if (text := {text}) == 'null' else text" if field.nullable else text


def _compiled(table: Table, make: type[Struct]) -> Callable[[Row], Struct]:
    """A function that passes each field of a row to the constructor of another struct.

    Generated once per table from the catalog's own field names: a loop over fields would cost five times as much for
    each of a million rows.
    """
    values = ", ".join(_writing(field) for field in table.fields)
    function: Callable[[Row], Struct] = eval(f"lambda row: make({values})", {"make": make, "Raw": Raw, "NULL": NULL})
    return function


def _compiled_columns(table: Table) -> Callable[[list[Struct]], Columns]:
    """A function that lists the values of many rows field by field, generated for the same reason."""
    columns = ", ".join(f"[{_reading(number, field)} for wire in wires]" for number, field in enumerate(table.fields))
    function: Callable[[list[Struct]], Columns] = eval(f"lambda wires: [{columns}]", {"intern": intern})
    return function
