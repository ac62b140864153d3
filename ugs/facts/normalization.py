"""Normalisation and validation of names and ids, and the scope keys of predicates."""

from __future__ import annotations

import time
from collections.abc import Iterator
from secrets import randbits
from unicodedata import normalize
from uuid import UUID

from msgspec import Struct

from ugs.facts.errors import InvalidFact
from ugs.values import check_value

MAX_NAME = 1_000
MAX_NAME_BYTES = 2_000
MAX_ID_BYTES = 128
MAX_NOTE = 100_000
GLOBAL = "__global__"


class Space(Struct, frozen=True):
    """The tenant and the project that a record belongs to."""

    tenant: str
    project: str


def normalize_name(text: str) -> str:
    """Trimmed, whitespace collapsed to one space, lower case, in Unicode's composed form (NFC).

    Done here and not by the stores, so that it is the same on all; composed and decomposed spellings are one name.
    """
    return normalize("NFC", " ".join(normalize("NFC", text).split()).lower())


def display_name(text: str, what: str = "name") -> str:
    """A name for display: trimmed and collapsed; raises `InvalidFact` if it is blank or too long."""
    check_value(text, what)
    name = " ".join(text.split())
    if not name:
        raise InvalidFact(f"{what} must not be blank", field=what)
    # Names are index keys, and the smallest index entry among the stores holds about 2,700 bytes.
    if len(name) > MAX_NAME or max(len(name.encode()), len(normalize_name(name).encode())) > MAX_NAME_BYTES:
        raise InvalidFact(f"{what} has at most {MAX_NAME} characters and {MAX_NAME_BYTES} bytes", field=what)
    return name


def validate_value(text: str, what: str = "objectValue") -> str:
    """The validated value of a fact, unchanged."""
    display_name(text, what)
    if len(text.encode()) > MAX_NAME_BYTES:
        raise InvalidFact(f"{what} has at most {MAX_NAME_BYTES} bytes", field=what)
    return text


def validate_note(text: str, what: str = "text") -> str:
    """The validated text of a note, unchanged."""
    if not text.strip():
        raise InvalidFact(f"{what} must not be blank", field=what)
    if len(text) > MAX_NOTE:
        raise InvalidFact(f"{what} has at most {MAX_NOTE} characters", field=what)
    check_value(text, what)
    return text


def validate_id(text: str, what: str) -> str:
    """A validated tenant, project or agent id, or a scope: short, since it is part of index keys."""
    if not text or text != text.strip():
        raise InvalidFact(f"{what} must not be blank, nor begin or end with a space", field=what)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES:
        raise InvalidFact(f"{what} has at most {MAX_ID_BYTES} bytes", field=what)
    check_value(text, what)
    return text


def validate_space(tenant: str, project: str) -> Space:
    """A validated tenant and project, whose ids cannot collide with other scope keys (C-59)."""
    for text, what in ((tenant, "tenantId"), (project, "projectId")):
        validate_id(text, what)
        if ":" in text or text.startswith("__"):
            raise InvalidFact(f"{what}: {text!r} must not contain ':' nor begin with '__'", field=what)
    return Space(tenant, project)


def own_key(space: Space) -> str:
    return f"{space.tenant}:{space.project}"


def project_key(space: Space) -> str:
    return f"__project__:{space.project}"


def scope_keys(space: Space) -> tuple[str, str, str]:
    """The scope keys in which predicates are looked up, nearest first."""
    return own_key(space), project_key(space), GLOBAL


def _sequence_numbers() -> Iterator[int]:
    """Strictly increasing numbers: Unix milliseconds followed by a 12-bit counter."""
    last = 0
    while True:
        last = max(last + 1, time.time_ns() // 1_000_000 << 12)
        yield last


_count = _sequence_numbers()


def new_id() -> str:
    """A UUID of version 7: random, and monotonic within the process, so that ids keep the order of creation and indexes
    grow at one end."""
    count = next(_count)
    number = (count >> 12) << 80 | 7 << 76 | (count & 0xFFF) << 64 | 2 << 62 | randbits(62)
    return str(UUID(int=number))


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID in canonical form, as all ids of records are."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
