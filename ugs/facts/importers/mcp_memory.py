"""The file of the MCP reference memory server (`memory.json`): one entity or relation per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ugs.facts.importers.base import (
    Json,
    RefusedRow,
    Row,
    UnusableRow,
    checked,
    is_value,
    note,
    optional_text,
    read_text,
    relation,
    text_at,
)

SOURCE = "mcp-memory"
OBSERVATION = "observation"
"""The predicate that ties an observation to its entity."""


def read(path: Path) -> Iterator[Row]:
    """Each observation is a note and a fact of its entity, each relation a note and a fact between two entities."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            place = f"line {number}"
            try:
                yield from [checked(place, record) for record in _notes(json.loads(line))]
            except (ValueError, RecursionError):
                yield RefusedRow(place, "not valid JSON")
            except UnusableRow as refused:
                yield RefusedRow(place, str(refused))


def _notes(record: Json) -> Iterator[Json]:
    kind = text_at(record, "type")
    if kind == "entity":
        yield from _entity(record)
    elif kind == "relation":
        start, name, end = text_at(record, "from"), text_at(record, "relationType"), text_at(record, "to")
        yield note(f"{start} {name} {end}", SOURCE, relations=[relation(start, name, end)])
    else:
        raise UnusableRow(f"type {kind[:40]!r} is neither entity nor relation")


def _entity(record: Json) -> Iterator[Json]:
    name, kind = text_at(record, "name"), optional_text(record, "entityType")
    observations = record.get("observations") or []
    if not isinstance(observations, list) or not all(isinstance(one, str) for one in observations):
        raise UnusableRow("observations is not a list of texts")
    mention = {"canonical": name, "kind": kind}
    said = [one for one in observations if one.strip()]
    if not said:
        yield note(f"{name}: {kind}" if kind else name, SOURCE, [mention])
    for one in said:
        facts = [relation(name, OBSERVATION, one, value=True)] if is_value(one) else []
        yield note(f"{name}: {one}", SOURCE, [mention], facts)
