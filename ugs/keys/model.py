"""API keys as rows and as tokens.

A key is `ugsk_<id>_<secret>`. The id finds the row and is not secret; the secret is 32 random bytes, so a
plain SHA-256 of the whole text suffices: it cannot be guessed.
"""

from __future__ import annotations

from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe

from msgspec import Struct

from ugs.identity import Principal, login_name
from ugs.tables import Field, Index, Kind, Table
from ugs.values import JsonText, from_text

PREFIX = "ugsk_"
NO_HASH = sha256(b"").hexdigest()
"""The hash that unknown keys are compared with, so that refusing them takes the same time."""


class ApiKey(Struct, frozen=True, gc=False):
    """A key with its principal and its validity."""

    id: str
    name: str
    """A description of what the key is for."""
    user: str
    roles_text: JsonText
    tenant: str
    project: str
    agent: str
    hash: str
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(from_text(self.roles_text))

    @property
    def principal(self) -> Principal:
        """The principal of requests with this key."""
        return Principal(login_name(self.user), frozenset(self.roles), self.tenant, self.project, self.agent)

    def is_valid_at(self, now: int) -> bool:
        """Whether the key is valid at a time in Unix milliseconds."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class NewKey(Struct, frozen=True):
    """A new key: its token, and the hash that is stored."""

    id: str
    token: str

    @classmethod
    def generate(cls) -> NewKey:
        id = token_hex(8)
        return cls(id, f"{PREFIX}{id}_{token_urlsafe(32)}")

    @property
    def hash(self) -> str:
        return hash_of(self.token)


def hash_of(token: str) -> str:
    """The stored hash of a token."""
    return sha256(token.encode()).hexdigest()


def id_in(token: str) -> str:
    """The id part of a token; any text for a malformed one."""
    return token.removeprefix(PREFIX).partition("_")[0]


def is_of(token: str, key: ApiKey | None) -> bool:
    """Whether a token is this key, in constant time."""
    same = compare_digest(hash_of(token), NO_HASH if key is None else key.hash)
    return same and key is not None


API_KEYS = Table(
    "api_keys",
    ApiKey,
    [
        Field("id", plain=True),
        Field("name"),
        Field("user", column="user_id"),
        Field("roles_text", Kind.JSON, column="roles"),
        Field("tenant"),
        Field("project"),
        Field("agent"),
        Field("hash"),
        Field("created_at", Kind.INTEGER),
        Field("expires_at", Kind.INTEGER, nullable=True),
        Field("revoked_at", Kind.INTEGER, nullable=True),
    ],
    key=["id"],
    indexes=[Index(("tenant", "created_at"))],
)
TABLES = (API_KEYS,)
