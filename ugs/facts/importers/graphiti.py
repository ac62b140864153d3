"""A Graphiti graph as JSON: `episodes` and `edges`, as two Cypher queries give them (docs/importing.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
    if not isinstance(found, dict) or not all(isinstance(found.get(key, []), list) for key in KINDS):
        raise InvalidJSON(f"{path} is no object with the lists episodes and edges")
    for key in KINDS:
        yield from read_rows(key, found.get(key, []))


def read_rows(kind: str, rows: Iterable[Any]) -> Iterator[Row]:
    """The notes of `episodes` or `edges`."""
    for number, row in enumerate(rows):
        place = f"{kind}[{number}]"
        try:
            yield from [checked(place, record) for record in KINDS[kind](row)]
        except UnusableRow as refused:
            yield RefusedRow(place, str(refused))


def _episode(row: Any) -> Iterator[dict[str, Any]]:
    entities = row.get("entities") if isinstance(row, dict) else None
    known = [_entity(one) for one in entities] if isinstance(entities, list) else []
    for part in portions(text_at(row, "content")):
        yield note(part, f"graphiti:{optional_text(row, 'uuid', 'name') or ''}", entities=known)


def _entity(row: Any) -> dict[str, Any]:
    return {"canonical": text_at(row, "name"), "kind": optional_text(row, "kind"), "aliases": []}


def _edge(row: Any) -> Iterator[dict[str, Any]]:
    start, end = text_at(row, "source"), text_at(row, "target")
    name = text_at(row, "name").replace("_", " ").lower()
    text = optional_text(row, "fact") or f"{start} {name} {end}"
    since, until = optional_text(row, "valid_at"), optional_text(row, "invalid_at")
    facts = [relation(start, name, end, valid_from=since, valid_to=until)]
    yield note(text, f"graphiti:{optional_text(row, 'uuid') or ''}", relations=facts)


KINDS: Mapping[str, Callable[[Any], Iterator[dict[str, Any]]]] = {"episodes": _episode, "edges": _edge}
"""The lists, in the order in which they are read."""
