"""Idempotency records: the commands executed under an idempotency key, so that a retry gives the first answer again.

The key is stored in the first event of the command, so the record is written in the same transaction and survives
replay.
"""

from __future__ import annotations

from msgspec import Struct

from ugs.changes import Change, Put
from ugs.events import Event
from ugs.identity import Principal
from ugs.tables import Field, Kind, Table
from ugs.values import JsonText, to_text


class Retry(Struct, frozen=True, gc=False):
    """A command executed under an idempotency key, and the log positions of its events."""

    key: str
    hash: str
    position: int
    size: int
    warnings: JsonText


def retry_key(principal: Principal, key: str) -> str:
    """The stored key: clients choose keys independently of each other, so tenant and user are part of it.

    The parts are encoded as a JSON list, so that different parts never give the same key. Earlier versions stored
    `user/key`; retries of commands recorded that way are not recognised.
    """
    return to_text([principal.tenant, principal.user, key])


RETRIES = Table(
    "retries",
    Retry,
    [
        Field("key"),
        Field("hash"),
        Field("position", Kind.INTEGER),
        Field("size", Kind.INTEGER),
        Field("warnings", Kind.JSON),
    ],
    key=["key"],
    versioned=False,
)


def remember_retry(event: Event) -> list[Change]:
    """The first event of a command with an idempotency key records the key."""
    if event.idem is None:
        return []
    idem = event.idem
    return [Put(RETRIES, Retry(idem.key, idem.hash, event.position, idem.size, to_text(list(idem.warnings))))]
