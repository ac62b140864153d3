"""A connection as the rest of this package uses it: statements in, tuples out, and a transaction around them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from backends.sql.rows import Values
from backends.sql.writes import Bulk


class Link(ABC):
    """One connection to the database, used by one session at a time.

    Errors leave as ours, with the driver's as their cause.
    """

    statements = 0
    """How many statements were sent, so that tests can tell one from many."""

    @abstractmethod
    async def begin(self, *, write: bool) -> None:
        """Start a transaction: one view of the data, and for writing the only one of its store."""

    @abstractmethod
    async def commit(self) -> None:
        """Make the transaction's changes last."""

    @abstractmethod
    async def rollback(self) -> None:
        """Forget the transaction; never fails."""

    @abstractmethod
    async def rows(self, text: str, values: Sequence[Any] = ()) -> Sequence[Values]:
        """Run a statement and give all its rows."""

    async def several(self, bounds: Sequence[tuple[str, Sequence[Any]]]) -> list[Sequence[Values]]:
        """Run statements one after the other and give all their rows."""
        return [await self.rows(*bound) for bound in bounds]

    @abstractmethod
    async def run(self, *texts: str) -> None:
        """Run statements that have no parameters and answer nothing, sent together."""

    @abstractmethod
    async def bulk(self, bulks: Sequence[Bulk]) -> None:
        """Run statements for many rows each, in this order."""

    @abstractmethod
    async def close(self) -> None:
        """Give the connection back to the driver."""

    @abstractmethod
    def terminate(self) -> None:
        """Drop the connection at once, whatever it is doing."""

    @property
    @abstractmethod
    def is_usable(self) -> bool:
        """Whether the next session may have it."""

    async def is_alive(self) -> bool:
        """Whether the other side still answers, asked after a long pause."""
        return self.is_usable
