"""Which state a read must see, where a store reads from replicas that may lag.

Without anything said, a read sees at least what this process has written or heard of. A request may ask for less, or
for what another process told it, and code that reads what has no place in the log asks for the primary.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

PRIMARY = 1 << 63
"""A position that no replica reaches."""
_MIN_POSITION: ContextVar[int | None] = ContextVar("min_position", default=None)


class ReplicaStatus(Struct, frozen=True):
    """How far a replica is."""

    name: str
    position: int
    """The last position that it is known to show."""
    lag: int
    """How many events it lacks of those that this process knows of."""
    is_reachable: bool


def required_position(known: int) -> int:
    """The position that a read must see; `known` is the last that this process has written or heard of."""
    asked = _MIN_POSITION.get()
    return known if asked is None else asked


def is_position_asked() -> bool:
    """Whether whoever reads now said which position to see; others must not share what is read for him."""
    return _MIN_POSITION.get() is not None


@contextmanager
def reading_at_least(position: int | None) -> Iterator[None]:
    """Reads in the block see at least this position, and perhaps not more; None changes nothing."""
    token = _MIN_POSITION.set(_MIN_POSITION.get() if position is None else position)
    try:
        yield
    finally:
        _MIN_POSITION.reset(token)


@contextmanager
def reading_from_primary() -> Iterator[None]:
    """Reads in the block see everything that is committed."""
    with reading_at_least(PRIMARY):
        yield
