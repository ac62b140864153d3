"""Exports of Mem0: what `get_all` answers, as JSON, with the relations of its graph memory if it has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ugs.facts.importers.base import (
    RefusedRow,
    Row,
    UnusableRow,
    checked,
    note,
    optional_text,
    portions,
    read_json,
    relation,
    rows_in,
    text_at,
)


def read(path: Path) -> Iterator[Row]:
    """Each memory is a note, each relation a note and a fact."""
    found = read_json(path)
    for number, row in enumerate(rows_in(found, path, "results", "memories", "data")):
        yield from _rows(f"memory {number}", row, _memory)
    relations = found.get("relations") if isinstance(found, dict) else None
    for number, row in enumerate(relations if isinstance(relations, list) else []):
        yield from _rows(f"relation {number}", row, _relation)


def _rows(place: str, row: Any, convert: Any) -> Iterator[Row]:
    try:
        yield from [checked(place, record) for record in convert(row)]
    except UnusableRow as refused:
        yield RefusedRow(place, str(refused))


def _memory(row: Any) -> Iterator[dict[str, Any]]:
    text = text_at(row, "memory", "data", "text")
    for part in portions(text):
        yield note(part, f"mem0:{optional_text(row, 'id') or ''}")


def _relation(row: Any) -> Iterator[dict[str, Any]]:
    start, end = text_at(row, "source"), text_at(row, "target", "destination")
    name = text_at(row, "relationship", "relation").replace("_", " ")
    yield note(f"{start} {name} {end}", "mem0", relations=[relation(start, name, end)])
