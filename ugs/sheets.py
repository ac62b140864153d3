"""What a desk knows of one table: rows of the store, and the pending ones that lie over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from ugs.catalog import Row, Table
from ugs.changes import TableWrites
from ugs.reads.where import Compare, Op, Where, conditions, matcher

UNKNOWN: Final = object()
FEW = 32
"""So many pending rows are looked through faster than they are indexed."""


class Sheet:
    """Rows of one table by key; None stands for a row that is not there, or not any more."""

    def __init__(self, table: Table, at_hand: Mapping[Any, Row] | None) -> None:
        self.table = table
        self.whole = at_hand is not None
        """Whether all rows of the store are at hand, so that nobody need be asked."""
        self.stored: Any = {} if at_hand is None else at_hand
        """Rows as the store has them; where not all of them are at hand, those that somebody asked for."""
        self.current: dict[Any, Row | None] = {}
        """Rows as they are going to be."""
        self.asked: dict[Where, list[Any]] = {}
        """The keys of the rows that meet a condition in the store."""
        self._by: dict[str, dict[Any, set[Any]]] = {}
        """Keys of pending rows by the value of a field, for fields that were asked for while many rows were pending."""

    @property
    def is_empty(self) -> bool:
        """Whether there are certainly no rows at all."""
        return self.whole and not self.stored and not self.current

    def knows(self, key: Any) -> bool:
        """Whether it is known what the store has under this key."""
        return self.whole or key in self.stored

    def look(self, key: Any) -> Any:
        """The row as it is now, as far as that is known."""
        row = self.current.get(key, UNKNOWN)
        return row if row is not UNKNOWN else self.stored.get(key, None if self.whole else UNKNOWN)

    def may_have(self, key: Any) -> bool:
        """Whether there is a row with this key, or was one before, or that is not known."""
        if key in self.current:
            return True
        return key in self.stored if self.whole else self.stored.get(key, UNKNOWN) is not None

    def may_have_any(self, keys: Sequence[Any]) -> bool:
        """The same of several keys."""
        if not self.current.keys().isdisjoint(keys):
            return True
        if self.whole:
            return not self.stored.keys().isdisjoint(keys)
        return any([row is not None for row in map(self.stored.get, keys, repeat(UNKNOWN))])

    def remember(self, where: Where, rows: Sequence[Row]) -> None:
        """Note what the store answers to a condition."""
        keys = [self.table.key_of(row) for row in rows]
        if not self.whole:
            for key, row in zip(keys, rows, strict=True):
                self.stored.setdefault(key, row)
        self.asked[where] = keys

    def answer(self, where: Where) -> list[Row]:
        """The rows that meet a condition now; the store has been asked."""
        pending, stored = self.current, self.stored
        rows = [stored[key] for key in self.asked[where] if key not in pending]
        if pending:
            matches = matcher(where, self.table.words)
            rows += [row for row in self._candidates(where) if row is not None and matches(row)]
        return rows

    def _candidates(self, where: Where) -> Iterable[Row | None]:
        """Pending rows that may meet the condition; a large group would look at every row for every command."""
        if len(self.current) > FEW:
            for part in conditions(where):
                if isinstance(part, Compare) and part.op is Op.EQ:
                    keys = self._pending_by(part.field).get(part.value, ())
                    return [self.current[key] for key in keys]
        return self.current.values()

    def _pending_by(self, field: str) -> dict[Any, set[Any]]:
        if field not in self._by:
            self._by[field] = {}
            for key, row in self.current.items():
                if row is not None:
                    self._by[field].setdefault(getattr(row, field), set()).add(key)
        return self._by[field]

    def lay(self, key: Any, row: Any) -> Any:
        """Let a row be as it is going to be, or as it was (UNKNOWN: untouched); answers what it was before this."""
        before = self.current.get(key, UNKNOWN)
        if row is UNKNOWN:
            del self.current[key]
        else:
            self.current[key] = row
        if self._by:
            self._reindex(key, before, row)
        return before

    def lay_new(self, keys: Sequence[Any], rows: Sequence[Row]) -> None:
        """Let there be rows where none were touched before."""
        if self._by:
            for key, row in zip(keys, rows, strict=True):
                self.lay(key, row)
        else:
            self.current.update(zip(keys, rows, strict=True))

    def _reindex(self, key: Any, old: Any, new: Any) -> None:
        for field, keys in self._by.items():
            if old is not UNKNOWN and old is not None:
                keys[getattr(old, field)].discard(key)
            if new is not UNKNOWN and new is not None:
                keys.setdefault(getattr(new, field), set()).add(key)

    def net(self) -> TableWrites | None:
        """What is to be written, if anything."""
        writes, stored = TableWrites(), self.stored
        if not any(map(stored.get, self.current)):
            # Nearly always: what is new, and nothing else.
            writes.inserts.extend([row for row in self.current.values() if row is not None])
            return writes if writes.inserts else None
        for key, row in self.current.items():
            before = stored.get(key)
            if before is not None:
                writes.before[key] = before
            if row is None:
                if before is not None:
                    writes.deletes.append(key)
            elif before is None:
                writes.inserts.append(row)
            elif row != before:
                writes.updates.append(row)
        return writes if writes.inserts or writes.updates or writes.deletes else None
