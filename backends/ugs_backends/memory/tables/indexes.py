"""Hash indexes of rows by column, property or word, and counts of property keys.

An index is built on first use and then updated with every change. It holds the rows themselves, so a look-up needs no
second one by key. A posting of few rows is a tuple (small), of many a dict by key (cheap to change).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Protocol

import msgspec
from msgspec import UNSET

from ugs.reads.filters import Op
from ugs.tables import Kind, Row, Table
from ugs.values import comparable, from_text, to_text

Posting = tuple[Row, ...] | dict[Any, Row]
KeyOf = Callable[[Row], Any]

KINDS = frozenset({"number", "string"})
"""Kinds of values that are ordered, for range conditions."""
TUPLE_THRESHOLD = 48
"""Up to this many rows a posting is a tuple, a fifth of a dict's size; longer tuples are expensive to copy."""


class Kept(Protocol):
    """A structure derived from rows that must be updated with every change."""

    def add(self, row: Row) -> None: ...

    def remove(self, row: Row) -> None: ...

    def replace(self, old: Row, new: Row) -> None: ...


def contains_row(rows: Iterable[Row]) -> Callable[[Row], bool]:
    """Whether a row is one of these. Rows are replaced, never mutated, so their identity decides."""
    wanted = {id(row) for row in rows}
    return lambda row: id(row) in wanted


class Index:
    """A hash index of rows by the values that `values_of` returns for them."""

    def __init__(self, table: Table, values_of: Callable[[Row], Iterable[Hashable]]) -> None:
        self.key_of: KeyOf = table.key_of
        self.values_of = values_of
        self.postings: dict[Any, Posting] = {}

    def rows(self, value: Any) -> Collection[Row]:
        """The rows with a value; a live view, valid until the next change."""
        posting = self.postings.get(value, ())
        return posting if type(posting) is tuple else posting.values()  # type: ignore[union-attr]

    def compile_test(self, value: Any) -> Callable[[Row], bool]:
        """Whether a row has a value; valid until the next change."""
        posting, key_of = self.postings.get(value, ()), self.key_of
        if isinstance(posting, dict):
            return lambda row: posting.get(key_of(row)) is row
        return contains_row(posting)

    def sizes(self, values: Iterable[Any]) -> list[int]:
        """The number of rows for each value; 0 for None."""
        get = self.postings.get
        return [0 if value is None else len(get(value, ())) for value in values]

    def fill(self, rows: Iterable[Row]) -> None:
        """Take in all rows of a table at once."""
        groups: defaultdict[Any, list[Row]] = defaultdict(list)
        for row in rows:
            for value in self.values_of(row):
                groups[value].append(row)
        self._add_groups(groups)

    def _add_groups(self, groups: dict[Any, list[Row]]) -> None:
        """Append each group of rows to the posting of its value."""
        for value, rows in groups.items():
            groups[value] = []  # releases the list early, so that its memory can be reused for the posting
            self._add_group(value, rows)

    def _add_group(self, value: Any, rows: Sequence[Row]) -> None:
        before = self.postings.get(value, ())
        if type(before) is tuple:
            self.postings[value] = self._compact([*before, *rows] if before else rows)
        else:
            before.update(zip(map(self.key_of, rows), rows, strict=True))  # type: ignore[union-attr]

    def _compact(self, rows: Sequence[Row]) -> Posting:
        return tuple(rows) if len(rows) <= TUPLE_THRESHOLD else dict(zip(map(self.key_of, rows), rows, strict=True))

    def add(self, row: Row) -> None:
        for value in self.values_of(row):
            self.put(value, row)

    def remove(self, row: Row) -> None:
        for value in self.values_of(row):
            self._remove_value(value, row)

    def replace(self, old: Row, new: Row) -> None:
        before, after = set(self.values_of(old)), set(self.values_of(new))
        for value in before - after:
            self._remove_value(value, old)
        for value in after:
            if value in before:
                self._swap(value, old, new)
            else:
                self.put(value, new)

    def put(self, value: Any, row: Row) -> None:
        """Add a row to the posting of a value."""
        posting = self.postings.get(value, ())
        if type(posting) is tuple:
            if len(posting) < TUPLE_THRESHOLD:
                self.postings[value] = (*posting, row)
                return
            posting = self.postings[value] = {self.key_of(kept): kept for kept in posting}
        posting[self.key_of(row)] = row  # type: ignore[index]

    def _remove_value(self, value: Any, row: Row) -> None:
        posting = self.postings[value]
        if isinstance(posting, dict):
            del posting[self.key_of(row)]
        else:
            posting = self.postings[value] = tuple(kept for kept in posting if kept is not row)
        if not posting:
            del self.postings[value]

    def _swap(self, value: Any, old: Row, new: Row) -> None:
        posting = self.postings[value]
        if isinstance(posting, dict):
            posting[self.key_of(new)] = new
        else:
            self.postings[value] = tuple(new if kept is old else kept for kept in posting)


class ColumnIndex(Index):
    """An index of one column; the rows of a posting are in insertion order."""

    def __init__(self, table: Table, field: str) -> None:
        self.value_of = attrgetter(field)
        self._sortable = table.field(field).kind is Kind.TEXT and not table.field(field).nullable
        super().__init__(table, lambda row: (self.value_of(row),))

    def fill(self, rows: Iterable[Row]) -> None:
        if self._sortable:
            # Sorting needs two temporary lists; a list for each of a million values would fragment the memory.
            postings = self.postings
            for value, some in groupby(sorted(rows, key=self.value_of), self.value_of):
                group = tuple(some)
                if len(group) > TUPLE_THRESHOLD or value in postings:
                    self._add_group(value, group)
                else:
                    postings[value] = group
            return
        groups: defaultdict[Any, list[Row]] = defaultdict(list)
        # Runs for every row when a store is opened, hence a loop in C instead of bytecode.
        deque(map(list.append, map(groups.__getitem__, map(self.value_of, rows)), rows), 0)
        self._add_groups(groups)

    def add(self, row: Row) -> None:
        self.put(self.value_of(row), row)

    def remove(self, row: Row) -> None:
        self._remove_value(self.value_of(row), row)

    def replace(self, old: Row, new: Row) -> None:
        value = self.value_of(new)
        if self.value_of(old) == value:
            self._swap(value, old, new)
        else:
            self.remove(old)
            self.add(new)


class PropertyIndex(Index):
    """An index of the values of one key of a JSON object column."""

    def __init__(self, table: Table, field: str, key: str) -> None:
        self.text_of = attrgetter(field)
        # Canonical text writes a key in one way only, so most rows without it need no decoding.
        self.needle = to_text(key) + ":"
        self.find_value = compile_key_finder(key)
        self.ordered: list[tuple[str, Any]] | None = None
        """Numbers and texts, sorted; None until the first range query."""
        super().__init__(table, self.values)

    def put(self, value: Any, row: Row) -> None:
        if self.ordered is not None and value[0] in KINDS and value not in self.postings:
            insort(self.ordered, value)
        super().put(value, row)

    def _remove_value(self, value: Any, row: Row) -> None:
        super()._remove_value(value, row)
        if self.ordered is not None and value[0] in KINDS and value not in self.postings:
            del self.ordered[bisect_left(self.ordered, value)]

    def between(self, op: Op, value: tuple[str, Any]) -> list[tuple[str, Any]]:
        """The indexed values of the same kind that satisfy `op` against a value, ascending."""
        if self.ordered is None:
            self.ordered = sorted(known for known in self.postings if known[0] in KINDS)
        places, kind = self.ordered, value[0]
        if op in (Op.LT, Op.LE):
            end = (bisect_left if op is Op.LT else bisect_right)(places, value)
            return places[bisect_left(places, (kind,)) : end]
        start = (bisect_right if op is Op.GT else bisect_left)(places, value)
        # Sorts behind all values of the kind, and before those of the next.
        return places[start : bisect_left(places, (kind + "\0",))]

    def values(self, row: Row) -> tuple[Hashable, ...]:
        text = self.text_of(row)
        if text is None or self.needle not in text:
            return ()
        value = self.find_value(text)
        return () if value is UNSET else (comparable(value),)


def compile_key_finder(key: str) -> Callable[[str], Any]:
    """A function that extracts the value of one key from JSON text, without decoding other keys where possible."""
    try:
        wanted = msgspec.defstruct("Wanted", [("value", Any, UNSET)], rename={"value": key})
    except ValueError:  # keys with quotes, backslashes or control characters
        return lambda text: from_text(text).get(key, UNSET)
    decode: Callable[[str], Any] = msgspec.json.Decoder(wanted).decode
    return lambda text: decode(text).value


class WordIndex(Index):
    """The full-text index: rows by their derived words."""

    def __init__(self, table: Table) -> None:
        assert table.words is not None
        super().__init__(table, table.words)


class KeyCounts:
    """The number of rows that have each key of a JSON object column."""

    def __init__(self, field: str) -> None:
        self.text_of = attrgetter(field)
        self.counts: dict[str, int] = {}

    def _count(self, row: Row, by: int) -> None:
        text = self.text_of(row)
        if text == "{}" or text is None:
            return
        for key in from_text(text):
            count = self.counts.get(key, 0) + by
            if count:
                self.counts[key] = count
            else:
                del self.counts[key]

    def fill(self, rows: Iterable[Row]) -> None:
        """Take in all rows of a table at once."""
        for row in rows:
            self._count(row, 1)

    def add(self, row: Row) -> None:
        self._count(row, 1)

    def remove(self, row: Row) -> None:
        self._count(row, -1)

    def replace(self, old: Row, new: Row) -> None:
        if self.text_of(old) != self.text_of(new):
            self.remove(old)
            self.add(new)
