"""A point in the history of a store, as every read that looks into the past takes it."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class At(Struct, frozen=True):
    """A point in history: a log position, or an instant in Unix milliseconds."""

    position: int | None = None
    instant: int | None = None

    @classmethod
    def time(cls, moment: datetime) -> At:
        return cls(instant=int(moment.timestamp() * 1000))
