"""CSV: one row per item, with the columns kind, id, type, from, to, weight, properties, data.

`properties` and `data` are JSON. A foreign table may have one column per property instead: `name` is a text, `age:`
with a colon is JSON, as in `key:=json`; an empty cell is no property. Rows with `from` and `to` are edges.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any, TextIO

from ugs.errors import InvalidSyntax
from ugs.exchange.base import EDGE, NODE, Format, Item, Record, Writer, invalid_json, item_of
from ugs.values import to_text

COLUMNS = ("kind", "id", "type", "from", "to", "weight", "properties", "data")
MAX_CELL_BYTES = 64 << 20
EMPTY_TYPE = '""'
"""The cell of a type that is an empty text; an empty cell means no type."""


class RowWriter(Writer):
    """Writes one row per item."""

    head = ",".join(COLUMNS) + "\n"

    def write_node(self, node: Record) -> None:
        data = "" if node["data"] is None else to_text(node["data"])
        self._row((NODE, node["id"], _type_cell(node), "", "", "", to_text(node["properties"]), data))

    def write_edge(self, edge: Record) -> None:
        ends = edge["from"], edge["to"], to_text(edge["weight"])
        self._row((EDGE, edge["id"], _type_cell(edge), *ends, to_text(edge["properties"]), ""))

    def _row(self, cells: tuple[str, ...]) -> None:
        # Older Pythons quote only what would end a line of their own, and a lone carriage return ends one for readers.
        all_cells = any("\r" in cell for cell in cells)
        csv.writer(self.out, lineterminator="\n", quoting=csv.QUOTE_ALL if all_cells else csv.QUOTE_MINIMAL).writerow(
            cells
        )


def _type_cell(record: Record) -> str:
    kind: str | None = record["type"]
    return EMPTY_TYPE if kind == "" else kind or ""


def read_items(lines: TextIO) -> Iterator[Item]:
    """The items of the rows below the header."""
    csv.field_size_limit(MAX_CELL_BYTES)
    rows = csv.DictReader(lines, strict=True)
    try:
        for row in rows:
            yield item_of(_record(row, rows.line_num), f"line {rows.line_num}")
    except csv.Error as error:
        raise InvalidSyntax(f"line {rows.line_num}: not valid CSV: {error}") from error


def _record(row: dict[str | None, Any], line: int) -> Record:
    if None in row:
        raise InvalidSyntax(f"line {line}: more cells than the heading has")
    cells = {str(key): value for key, value in row.items() if value not in (None, "")}
    record: Record = {key: cells.pop(key) for key in ("kind", "id", "type", "from", "to") if key in cells}
    if record.get("type") == EMPTY_TYPE:
        record["type"] = ""
    for key in ("weight", "properties", "data"):
        if key in cells:
            record[key] = _json(cells.pop(key), key, line)
    if cells:
        record["properties"] = {
            **record.get("properties", {}),
            **dict(_property(*pair, line) for pair in cells.items()),
        }
    return record


def _property(column: str, cell: str, line: int) -> tuple[str, Any]:
    return (column[:-1], _json(cell, column, line)) if column.endswith(":") else (column, cell)


def _json(cell: str, column: str, line: int) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise invalid_json(f"line {line}, column {column}", error) from error


FORMAT = Format("csv", RowWriter, read_items)
