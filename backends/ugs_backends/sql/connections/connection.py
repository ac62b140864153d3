"""The interface of a database connection: statements, records and transactions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ugs_backends.sql.row_codec import Values
from ugs_backends.sql.write.bulk_writes import BulkStatement


class DriverConnection(ABC):
    """One connection to the database, used by one session at a time.

    Driver errors are raised as errors of `ugs.errors`, with the original as their cause.
    """

    statements = 0
    """Number of statements sent, for tests."""

    @abstractmethod
    async def begin(self, *, write: bool) -> None:
        """Start a transaction: one consistent snapshot; with `write`, the only writer of the store."""

    @abstractmethod
    async def commit(self) -> None:
        """Commit the transaction."""

    @abstractmethod
    async def rollback(self) -> None:
        """Roll the transaction back; never raises."""

    @abstractmethod
    async def rows(self, text: str, values: Sequence[Any] = ()) -> Sequence[Values]:
        """Run a statement and return all records."""

    async def text(self, text: str, values: Sequence[Any], max_bytes: int) -> Any:
        """Run a statement that returns one text; None if the text would be longer than allowed."""
        return (await self.rows(text, values))[0][0]

    async def several(self, bounds: Sequence[tuple[str, Sequence[Any]]]) -> list[Sequence[Values]]:
        """Run statements and return the records of each."""
        return [await self.rows(*bound) for bound in bounds]

    @abstractmethod
    async def run(self, *texts: str) -> None:
        """Run statements without parameters and results, sent together."""

    @abstractmethod
    async def bulk(self, bulks: Sequence[BulkStatement]) -> None:
        """Run statements for many rows each, in this order."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connection."""

    @abstractmethod
    def terminate(self) -> None:
        """Drop the connection immediately, even during a statement."""

    @property
    @abstractmethod
    def is_usable(self) -> bool:
        """Whether another session may use the connection."""

    async def is_alive(self) -> bool:
        """Whether the server still answers; checked after a long idle time."""
        return self.is_usable
