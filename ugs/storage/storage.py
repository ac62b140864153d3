"""A store: one log and the tables that follow from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ugs.storage.storage_capabilities import Operation, PlanAnswers, Removal, SpecialSessions
from ugs.tables import Row, Table


class RowVersion(NamedTuple):
    """A row with the first position at which it held, and the first at which it did not any more; None: it holds."""

    since: int
    until: int | None
    row: Row


class Storage(SpecialSessions, PlanAnswers, Operation, Removal):
    """A store of one log and its tables. It is opened once; all access goes through sessions."""

    def sibling(self, name: str) -> Storage | None:
        """A store of its own in the same database, not opened yet, that shares nothing with this one.

        The name has at most 24 lowercase letters, digits and `_`. None: the store cannot hold two.
        """
        return None

    # ── the past without a replay ────────────────────────────────────────────

    history_begins: int | None = None
    """The least position that `at` answers; None for a store that keeps no former rows."""

    async def at(self, position: int) -> Storage | None:
        """The state at a log position (0 to the end) as a store to read from: its log ends there too.

        None lets the kernel replay the log. Tables that are not versioned are empty in it.
        """
        return None

    async def take_history(self, replica: Storage) -> None:
        """Take over the former rows up to `history_begins` from a store into which the log was replayed that far.

        From then on `at` answers for all positions; without effect for a store that cannot use them.
        """

    async def history_end(self) -> int | None:
        """The last position up to which former rows are stored; None for a store that stores none."""
        return None

    async def rebuild_history(self, progress: Callable[[int, int], None] | None = None) -> int | None:
        """Make what is missing of the former rows up to the end of the log, or all of them anew if nothing is; the
        position reached. None for a store that keeps none of its own, or makes them when it is opened.

        What was interrupted goes on where it ended, and others read and write meanwhile.
        """
        return None

    async def versions_by_key(self, table: Table, until: int) -> dict[Any, list[RowVersion]] | None:
        """All versions of a table's rows up to a position, for comparisons; None for a store that keeps none."""
        return None

    async def compare_history(self, replica: Storage) -> list[str]:
        """What differs between the former rows and those of a store into which the log was replayed, in words."""
        return []
