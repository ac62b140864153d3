"""Index selection: the index that leaves the fewest candidates for a condition, and a test for the rest of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from math import inf
from operator import attrgetter
from typing import Any

from msgspec import Struct

from ugs.reads.filters import (
    All,
    Any_,
    Compare,
    Everything,
    Has,
    Linked,
    Matcher,
    Not,
    Op,
    Property,
    Where,
    conditions,
    matcher,
)
from ugs.tables import Row
from ugs.values import comparable
from ugs_backends.memory.tables.indexes import KINDS
from ugs_backends.memory.tables.table import MemoryTable

ORDERED = frozenset({Op.LT, Op.LE, Op.GT, Op.GE})
PROPERTY_TEST_COST = 8
"""Relative cost of testing a property, which must be decoded from JSON, against other tests."""
SMALL_RESULT_ROWS = 64
"""With this few candidates no further index is tried."""


MAX_COMBINED_TESTS = 6
"""Up to this many tests are nested closures, which take half as long as a loop over them."""


class AccessPath(Struct):
    """Candidate rows for a condition, and the part of it that is left to test."""

    rows: Collection[Row]
    test: Matcher | None = None
    under: tuple[str, Any] | None = None
    """The column and value that all these rows have, when they come from an index of that column."""
    whole: bool = False
    """Whether these are all rows of the table."""
    scan: Callable[[], list[Row]] | None = None
    """A faster way to all matching rows than testing each candidate."""

    def found(self) -> list[Row]:
        if self.scan is not None:
            return self.scan()
        return list(self.rows) if self.test is None else list(filter(self.test, self.rows))


def choose_access_path(table: MemoryTable, where: Where) -> AccessPath:
    """Choose the cheapest access path to the rows that meet the condition."""
    if isinstance(where, Everything):
        return AccessPath(table.rows.values(), whole=True)
    parts = list(conditions(where))
    if len(table.table.key) > 1 and (exact := _look_up_by_key(table, parts)) is not None:
        return exact
    best: AccessPath | None = None
    chosen: Where | None = None
    for part in parts:
        most = inf if best is None else len(best.rows) * (PROPERTY_TEST_COST if _is_range(part) else 1)
        choice = _look_up_in_index(table, part, most)
        if choice is not None and len(choice.rows) < most:
            best, chosen = choice, part
            if len(choice.rows) <= SMALL_RESULT_ROWS:
                break
    if best is None:
        return AccessPath(
            table.rows.values(), compile_test(table, where), whole=True, scan=choose_text_scan(table, parts)
        )
    best.test = _combine_tests(table, [part for part in parts if part is not chosen])
    return best


def _combine_tests(table: MemoryTable, parts: list[Where]) -> Matcher | None:
    if not parts:
        return None
    return compile_test(table, parts[0] if len(parts) == 1 else All(tuple(parts)))


def _look_up_by_key(table: MemoryTable, parts: list[Where]) -> AccessPath | None:
    """A look-up by a composite key, when the condition fixes all of its fields."""
    given = {part.field: part.value for part in parts if isinstance(part, Compare) and part.op is Op.EQ}
    if not given.keys() >= set(table.table.key):
        return None
    key = tuple(given[name] for name in table.table.key)
    return AccessPath(_look_up_values(table.rows.get, [key]), _combine_tests(table, parts))


def choose_text_scan(table: MemoryTable, parts: list[Where]) -> Callable[[], list[Row]] | None:
    """A scan of a related table's texts instead of this table, where a condition searches such a text."""
    for part in parts:
        scan = _build_text_scan(table, part)
        if scan is not None:
            return _filter_scan(scan, _combine_tests(table, [other for other in parts if other is not part]))
    return None


def _filter_scan(scan: Callable[[], list[Row]], test: Matcher | None) -> Callable[[], list[Row]]:
    return scan if test is None else lambda: list(filter(test, scan()))


def _build_text_scan(table: MemoryTable, where: Where) -> Callable[[], list[Row]] | None:
    """A scan for rows whose single related row has a text that contains a value; reads only that text column."""
    if not isinstance(where, Linked) or not isinstance(where.where, Compare) or where.where.op is not Op.CONTAINS:
        return None
    relation, part = table.table.relations[where.relation], where.where.value
    other = table.tables[relation.table]
    if other.table.key != (relation.remote,) or table.table.key != (relation.local,):
        return None
    text_of = attrgetter(where.where.field)

    def scan() -> list[Row]:
        texts = zip(other.rows, map(text_of, other.rows.values()), strict=True)
        return _look_up_values(table.rows.get, [key for key, text in texts if text is not None and part in text])

    return scan


def _is_range(where: Where) -> bool:
    return isinstance(where, Property) and where.op in ORDERED


def _look_up_in_index(table: MemoryTable, where: Where, max_rows: float) -> AccessPath | None:
    """The candidates of one condition from an index, if there is one; a result of more than `most` rows is useless."""
    if isinstance(where, Compare):
        return _look_up_in_column(table, where)
    if isinstance(where, Property) and where.op in ORDERED:
        return _look_up_range(table, where, max_rows)
    if isinstance(where, Property):
        return _look_up_property(table, where)
    if isinstance(where, Has):
        return AccessPath(table.words().rows(where.word) if table.table.words else ())
    if isinstance(where, Any_):
        return _look_up_union(table, where)
    return None


def _look_up_in_column(table: MemoryTable, where: Compare) -> AccessPath | None:
    field, op = where.field, where.op
    if op in ORDERED:
        return _exclude_by_bounds(table, where)
    if op is not Op.EQ and op is not Op.IN:
        return None
    if op is Op.EQ and not isinstance(where.value, Hashable):
        return AccessPath(())
    if table.table.key == (field,):
        keys = (where.value,) if op is Op.EQ else dict.fromkeys(where.value)
        return AccessPath(_look_up_values(table.rows.get, keys))
    if field not in table.indexed:
        return None
    index = table.column(field)
    if op is Op.EQ:
        return AccessPath(index.rows(where.value), under=(field, where.value))
    return AccessPath([row for value in dict.fromkeys(where.value) for row in index.rows(value)])


def _exclude_by_bounds(table: MemoryTable, where: Compare) -> AccessPath | None:
    """An empty path when the column's minimum and maximum exclude the condition."""
    if where.field not in table.numbers or type(where.value) not in (int, float):
        return None
    return AccessPath(()) if table.bounds(where.field).exclude(where.op, where.value) else None


def _look_up_values(get: Callable[[Any], Row | None], keys: Iterable[Any]) -> list[Row]:
    return [row for key in keys if (row := get(key)) is not None]


def _look_up_property(table: MemoryTable, where: Property) -> AccessPath | None:
    if where.op is Op.EQ:
        return AccessPath(table.property(where.field, where.key).rows(comparable(where.value)))
    if where.op is Op.IN:
        index = table.property(where.field, where.key)
        return AccessPath([row for value in {comparable(item) for item in where.value} for row in index.rows(value)])
    return None


def _look_up_range(table: MemoryTable, where: Property, max_rows: float) -> AccessPath | None:
    kind, value = wanted = comparable(where.value)
    if value != value:
        return None  # NaN has no place in the sorted values
    if kind not in KINDS:
        return AccessPath(())
    index = table.property(where.field, where.key)
    values = index.between(where.op, wanted)
    return AccessPath([row for one in values for row in index.rows(one)]) if len(values) < max_rows else None


def _look_up_union(table: MemoryTable, where: Any_) -> AccessPath | None:
    """The union of the alternatives, when each has an index."""
    found: dict[Any, Row] = {}
    for part in where.parts:
        if not _has_index(table, part):
            return None
    for part in where.parts:
        choice = choose_access_path(table, part)
        rows = choice.rows if choice.test is None else filter(choice.test, choice.rows)
        found.update((table.key_of(row), row) for row in rows)
    return AccessPath(found.values())


def _has_index(table: MemoryTable, where: Where) -> bool:
    """Whether an index exists in principle, without building it."""
    if isinstance(where, All | Any_):
        some = any if isinstance(where, All) else all
        return some(_has_index(table, part) for part in where.parts)
    if isinstance(where, Compare):
        return where.op in (Op.EQ, Op.IN) and (table.table.key == (where.field,) or where.field in table.indexed)
    return isinstance(where, Has) or (isinstance(where, Property) and where.op in (Op.EQ, Op.IN))


# ── tests on single rows ─────────────────────────────────────────────────────


def compile_test(table: MemoryTable, where: Where) -> Matcher:
    """Compile a condition to a function of a row, with look-ups in other tables for linked conditions."""
    if isinstance(where, Linked):
        return _compile_linked_test(table, where)
    if isinstance(where, Has):
        return _compile_word_test(table, where.word)
    if isinstance(where, Not):
        inner = compile_test(table, where.part)
        return lambda row: not inner(row)
    if isinstance(where, All | Any_):
        return _join_tests(all if isinstance(where, All) else any, [compile_test(table, part) for part in where.parts])
    return matcher(where)


def _join_tests(many: Callable[[Iterable[bool]], bool], tests: list[Matcher]) -> Matcher:
    if not 1 < len(tests) <= MAX_COMBINED_TESTS:
        return lambda row: many(test(row) for test in tests)
    first, *others = tests
    rest = others[0] if len(others) == 1 else _join_tests(many, others)
    if many is all:
        return lambda row: first(row) and rest(row)
    return lambda row: first(row) or rest(row)


def _compile_word_test(table: MemoryTable, word: str) -> Matcher:
    if table.table.words is None:
        return lambda row: False
    return table.words().compile_test(word)


def _compile_linked_test(table: MemoryTable, where: Linked) -> Matcher:
    relation = table.table.relations[where.relation]
    other = table.tables[relation.table]
    local = relation.local
    meets = None if isinstance(where.where, Everything) else compile_test(other, where.where)
    if meets is not None and other.table.key == (relation.remote,):
        return _compile_single_linked_test(local, other.rows.get, meets)
    related = find_related_rows(other, relation.remote)

    def linked(row: Row) -> bool:
        tie = getattr(row, local)
        rows = related(tie) if tie is not None else ()
        return any(map(meets, rows)) if meets is not None else bool(rows)

    return linked


def _compile_single_linked_test(local: str, get: Callable[[Any], Row | None], meets: Matcher) -> Matcher:
    """The test for a relation to at most one row; kept minimal because content searches run it for every row."""
    return lambda row: (other := get(getattr(row, local))) is not None and meets(other)


def find_related_rows(table: MemoryTable, remote: str) -> Callable[[Any], Collection[Row]]:
    """A function from the value of a relation's column to the related rows."""
    if table.table.key == (remote,):
        get = table.rows.get
        return lambda tie: () if (row := get(tie)) is None else (row,)
    return table.column(remote).rows
