"""The five methods that every session has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from ugs.changes import Writes
from ugs.events import Event, Head
from ugs.reads.filters import EVERYTHING, Where
from ugs.reads.plan import WHOLE, Order, Page
from ugs.storage.event_query import EventQuery
from ugs.tables import Row, Table


class SessionCore(ABC):
    """What a session must do: read rows and events, and append."""

    @abstractmethod
    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        """Rows that meet the condition, in the order made total by the key, cut to the page."""

    @abstractmethod
    async def events(self, query: EventQuery) -> list[Event]:
        """Events of the log, oldest first, or newest first when asked."""

    @abstractmethod
    async def head(self) -> Head:
        """Where the log ends now."""

    @abstractmethod
    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        """Log the events (positions continue the head) and store the rows: deletes, then updates, then inserts.

        Events may be empty (rebuilding from the log), and so may the writes. A session reads before it appends:
        whether its later reads see its own appends is up to the store.
        """

    @abstractmethod
    async def clear(self, tables: Iterable[Table]) -> None:
        """Remove all rows of these tables, and leave the log alone."""
