"""A Graphiti graph as JSON: `episodes` and `edges`, as two Cypher queries give them (docs/importing.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ugs.errors import InvalidJSON
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
    text_at,
)


def read(path: Path) -> Iterator[Row]:
    """Each episode is a note; each edge a note with its sentence, and a fact with the time it held."""
    found = read_json(path)
    if not isinstance(found, dict) or not all(isinstance(found.get(key, []), list) for key in ("episodes", "edges")):
        raise InvalidJSON(f"{path} is no object with the lists episodes and edges")
    for key, convert in (("episodes", _episode), ("edges", _edge)):
        for number, row in enumerate(found.get(key, [])):
            place = f"{key}[{number}]"
            try:
                yield from [checked(place, record) for record in convert(row)]
            except UnusableRow as refused:
                yield RefusedRow(place, str(refused))


def _episode(row: Any) -> Iterator[dict[str, Any]]:
    for part in portions(text_at(row, "content")):
        yield note(part, f"graphiti:{optional_text(row, 'uuid', 'name') or ''}")


def _edge(row: Any) -> Iterator[dict[str, Any]]:
    start, end = text_at(row, "source"), text_at(row, "target")
    name = text_at(row, "name").replace("_", " ").lower()
    text = optional_text(row, "fact") or f"{start} {name} {end}"
    since, until = optional_text(row, "valid_at"), optional_text(row, "invalid_at")
    facts = [relation(start, name, end, valid_from=since, valid_to=until)]
    yield note(text, f"graphiti:{optional_text(row, 'uuid') or ''}", relations=facts)
