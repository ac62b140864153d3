"""Resource limits of a query; exceeding one raises an error that names it."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Bounds for one query."""

    rows: int = 100_000
    """Rows in the answer."""
    first: int | None = None
    """How many rows are enough; the rest is not looked for."""
    work: int = 20_000_000
    """Rows and relationships looked at on the way."""
    held: int = 5_000_000
    """Values held at one time: rows waiting to be sorted, groups, elements fetched."""
    seconds: float = 30.0
    """Time from start to answer; the deadline of the request around holds where it is earlier."""
    answer_bytes: int = 64 << 20
    """The answer written out as text, about."""
    path: int = 100
    """Relationships in one path of variable length."""
