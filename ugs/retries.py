"""Retries: which commands were done under an idempotency key, so that sending one again is safe.

The key travels in the first event of the command, so the record is made in the same transaction and survives replay.
"""

from __future__ import annotations

from msgspec import Struct

from ugs.catalog import Field, Kind, Table
from ugs.changes import Change, Put
from ugs.events import Event
from ugs.values import JsonText, to_text


class Retry(Struct, frozen=True, gc=False):
    """A command that was done under a key, and where its events stand."""

    key: str
    hash: str
    position: int
    size: int
    warnings: JsonText


def retry_key(user: str, key: str) -> str:
    """The key as it is kept: users choose theirs without knowing of each other."""
    return f"{user}/{key}"


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
)


def remember_retry(event: Event) -> list[Change]:
    """The first event of a command with an idempotency key records the key."""
    if event.idem is None:
        return []
    idem = event.idem
    return [Put(RETRIES, Retry(idem.key, idem.hash, event.position, idem.size, to_text(list(idem.warnings))))]
