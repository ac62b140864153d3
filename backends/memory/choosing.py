"""Answering a condition: pick the index that leaves the fewest rows, then test what it does not cover."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from math import inf
from operator import attrgetter
from typing import Any

from msgspec import Struct

from backends.memory.indexes import KINDS
from backends.memory.tables import MemoryTable
from ugs.catalog import Row
from ugs.reads.where import (
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
from ugs.values import comparable

ORDERED = frozenset({Op.LT, Op.LE, Op.GT, Op.GE})
DEAR = 8
"""A property is read from JSON, which costs several times what any other test does."""
SMALL_ENOUGH = 64
"""With so few rows at hand no further index is looked at."""


FEW_TESTS = 6
"""So few are tried one inside the other, which takes half as long as a loop over them."""


class Choice(Struct):
    """Rows that may meet a condition, and what is left to test."""

    rows: Collection[Row]
    test: Matcher | None = None
    under: tuple[str, Any] | None = None
    """The column and value these rows are all of, when an index of that column gave them."""
    whole: bool = False
    """These are all rows of the table."""
    scan: Callable[[], list[Row]] | None = None
    """A quicker way to all rows that meet the condition than to test each."""

    def found(self) -> list[Row]:
        if self.scan is not None:
            return self.scan()
        return list(self.rows) if self.test is None else list(filter(self.test, self.rows))


def choose(table: MemoryTable, where: Where) -> Choice:
    """The cheapest way to the rows that meet the condition."""
    if isinstance(where, Everything):
        return Choice(table.rows.values(), whole=True)
    parts = list(conditions(where))
    if len(table.table.key) > 1 and (exact := _by_whole_key(table, parts)) is not None:
        return exact
    best: Choice | None = None
    chosen: Where | None = None
    for part in parts:
        most = inf if best is None else len(best.rows) * (DEAR if _is_range(part) else 1)
        choice = _through_index(table, part, most)
        if choice is not None and len(choice.rows) < most:
            best, chosen = choice, part
            if len(choice.rows) <= SMALL_ENOUGH:
                break
    if best is None:
        return Choice(table.rows.values(), compile_test(table, where), whole=True, scan=scan_for(table, parts))
    best.test = _all_tests(table, [part for part in parts if part is not chosen])
    return best


def _all_tests(table: MemoryTable, parts: list[Where]) -> Matcher | None:
    if not parts:
        return None
    return compile_test(table, parts[0] if len(parts) == 1 else All(tuple(parts)))


def _by_whole_key(table: MemoryTable, parts: list[Where]) -> Choice | None:
    """The row of a key of several fields, when each of them is given."""
    given = {part.field: part.value for part in parts if isinstance(part, Compare) and part.op is Op.EQ}
    if not given.keys() >= set(table.table.key):
        return None
    key = tuple(given[name] for name in table.table.key)
    return Choice(_present(table.rows.get, [key]), _all_tests(table, parts))


def scan_for(table: MemoryTable, parts: list[Where]) -> Callable[[], list[Row]] | None:
    """A walk through the texts of another table instead of this one, where a condition is about such a text."""
    for part in parts:
        scan = _text_scan(table, part)
        if scan is not None:
            return _filtered(scan, _all_tests(table, [other for other in parts if other is not part]))
    return None


def _filtered(scan: Callable[[], list[Row]], test: Matcher | None) -> Callable[[], list[Row]]:
    return scan if test is None else lambda: list(filter(test, scan()))


def _text_scan(table: MemoryTable, where: Where) -> Callable[[], list[Row]] | None:
    """Rows whose one related row has a text with a part: only that text is looked at."""
    if not isinstance(where, Linked) or not isinstance(where.where, Compare) or where.where.op is not Op.CONTAINS:
        return None
    relation, part = table.table.relations[where.relation], where.where.value
    other = table.tables[relation.table]
    if other.table.key != (relation.remote,) or table.table.key != (relation.local,):
        return None
    text_of = attrgetter(where.where.field)

    def scan() -> list[Row]:
        texts = zip(other.rows, map(text_of, other.rows.values()), strict=True)
        return _present(table.rows.get, [key for key, text in texts if text is not None and part in text])

    return scan


def _is_range(where: Where) -> bool:
    return isinstance(where, Property) and where.op in ORDERED


def _through_index(table: MemoryTable, where: Where, most: float) -> Choice | None:
    """The rows of one condition by an index, if there is one for it; more than `most` are of no use."""
    if isinstance(where, Compare):
        return _by_column(table, where)
    if isinstance(where, Property) and where.op in ORDERED:
        return _by_range(table, where, most)
    if isinstance(where, Property):
        return _by_property(table, where)
    if isinstance(where, Has):
        return Choice(table.words().rows(where.word) if table.table.words else ())
    if isinstance(where, Any_):
        return _by_any(table, where)
    return None


def _by_column(table: MemoryTable, where: Compare) -> Choice | None:
    field, op = where.field, where.op
    if op in ORDERED:
        return _by_bounds(table, where)
    if op is not Op.EQ and op is not Op.IN:
        return None
    if op is Op.EQ and not isinstance(where.value, Hashable):
        return Choice(())
    if table.table.key == (field,):
        keys = (where.value,) if op is Op.EQ else dict.fromkeys(where.value)
        return Choice(_present(table.rows.get, keys))
    if field not in table.indexed:
        return None
    index = table.column(field)
    if op is Op.EQ:
        return Choice(index.rows(where.value), under=(field, where.value))
    return Choice([row for value in dict.fromkeys(where.value) for row in index.rows(value)])


def _by_bounds(table: MemoryTable, where: Compare) -> Choice | None:
    """No rows, when all numbers of a column lie on the other side of the value."""
    if where.field not in table.numbers or type(where.value) not in (int, float):
        return None
    return Choice(()) if table.bounds(where.field).exclude(where.op, where.value) else None


def _present(get: Callable[[Any], Row | None], keys: Iterable[Any]) -> list[Row]:
    return [row for key in keys if (row := get(key)) is not None]


def _by_property(table: MemoryTable, where: Property) -> Choice | None:
    if where.op is Op.EQ:
        return Choice(table.property(where.field, where.key).rows(comparable(where.value)))
    if where.op is Op.IN:
        index = table.property(where.field, where.key)
        return Choice([row for value in {comparable(item) for item in where.value} for row in index.rows(value)])
    return None


def _by_range(table: MemoryTable, where: Property, most: float) -> Choice | None:
    kind, value = wanted = comparable(where.value)
    if value != value:
        return None  # what is not a number has no place among numbers
    if kind not in KINDS:
        return Choice(())
    index = table.property(where.field, where.key)
    values = index.between(where.op, wanted)
    return Choice([row for one in values for row in index.rows(one)]) if len(values) < most else None


def _by_any(table: MemoryTable, where: Any_) -> Choice | None:
    """The union, when each alternative has an index."""
    found: dict[Any, Row] = {}
    for part in where.parts:
        if not _has_index(table, part):
            return None
    for part in where.parts:
        choice = choose(table, part)
        rows = choice.rows if choice.test is None else filter(choice.test, choice.rows)
        found.update((table.key_of(row), row) for row in rows)
    return Choice(found.values())


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
    """The condition as a function of a row, with look-ups in other tables where it speaks of them."""
    if isinstance(where, Linked):
        return _linked_test(table, where)
    if isinstance(where, Has):
        return _word_test(table, where.word)
    if isinstance(where, Not):
        inner = compile_test(table, where.part)
        return lambda row: not inner(row)
    if isinstance(where, All | Any_):
        return _many(all if isinstance(where, All) else any, [compile_test(table, part) for part in where.parts])
    return matcher(where)


def _many(many: Callable[[Iterable[bool]], bool], tests: list[Matcher]) -> Matcher:
    if not 1 < len(tests) <= FEW_TESTS:
        return lambda row: many(test(row) for test in tests)
    first, *others = tests
    rest = others[0] if len(others) == 1 else _many(many, others)
    if many is all:
        return lambda row: first(row) and rest(row)
    return lambda row: first(row) or rest(row)


def _word_test(table: MemoryTable, word: str) -> Matcher:
    if table.table.words is None:
        return lambda row: False
    # Rows are replaced, never changed, so the object itself tells whether it is in the index.
    wanted = {id(row) for row in table.words().rows(word)}
    return lambda row: id(row) in wanted


def _linked_test(table: MemoryTable, where: Linked) -> Matcher:
    relation = table.table.relations[where.relation]
    other = table.tables[relation.table]
    local = relation.local
    meets = None if isinstance(where.where, Everything) else compile_test(other, where.where)
    if meets is not None and other.table.key == (relation.remote,):
        return _one_linked_test(local, other.rows.get, meets)
    related = related_rows(other, relation.remote)

    def linked(row: Row) -> bool:
        tie = getattr(row, local)
        rows = related(tie) if tie is not None else ()
        return any(map(meets, rows)) if meets is not None else bool(rows)

    return linked


def _one_linked_test(local: str, get: Callable[[Any], Row | None], meets: Matcher) -> Matcher:
    """The same for a relation to one row at most. All content is searched this way, so each step counts."""
    return lambda row: (other := get(getattr(row, local))) is not None and meets(other)


def related_rows(table: MemoryTable, remote: str) -> Callable[[Any], Collection[Row]]:
    """Finds the rows at the other end of a relation by the value that ties them."""
    if table.table.key == (remote,):
        get = table.rows.get
        return lambda tie: () if (row := get(tie)) is None else (row,)
    return table.column(remote).rows
