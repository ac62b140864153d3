"""Webhooks, deliveries that were given up, and the lease of the process that delivers, as rows."""

from __future__ import annotations

from base64 import b64encode
from secrets import token_bytes, token_hex

from msgspec import Struct

from ugs.identity import Principal
from ugs.tables import Field, Index, Kind, Table
from ugs.values import JsonText

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32


class Webhook(Struct, frozen=True, gc=False):
    """Where events are sent, which ones, and how far that has come."""

    id: str
    name: str
    url: str
    secret: str
    """The key that signs deliveries; it is shown once."""
    filter: JsonText
    """Which events, in the words of the schema: `types`, `element`, `nodes` or `edges`."""
    tenant: str
    user: str
    project: str
    agent: str
    created_at: int
    position: int
    """Everything up to this position of the log was delivered or given up."""
    revision: int
    """Where in the webhooks' own log somebody last paused, resumed or moved it."""
    paused_at: int | None = None
    pause_reason: str | None = None
    """Why it was paused, where the gateway did it."""
    deleted_at: int | None = None

    def reader(self, shares_graph: bool) -> Principal:
        """Whose eyes it sees with: a reader's, whatever roles its owner has."""
        return Principal(self.user, frozenset({"reader"}), self.tenant, self.project, self.agent, shares_graph)


class DeadLetter(Struct, frozen=True, gc=False):
    """An event that could not be delivered."""

    webhook_id: str
    position: int
    attempts: int
    error: str
    failed_at: int


class Lease(Struct, frozen=True, gc=False):
    """Which process delivers. It counts its beats; whoever sees none for a while takes over with the next term."""

    name: str
    holder: str
    term: int
    beat: int


def new_webhook_id() -> str:
    return token_hex(8)


def new_secret() -> str:
    """A secret in the form of Standard Webhooks."""
    return SECRET_PREFIX + b64encode(token_bytes(SECRET_BYTES)).decode()


WEBHOOKS = Table(
    "webhooks",
    Webhook,
    [
        Field("id", plain=True),
        Field("name"),
        Field("url"),
        Field("secret"),
        Field("filter", Kind.JSON),
        Field("tenant"),
        Field("user", column="user_id"),
        Field("project"),
        Field("agent"),
        Field("created_at", Kind.INTEGER),
        Field("position", Kind.INTEGER),
        Field("revision", Kind.INTEGER),
        Field("paused_at", Kind.INTEGER, nullable=True),
        Field("pause_reason", nullable=True),
        Field("deleted_at", Kind.INTEGER, nullable=True),
    ],
    key=["id"],
    indexes=[Index(("tenant", "created_at"))],
    versioned=False,
    added_later=True,
)
DEAD_LETTERS = Table(
    "webhook_dead_letters",
    DeadLetter,
    [
        Field("webhook_id", plain=True),
        Field("position", Kind.INTEGER),
        Field("attempts", Kind.INTEGER),
        Field("error"),
        Field("failed_at", Kind.INTEGER),
    ],
    key=["webhook_id", "position"],
    versioned=False,
    added_later=True,
)
LEASES = Table(
    "webhook_leases",
    Lease,
    [Field("name", plain=True), Field("holder"), Field("term", Kind.INTEGER), Field("beat", Kind.INTEGER)],
    key=["name"],
    derived=False,
    versioned=False,
    added_later=True,
)
TABLES = (WEBHOOKS, DEAD_LETTERS, LEASES)
