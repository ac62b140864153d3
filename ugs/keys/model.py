"""API keys as rows, and as the texts that callers hold.

A key is `ugsk_<id>_<secret>`. The id finds the row and may be shown to anybody; the secret is 32 random bytes, so a
plain SHA-256 of the whole text is enough to keep: there is nothing to guess.
"""

from __future__ import annotations

from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe

from msgspec import Struct

from ugs.catalog import Field, Index, Kind, Table
from ugs.identity import Principal
from ugs.values import JsonText, from_text

PREFIX = "ugsk_"
NO_HASH = sha256(b"").hexdigest()
"""What a key that nobody has is compared with, so that refusing it takes as long."""


class ApiKey(Struct, frozen=True, gc=False):
    """Who may come in with a key, and until when."""

    id: str
    name: str
    """What the key is for, in the words of whoever made it."""
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
        """On whose behalf requests with this key happen."""
        return Principal(self.user, frozenset(self.roles), self.tenant, self.project, self.agent)

    def works_at(self, now: int) -> bool:
        """Whether the key opens anything at a time in Unix milliseconds."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class NewKey(Struct, frozen=True):
    """A key as it is handed over, and what is kept of it."""

    id: str
    token: str

    @classmethod
    def made(cls) -> NewKey:
        id = token_hex(8)
        return cls(id, f"{PREFIX}{id}_{token_urlsafe(32)}")

    @property
    def hash(self) -> str:
        return hash_of(self.token)


def hash_of(token: str) -> str:
    """What is kept of a key."""
    return sha256(token.encode()).hexdigest()


def id_in(token: str) -> str:
    """The id that a key names; any text where it is none of ours."""
    return token.removeprefix(PREFIX).partition("_")[0]


def is_of(token: str, key: ApiKey | None) -> bool:
    """Whether a text is this key; takes the same time whatever the answer."""
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
