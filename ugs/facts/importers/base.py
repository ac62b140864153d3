"""What all importers share: rows, texts cut to the length of a note, and reading JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ugs.errors import InvalidJSON, StorageIOError
from ugs.facts.errors import StructuredInvalid
from ugs.facts.normalization import MAX_NAME, MAX_NAME_BYTES, MAX_NOTE
from ugs.facts.note_json import note_of

Json = dict[str, Any]
MAX_VALUE_CHARS = MAX_NAME


class SourceNote(NamedTuple):
    """A note in the JSON form of `ugs.facts.note_json`, and where it stands."""

    place: str
    record: Json


class RefusedRow(NamedTuple):
    """A row that is no note, and why."""

    place: str
    reason: str


Row = SourceNote | RefusedRow


class UnusableRow(Exception):
    """Raised inside an importer for a row that it cannot use; the text is the reason."""


def checked(place: str, record: Json) -> Row:
    """The row of a record: refused if a note cannot have this form."""
    try:
        note_of(record)
    except StructuredInvalid as error:
        return RefusedRow(place, error.message)
    return SourceNote(place, record)


def note(text: str, source: str, entities: list[Json] | None = None, relations: list[Json] | None = None) -> Json:
    """A note's record; its source is cut, since a name may have so many characters only."""
    structured = {"entities": entities or [], "relations": relations or []}
    return {"text": text, "source": source[: MAX_NAME_BYTES // 4], "structured": structured}


def relation(subject: str, predicate: str, object: str, *, value: bool = False, **times: str | None) -> Json:
    """A relation's record, with times where they are known."""
    said = {name: time for name, time in times.items() if time}
    return {"subject": subject, "predicate": predicate, "object": {"value" if value else "entity": object}, **said}


def is_value(text: str) -> bool:
    """Whether a text is short enough to be the value of a fact."""
    return (
        bool(text.strip()) and len(text) <= MAX_VALUE_CHARS and len(text.encode("utf-8", "replace")) <= MAX_NAME_BYTES
    )


def text_at(record: Any, *keys: str) -> str:
    """The text under the first of these keys that has one; refused if none has."""
    if not isinstance(record, dict):
        raise UnusableRow("not an object")
    for key in keys:
        found = record.get(key)
        if isinstance(found, str) and found.strip():
            return found
    raise UnusableRow(f"no text under {' or '.join(keys)}")


def optional_text(record: Json, *keys: str) -> str | None:
    """As `text_at`, or None."""
    try:
        return text_at(record, *keys)
    except UnusableRow:
        return None


def portions(text: str) -> Iterator[str]:
    """The text in parts that a note can hold, cut at line ends where there are any."""
    while len(text) > MAX_NOTE:
        cut = text.rfind("\n", MAX_NOTE // 2, MAX_NOTE) + 1 or MAX_NOTE
        yield text[:cut]
        text = text[cut:]
    if text.strip():
        yield text


def read_text(path: Path) -> str:
    """The text of a file; raises `StorageIOError` or `InvalidJSON` for what is no text."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise StorageIOError(f"Cannot read {path}: {error.strerror}", path=str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidJSON(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def read_json(path: Path) -> Any:
    """The JSON of a file."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InvalidJSON(f"{path} is not valid JSON: {error}") from error


def rows_in(found: Any, path: Path, *keys: str) -> list[Any]:
    """The list that a file holds, or holds under one of these keys."""
    if isinstance(found, list):
        return found
    if isinstance(found, dict):
        for key in keys:
            if isinstance(found.get(key), list):
                return list(found[key])
    raise InvalidJSON(f"{path} holds neither a list nor an object with {' or '.join(keys)}")
