"""The overlay of one table in a unit of work: cached rows of the store, and the pending rows over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from ugs.changes import TableWrites
from ugs.reads.filters import Compare, Op, Where, conditions, matcher
from ugs.tables import Row, Table

UNKNOWN: Final = object()
INDEX_THRESHOLD = 32
"""Up to this many pending rows, a scan is faster than building an index."""


class TableOverlay:
    """Rows of one table by key; None is a row that is known to be missing or deleted."""

    def __init__(self, table: Table, at_hand: Mapping[Any, Row] | None) -> None:
        self.table = table
        self.whole = at_hand is not None
        """Whether `stored` holds all rows of the store (`Session.rows_in_memory`), so that no look-up is needed."""
        self.stored: Any = {} if at_hand is None else at_hand
        """Rows as stored; unless `whole`, only those that were looked up."""
        self.current: dict[Any, Row | None] = {}
        """Pending rows; they hide the stored ones."""
        self.asked: dict[Where, list[Any]] = {}
        """Cached query results: the keys of the stored rows that meet a condition."""
        self._by: dict[str, dict[Any, set[Any]]] = {}
        """Indexes over the pending rows, by field and value; built once more than `INDEX_THRESHOLD` are pending."""

    @property
    def is_empty(self) -> bool:
        """Whether the table is known to have no rows, stored or pending."""
        return self.whole and not self.stored and not self.current

    def is_cached(self, key: Any) -> bool:
        """Whether the stored row of this key, or its absence, is known."""
        return self.whole or key in self.stored

    def get_cached(self, key: Any) -> Any:
        """The current row, None if there is none, or UNKNOWN if that needs a look-up."""
        row = self.current.get(key, UNKNOWN)
        return row if row is not UNKNOWN else self.stored.get(key, None if self.whole else UNKNOWN)

    def may_contain(self, key: Any) -> bool:
        """Whether the key may be in use: a row is stored, pending, deleted in this group, or unknown."""
        if key in self.current:
            return True
        return key in self.stored if self.whole else self.stored.get(key, UNKNOWN) is not None

    def may_contain_any(self, keys: Sequence[Any]) -> bool:
        """As `may_contain`, for any of several keys."""
        if not self.current.keys().isdisjoint(keys):
            return True
        if self.whole:
            return not self.stored.keys().isdisjoint(keys)
        return any([row is not None for row in map(self.stored.get, keys, repeat(UNKNOWN))])

    def remember(self, where: Where, rows: Sequence[Row]) -> None:
        """Cache the store's result of a condition."""
        keys = [self.table.key_of(row) for row in rows]
        if not self.whole:
            for key, row in zip(keys, rows, strict=True):
                self.stored.setdefault(key, row)
        self.asked[where] = keys

    def answer(self, where: Where) -> list[Row]:
        """The rows that meet a condition, pending changes included; its stored result must have been cached."""
        pending, stored = self.current, self.stored
        rows = [stored[key] for key in self.asked[where] if key not in pending]
        if pending:
            matches = matcher(where, self.table.words)
            rows += [row for row in self._candidates(where) if row is not None and matches(row)]
        return rows

    def _candidates(self, where: Where) -> Iterable[Row | None]:
        """Pending rows that may meet the condition, by index where many are pending.

        Without it, the cost of a group would grow with the square of its size.
        """
        if len(self.current) > INDEX_THRESHOLD:
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

    def set_row(self, key: Any, row: Any) -> Any:
        """Set the pending row of a key (UNKNOWN removes it from the overlay); returns the former one, for undo."""
        before = self.current.get(key, UNKNOWN)
        if row is UNKNOWN:
            del self.current[key]
        else:
            self.current[key] = row
        if self._by:
            self._reindex(key, before, row)
        return before

    def add_rows(self, keys: Sequence[Any], rows: Sequence[Row]) -> None:
        """Add pending rows whose keys are not in the overlay yet."""
        if self._by:
            for key, row in zip(keys, rows, strict=True):
                self.set_row(key, row)
        else:
            self.current.update(zip(keys, rows, strict=True))

    def _reindex(self, key: Any, old: Any, new: Any) -> None:
        for field, keys in self._by.items():
            if old is not UNKNOWN and old is not None:
                keys[getattr(old, field)].discard(key)
            if new is not UNKNOWN and new is not None:
                keys.setdefault(getattr(new, field), set()).add(key)

    def net_writes(self) -> TableWrites | None:
        """The net difference to the store, or None without any."""
        writes, stored = TableWrites(), self.stored
        if not any(map(stored.get, self.current)):
            # The usual case: inserts only.
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
