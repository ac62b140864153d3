"""Scoped identifiers, and the principal on whose behalf a request is made."""

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
    """The namespace of an id, from its prefix."""
    head, colon, _ = id.partition(":")
    return Scope(head) if colon else Scope.DEFAULT


def is_identifier(text: str) -> bool:
    return len(text) <= ID_LENGTH and IDENTIFIER.fullmatch(text) is not None


def are_identifiers(texts: Sequence[str]) -> bool:
    """Whether all texts are identifiers, with one regular-expression match for all of them."""
    lines = "\n".join([*texts, ""])
    is_each = lines.count("\n") == len(texts) and max(map(len, texts), default=0) <= ID_LENGTH
    return is_each and IDENTIFIER_LINES.fullmatch(lines) is not None


def check_identifier(text: object, what: str = "id") -> str:
    """Return the text if it is `[scope:]identifier`, else raise E005."""
    if isinstance(text, str) and is_identifier(text):
        return text
    shown = repr(text)[:80]
    raise InvalidSyntax(
        f"{shown} is not a valid {what}: use letters, digits, _ and -, starting with a letter or _, "
        f"at most {ID_LENGTH} characters, optionally after user:, project: or scratch:",
        **{what.replace(" ", "_"): shown},
    )


ROLES = ("reader", "writer", "admin")
"""Roles, in ascending order of rights: each includes those before it."""


TENANT_ADMIN = "tenant_admin"
"""The role of a tenant's admin where tenants share a graph: a writer who also manages the tenant's keys. It is derived,
never named in a key or token."""


class Principal(Struct, frozen=True):
    """The authenticated user of a request, with roles and tenant."""

    user: str = "local"
    roles: frozenset[str] = frozenset({"admin"})
    tenant: str = "default"
    project: str = "default"
    agent: str = "default"
    shares_graph: bool = False
    """Several tenants share one graph, so user names are unique only per tenant."""

    @property
    def account(self) -> str:
        """The owner name of the user's records, unique across the tenants of a shared graph."""
        if not self.shares_graph or (self.tenant == "default" and "/" not in self.user):
            return self.user
        return f"{self.tenant.replace('%', '%25').replace('/', '%2F')}/{self.user}"


class Context(Struct, frozen=True):
    """The context of one command: the principal, and the idempotency key."""

    principal: Principal = Principal()
    idempotency_key: str | None = None


LOCAL = Context()
"""The context without authentication: the command line, a gateway without keys, a program that uses `ugs`."""
LOCAL_LOGIN = re.compile(r"(?:user:)*local")


def login_name(user: str) -> str:
    """The user name of an authenticated principal, never that of `LOCAL`.

    Events of `LOCAL` record no author. An authenticated user called `local` gets a prefix; so does a name that already
    looks like the result, which keeps the mapping injective.
    """
    return f"user:{user}" if LOCAL_LOGIN.fullmatch(user) else user
