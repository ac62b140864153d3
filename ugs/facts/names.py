"""Names: how they are compared, what they may be, and the keys that say where a predicate is known."""

from __future__ import annotations

import time
from collections.abc import Iterator
from secrets import randbits
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
    """The tenant and the project that something belongs to."""

    tenant: str
    project: str


def normalize_name(text: str) -> str:
    """Trimmed, whitespace collapsed to one space, lower case: the same on every store, since no store does it."""
    return " ".join(text.split()).lower()


def display_name(text: str, what: str = "name") -> str:
    """A name as it will be shown: trimmed and collapsed, or an error in words."""
    check_value(text, what)
    name = " ".join(text.split())
    if not name:
        raise InvalidFact(f"{what} must not be blank", field=what)
    # Names are index keys, and the smallest index entry among the stores holds about 2,700 bytes.
    if len(name) > MAX_NAME or max(len(name.encode()), len(name.lower().encode())) > MAX_NAME_BYTES:
        raise InvalidFact(f"{what} has at most {MAX_NAME} characters and {MAX_NAME_BYTES} bytes", field=what)
    return name


def checked_value(text: str, what: str = "objectValue") -> str:
    """The value of a fact, kept as it was given."""
    display_name(text, what)
    if len(text.encode()) > MAX_NAME_BYTES:
        raise InvalidFact(f"{what} has at most {MAX_NAME_BYTES} bytes", field=what)
    return text


def checked_note(text: str, what: str = "text") -> str:
    """The text of a note."""
    if not text.strip():
        raise InvalidFact(f"{what} must not be blank", field=what)
    if len(text) > MAX_NOTE:
        raise InvalidFact(f"{what} has at most {MAX_NOTE} characters", field=what)
    check_value(text, what)
    return text


def checked_id(text: str, what: str) -> str:
    """A tenant, project or agent id, or a scope: short, and free to be part of a key."""
    if not text or text != text.strip():
        raise InvalidFact(f"{what} must not be blank, nor begin or end with a space", field=what)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES:
        raise InvalidFact(f"{what} has at most {MAX_ID_BYTES} bytes", field=what)
    check_value(text, what)
    return text


def checked_space(tenant: str, project: str) -> Space:
    """A tenant and a project whose ids cannot be mistaken for another scope key (C-59)."""
    for text, what in ((tenant, "tenantId"), (project, "projectId")):
        checked_id(text, what)
        if ":" in text or text.startswith("__"):
            raise InvalidFact(f"{what}: {text!r} must not contain ':' nor begin with '__'", field=what)
    return Space(tenant, project)


def own_key(space: Space) -> str:
    return f"{space.tenant}:{space.project}"


def project_key(space: Space) -> str:
    return f"__project__:{space.project}"


def scope_keys(space: Space) -> tuple[str, str, str]:
    """Where predicates are looked for, nearest first."""
    return own_key(space), project_key(space), GLOBAL


def _counted() -> Iterator[int]:
    """Milliseconds with a twelve-bit count behind them, each greater than the one before."""
    last = 0
    while True:
        last = max(last + 1, time.time_ns() // 1_000_000 << 12)
        yield last


_count = _counted()


def new_id() -> str:
    """A UUID of version 7: random, and in the order of making, so that equal times keep their order and indexes grow
    at one end."""
    count = next(_count)
    number = (count >> 12) << 80 | 7 << 76 | (count & 0xFFF) << 64 | 2 << 62 | randbits(62)
    return str(UUID(int=number))


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID in its usual form; anything else can be no id of ours."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
