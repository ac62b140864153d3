"""Indexes: rows by a column, by a property, by a word; and how often each property key occurs.

An index is built when somebody first asks for it and kept in step from then on. It holds the rows themselves, so
a look-up needs no second one. Few rows under one value are a tuple (small), many are a dict by key (quick to change).
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

from ugs.catalog import Kind, Row, Table
from ugs.reads.where import Op
from ugs.values import comparable, from_text, to_text

Posting = tuple[Row, ...] | dict[Any, Row]
KeyOf = Callable[[Row], Any]

KINDS = frozenset({"number", "string"})
"""Kinds of which one value is less than another."""
FEW = 48
"""Up to this many rows a tuple is a fifth of a dict and changed in a moment; longer ones are not cheap to allocate."""


class Kept(Protocol):
    """Anything derived from rows that must be told of each change."""

    def add(self, row: Row) -> None: ...

    def remove(self, row: Row) -> None: ...

    def replace(self, old: Row, new: Row) -> None: ...


class Index:
    """Rows by the values that `values_of` finds in them."""

    def __init__(self, table: Table, values_of: Callable[[Row], Iterable[Hashable]]) -> None:
        self.key_of: KeyOf = table.key_of
        self.values_of = values_of
        self.postings: dict[Any, Posting] = {}

    def rows(self, value: Any) -> Collection[Row]:
        """The rows under a value; a live view, to be used at once."""
        posting = self.postings.get(value, ())
        return posting if type(posting) is tuple else posting.values()  # type: ignore[union-attr]

    def sizes(self, values: Iterable[Any]) -> list[int]:
        """How many rows there are under each value; under nothing there are none."""
        get = self.postings.get
        return [0 if value is None else len(get(value, ())) for value in values]

    def fill(self, rows: Iterable[Row]) -> None:
        """Take in all rows of a table at once."""
        groups: defaultdict[Any, list[Row]] = defaultdict(list)
        for row in rows:
            for value in self.values_of(row):
                groups[value].append(row)
        self._take_in(groups)

    def _take_in(self, groups: dict[Any, list[Row]]) -> None:
        """Put each group under its value, behind the rows that are there."""
        for value, rows in groups.items():
            groups[value] = []  # its memory is needed for what takes its place
            self._take_group(value, rows)

    def _take_group(self, value: Any, rows: Sequence[Row]) -> None:
        before = self.postings.get(value, ())
        if type(before) is tuple:
            self.postings[value] = self._compact([*before, *rows] if before else rows)
        else:
            before.update(zip(map(self.key_of, rows), rows, strict=True))  # type: ignore[union-attr]

    def _compact(self, rows: Sequence[Row]) -> Posting:
        return tuple(rows) if len(rows) <= FEW else dict(zip(map(self.key_of, rows), rows, strict=True))

    def add(self, row: Row) -> None:
        for value in self.values_of(row):
            self.put(value, row)

    def remove(self, row: Row) -> None:
        for value in self.values_of(row):
            self._take(value, row)

    def replace(self, old: Row, new: Row) -> None:
        before, after = set(self.values_of(old)), set(self.values_of(new))
        for value in before - after:
            self._take(value, old)
        for value in after:
            if value in before:
                self._swap(value, old, new)
            else:
                self.put(value, new)

    def put(self, value: Any, row: Row) -> None:
        """Put a row under a value."""
        posting = self.postings.get(value, ())
        if type(posting) is tuple:
            if len(posting) < FEW:
                self.postings[value] = (*posting, row)
                return
            posting = self.postings[value] = {self.key_of(kept): kept for kept in posting}
        posting[self.key_of(row)] = row  # type: ignore[index]

    def _take(self, value: Any, row: Row) -> None:
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
    """Rows by one column. Rows under a value stand in the order in which they came."""

    def __init__(self, table: Table, field: str) -> None:
        self.value_of = attrgetter(field)
        self._sortable = table.field(field).kind is Kind.TEXT and not table.field(field).nullable
        super().__init__(table, lambda row: (self.value_of(row),))

    def fill(self, rows: Iterable[Row]) -> None:
        if self._sortable:
            # Sorting needs two lists for a while; one for each of a million values would leave memory in tatters.
            postings = self.postings
            for value, some in groupby(sorted(rows, key=self.value_of), self.value_of):
                group = tuple(some)
                if len(group) > FEW or value in postings:
                    self._take_group(value, group)
                else:
                    postings[value] = group
            return
        groups: defaultdict[Any, list[Row]] = defaultdict(list)
        # Once for every row of a store that is opened, hence out of the interpreter's hands.
        deque(map(list.append, map(groups.__getitem__, map(self.value_of, rows)), rows), 0)
        self._take_in(groups)

    def add(self, row: Row) -> None:
        self.put(self.value_of(row), row)

    def remove(self, row: Row) -> None:
        self._take(self.value_of(row), row)

    def replace(self, old: Row, new: Row) -> None:
        value = self.value_of(new)
        if self.value_of(old) == value:
            self._swap(value, old, new)
        else:
            self.remove(old)
            self.add(new)


class PropertyIndex(Index):
    """Rows by the value of one key of a JSON object column."""

    def __init__(self, table: Table, field: str, key: str) -> None:
        self.text_of = attrgetter(field)
        # Canonical text writes a key in one way only, so most rows without it need no decoding.
        self.needle = to_text(key) + ":"
        self.find_value = _finder_of(key)
        self.ordered: list[tuple[str, Any]] | None = None
        """Numbers and texts ascending, from when somebody first asks for a range of them."""
        super().__init__(table, self.values)

    def put(self, value: Any, row: Row) -> None:
        if self.ordered is not None and value[0] in KINDS and value not in self.postings:
            insort(self.ordered, value)
        super().put(value, row)

    def _take(self, value: Any, row: Row) -> None:
        super()._take(value, row)
        if self.ordered is not None and value[0] in KINDS and value not in self.postings:
            del self.ordered[bisect_left(self.ordered, value)]

    def between(self, op: Op, value: tuple[str, Any]) -> list[tuple[str, Any]]:
        """The values of the same kind on one side of a value, ascending."""
        if self.ordered is None:
            self.ordered = sorted(known for known in self.postings if known[0] in KINDS)
        places, kind = self.ordered, value[0]
        if op in (Op.LT, Op.LE):
            end = (bisect_left if op is Op.LT else bisect_right)(places, value)
            return places[bisect_left(places, (kind,)) : end]
        start = (bisect_right if op is Op.GT else bisect_left)(places, value)
        # Behind all values of the kind, and before those of the next.
        return places[start : bisect_left(places, (kind + "\0",))]

    def values(self, row: Row) -> tuple[Hashable, ...]:
        text = self.text_of(row)
        if text is None or self.needle not in text:
            return ()
        value = self.find_value(text)
        return () if value is UNSET else (comparable(value),)


def _finder_of(key: str) -> Callable[[str], Any]:
    """Finds the value of one key of an object; where possible the other keys are skipped undecoded."""
    try:
        wanted = msgspec.defstruct("Wanted", [("value", Any, UNSET)], rename={"value": key})
    except ValueError:  # keys with quotes, backslashes or control characters
        return lambda text: from_text(text).get(key, UNSET)
    decode: Callable[[str], Any] = msgspec.json.Decoder(wanted).decode
    return lambda text: decode(text).value


class WordIndex(Index):
    """Rows by their derived words."""

    def __init__(self, table: Table) -> None:
        assert table.words is not None
        super().__init__(table, table.words)


class KeyCounts:
    """In how many rows each key of a JSON object column occurs."""

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
