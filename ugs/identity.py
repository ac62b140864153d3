"""Who and what: scoped identifiers, makers of new ids, and the principal a request acts for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from ugs.errors import InvalidSyntax

ID_LENGTH = 256
ID_TEXT = r"[a-zA-Z_][a-zA-Z0-9_-]*"
IDENTIFIER = re.compile(rf"(?:(user|project|scratch):)?({ID_TEXT})")
IDENTIFIER_LINES = re.compile(rf"(?:(?:(?:user|project|scratch):)?{ID_TEXT}\n)*")


class Scope(StrEnum):
    """A namespace of ids; the default one has no prefix."""

    DEFAULT = "default"
    USER = "user"
    PROJECT = "project"
    SCRATCH = "scratch"


PREFIXES = {scope: f"{scope.value}:" for scope in Scope if scope is not Scope.DEFAULT}


def scope_of(id: str) -> Scope:
    """The namespace an id lives in, read from its prefix."""
    head, colon, _ = id.partition(":")
    return Scope(head) if colon else Scope.DEFAULT


def is_identifier(text: str) -> bool:
    return len(text) <= ID_LENGTH and IDENTIFIER.fullmatch(text) is not None


def are_identifiers(texts: Sequence[str]) -> bool:
    """Whether all of them are identifiers, told in one go."""
    lines = "\n".join([*texts, ""])
    is_each = lines.count("\n") == len(texts) and max(map(len, texts), default=0) <= ID_LENGTH
    return is_each and IDENTIFIER_LINES.fullmatch(lines) is not None


def check_identifier(text: object, what: str = "id") -> str:
    """The text itself when it is `[scope:]identifier`, else E005 in words."""
    if isinstance(text, str) and is_identifier(text):
        return text
    shown = repr(text)[:80]
    raise InvalidSyntax(
        f"{shown} is not a valid {what}: use letters, digits, _ and -, starting with a letter or _, "
        f"at most {ID_LENGTH} characters, optionally after user:, project: or scratch:",
        **{what.replace(" ", "_"): shown},
    )


ROLES = ("reader", "writer", "admin")
"""What somebody may be; each may do what the ones before may, and more."""


class Principal(Struct, frozen=True):
    """On whose behalf something happens."""

    user: str = "local"
    roles: frozenset[str] = frozenset({"admin"})
    tenant: str = "default"
    project: str = "default"
    agent: str = "default"


class Context(Struct, frozen=True):
    """What surrounds one command: who asks, and the key that makes a retry safe."""

    principal: Principal = Principal()
    idempotency_key: str | None = None


LOCAL = Context()
