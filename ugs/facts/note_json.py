"""The JSON file format of notes: `{"text": …, "structured": {"entities": […], "relations": […]}}`.

Paths in errors use the same keys, so that they lead to the place in the file.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ugs.facts.commands.ingestion import Mention, NoteToIngest, Object, Stated
from ugs.facts.errors import InvalidFact, StructuredInvalid
from ugs.facts.temporal.instants import Instant, instant_of, instant_text
from ugs.support.shape_errors import describe_shape_error


class Relation(Struct, frozen=True, forbid_unknown_fields=True):
    """A relation in the file."""

    subject: str
    predicate: str
    object: Object
    valid_from: str | None = None
    valid_to: str | None = None


class Structured(Struct, frozen=True, forbid_unknown_fields=True):
    """The entities and relations extracted from a note."""

    entities: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """A note in the file."""

    text: str
    source: str | None = None
    id: str | None = None
    quotes: tuple[str, ...] = ()
    structured: Structured = Structured()


def note_of(record: Any) -> NoteToIngest:
    """Convert a JSON object to a note; raises `StructuredInvalid` with the path of the fault."""
    try:
        line = msgspec.convert(record, Line)
    except msgspec.ValidationError as error:
        _, _, place = str(error).partition(" - at `$")
        raise StructuredInvalid(place.strip("`.") or "note", describe_shape_error(error)) from error
    relations = tuple(
        _stated(relation, f"structured.relations[{at}]") for at, relation in enumerate(line.structured.relations)
    )
    return NoteToIngest(line.text, line.source, line.id, line.quotes, line.structured.entities, relations)


def _stated(relation: Relation, path: str) -> Stated:
    ends = (_parse_instant(getattr(relation, name), f"{path}.{name}") for name in ("valid_from", "valid_to"))
    return Stated(relation.subject, relation.predicate, relation.object, *ends)


def _parse_instant(text: str | None, path: str) -> Instant | None:
    try:
        return None if text is None else instant_of(text, path)
    except InvalidFact as error:
        raise StructuredInvalid(path, error.message) from error


def input_of(note: NoteToIngest) -> dict[str, Any]:
    """The note as input of the GraphQL mutation `ingest`."""
    entities = [{"canonical": one.canonical, "kind": one.kind, "aliases": list(one.aliases)} for one in note.entities]
    relations = [
        {
            "subject": one.subject,
            "predicate": one.predicate,
            "object": {"entity": one.object.entity, "value": one.object.value},
            "validFrom": None if one.valid_from is None else instant_text(one.valid_from),
            "validTo": None if one.valid_to is None else instant_text(one.valid_to),
        }
        for one in note.relations
    ]
    structured = {"entities": entities, "relations": relations} if entities or relations else None
    known = {"text": note.text, "source": note.source, "id": note.note_id, "quotes": list(note.quotes)}
    return {**known, "structured": structured}
