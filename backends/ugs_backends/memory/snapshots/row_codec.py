"""Codec of rows as JSON objects for snapshots: the seed's keys for nodes and edges, all columns for every table.

A column is written under its stored name; the ends of an arc are `from` and `to`, as in the seed. JSON columns are
embedded as JSON and decode to the same characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sys import intern
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ugs.catalog import Columns
from ugs.tables import Arc, Field, Kind, Row, Table

NULL = Raw(b"null")
KINDS: dict[Kind, Any] = {
    Kind.TEXT: str,
    Kind.INTEGER: int,
    Kind.REAL: int | float,
    Kind.BOOLEAN: bool,
    Kind.JSON: Raw,
    Kind.VECTOR: bytes,
}


def to_json_key(table: Table, field: Field) -> str:
    """The key of a column in a snapshot."""
    if isinstance(table.shape, Arc):
        ends = {table.shape.source: "from", table.shape.target: "to"}
        return ends.get(field.name, field.stored_as)
    return field.stored_as


class RowText:
    """Encodes and decodes the rows of one table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        names = [f"field{number}" for number, _ in enumerate(table.fields)]
        self.wire: type[Struct] = msgspec.defstruct(
            "Wire",
            [(name, _wire_type(field)) for name, field in zip(names, table.fields, strict=True)],
            rename=dict(zip(names, (to_json_key(table, field) for field in table.fields), strict=True)),
            gc=False,
        )
        self.to_wire: Callable[[Row], Struct] = _generate_row_converter(table, self.wire)
        self.to_columns: Callable[[list[Struct]], Columns] = _generate_column_converter(table)
        self._encode_lines = msgspec.json.Encoder().encode_lines

    def encode(self, rows: Iterable[Row]) -> bytes:
        """Encode rows as the elements of a JSON array, one per line."""
        # Canonical JSON contains no line breaks, so each one ends a row.
        return self._encode_lines(list(map(self.to_wire, rows)))[:-1].replace(b"\n", b",\n")


def _wire_type(field: Field) -> Any:
    kind = KINDS[field.kind]
    return kind | None if field.nullable and field.kind is not Kind.JSON else kind


def _compile_encoder(field: Field) -> str:
    value = f"row.{field.name}"
    if field.kind is not Kind.JSON:
        return value
    return f"NULL if {value} is None else Raw({value})" if field.nullable else f"Raw({value})"


def _compile_decoder(number: int, field: Field) -> str:
    value = f"wire.field{number}"
    if field.kind is Kind.TEXT and field.nullable:
        # Optional texts are labels, shared by thousands of rows.
        return f"None if (text := {value}) is None else intern(text)"
    if field.kind is not Kind.JSON:
        return value
    text = f"str({value}, 'utf-8')"
    return f"None if (text := {text}) == 'null' else text" if field.nullable else text


def _generate_row_converter(table: Table, make: type[Struct]) -> Callable[[Row], Struct]:
    """Generate a function that converts a row to the wire struct.

    Unrolled from the catalog's field names: a loop over fields would cost five times as much for each row.
    """
    values = ", ".join(_compile_encoder(field) for field in table.fields)
    function: Callable[[Row], Struct] = eval(f"lambda row: make({values})", {"make": make, "Raw": Raw, "NULL": NULL})
    return function


def _generate_column_converter(table: Table) -> Callable[[list[Struct]], Columns]:
    """Generate a function that converts wire structs to columns of values, unrolled for the same reason."""
    columns = ", ".join(
        f"[{_compile_decoder(number, field)} for wire in wires]" for number, field in enumerate(table.fields)
    )
    function: Callable[[list[Struct]], Columns] = eval(f"lambda wires: [{columns}]", {"intern": intern})
    return function
