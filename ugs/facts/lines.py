"""Notes to ingest as JSON, the way files bring them: `{"text": …, "structured": {"entities": […], "relations": […]}}`.

The keys are those that errors name, so that a path in an error leads to its place in the file.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ugs.facts.errors import InvalidFact, StructuredInvalid
from ugs.facts.ingesting import Mention, NoteToIngest, Object, Stated
from ugs.facts.instants import Instant, instant_of, instant_text


class Relation(Struct, frozen=True, forbid_unknown_fields=True):
    """A relation as it is written."""

    subject: str
    predicate: str
    object: Object
    valid_from: str | None = None
    valid_to: str | None = None


class Structured(Struct, frozen=True, forbid_unknown_fields=True):
    """What was read out of a note."""

    entities: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """A note as it is written."""

    text: str
    source: str | None = None
    id: str | None = None
    quotes: tuple[str, ...] = ()
    structured: Structured = Structured()


def note_of(record: Any) -> NoteToIngest:
    """The note that a JSON object says; what does not fit is refused with its path."""
    try:
        line = msgspec.convert(record, Line)
    except msgspec.ValidationError as error:
        why, _, place = str(error).partition(" - at `$")
        raise StructuredInvalid(place.strip("`.") or "note", why) from error
    relations = tuple(
        _stated(relation, f"structured.relations[{at}]") for at, relation in enumerate(line.structured.relations)
    )
    return NoteToIngest(line.text, line.source, line.id, line.quotes, line.structured.entities, relations)


def _stated(relation: Relation, path: str) -> Stated:
    ends = (_instant(getattr(relation, name), f"{path}.{name}") for name in ("valid_from", "valid_to"))
    return Stated(relation.subject, relation.predicate, relation.object, *ends)


def _instant(text: str | None, path: str) -> Instant | None:
    try:
        return None if text is None else instant_of(text, path)
    except InvalidFact as error:
        raise StructuredInvalid(path, error.message) from error


def input_of(note: NoteToIngest) -> dict[str, Any]:
    """The note as the GraphQL mutation `ingest` takes it."""
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
