"""A store: one log and the tables that follow from it."""

from __future__ import annotations

from ugs.storage.storage_capabilities import Operation, PastReads, PlanAnswers, Removal, SpecialSessions


class Storage(SpecialSessions, PlanAnswers, PastReads, Operation, Removal):
    """A store of one log and its tables. It is opened once; all access goes through sessions."""

    def sibling(self, name: str) -> Storage | None:
        """A store of its own in the same database, not opened yet, that shares nothing with this one.

        The name has at most 24 lowercase letters, digits and `_`. None: the store cannot hold two.
        """
        return None
