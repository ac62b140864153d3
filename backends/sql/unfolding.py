"""A whole plan as one statement, however deep it is nested.

Each level of the plan is a named query that starts from the level above it, and the answer is all of their rows one
after the other, each marked with its level and its place among its siblings:

    WITH l0 AS (…the first page…), l1 AS (…rows tied to those of l0…), …
    SELECT 0, place, … FROM l0 UNION ALL SELECT 1, place, … FROM l1 …

A row that several parents share is sent once, values keep their types, and only rows inside the page (not the one
beyond it, which says that more follows) have children. `folding` puts the answer together again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from backends.sql.conditions import TRUE, Place, stored_columns
from backends.sql.dialect import Dialect, Tied, quoted, tie_index
from backends.sql.statements import Select, limit_of, walking_order
from ugs.catalog import Catalog, Relation, Table
from ugs.reads.plan import Order, Read

MARKS = 2
"""Columns before the values: the level, and the place or the total."""


class Level(Struct, eq=False):
    """One read of the plan and where its rows are found in the answer."""

    number: int
    read: Read
    parent: Level | None = None
    name: str = ""
    relation: Relation | None = None
    slots: tuple[int, ...] = ()
    numbered: bool = True
    """Whether each row says its place among its siblings; else they are sorted when they have arrived."""
    children: list[Level] = field(default_factory=list)

    @property
    def table(self) -> Table:
        return self.read.table

    @property
    def is_single(self) -> bool:
        """Whether a parent can have one row at most."""
        page = self.read.page
        return self.relation is not None and self.table.key == (self.relation.remote,) and page.limit is None


def levels_of(plan: Read) -> list[Level]:
    """All reads of a plan, parents first."""
    root = Level(0, plan)
    found = [root]
    for level in found:
        for name, nested in level.read.nest.items():
            relation = level.table.relations[nested.relation]
            child = Level(len(found), nested.read, level, name, relation)
            level.children.append(child)
            found.append(child)
    return found


class Arrangement(Struct, frozen=True):
    """Columns of the answer, shared by levels wherever their types agree."""

    kinds: tuple[str, ...]
    slots: tuple[tuple[int, ...], ...]
    """For each table the columns that hold its fields."""
    columns: tuple[str, ...]
    """For each table the list to select."""

    def padded(self, dialect: Dialect, filled: dict[int, str]) -> str:
        """A list to select in which only some columns hold anything."""
        return ", ".join(filled.get(slot) or dialect.nothing(kind) for slot, kind in enumerate(self.kinds))


@lru_cache(maxsize=1024)
def arranged(dialect: Dialect, tables: tuple[Table, ...]) -> Arrangement:
    """Where the rows of these tables stand in one answer."""
    kinds: list[str] = []
    slots = tuple(_placed(table, dialect, kinds) for table in tables)
    whole = Arrangement(tuple(kinds), slots, ())
    columns = tuple(
        whole.padded(dialect, dict(zip(places, stored_columns(table).values(), strict=True)))
        for table, places in zip(tables, slots, strict=True)
    )
    return Arrangement(whole.kinds, slots, columns)


def _placed(table: Table, dialect: Dialect, kinds: list[str]) -> tuple[int, ...]:
    free = list(enumerate(kinds))
    places = []
    for part in table.fields:
        kind = dialect.types[part.kind]
        taken = next((slot for slot in free if slot[1] == kind), None)
        if taken is None:
            kinds.append(kind)
            places.append(len(kinds) - 1)
        else:
            free.remove(taken)
            places.append(taken[0])
    return tuple(places)


class Unfolding:
    """Writes the statement of a plan."""

    def __init__(self, catalog: Catalog, dialect: Dialect, plan: Read) -> None:
        self.dialect = dialect
        self.select = Select(catalog, dialect)
        self.levels = levels_of(plan)
        self.arrangement = arranged(dialect, tuple(level.table for level in self.levels))
        for level, slots in zip(self.levels, self.arrangement.slots, strict=True):
            level.slots = slots
            level.numbered = dialect.numbers_siblings or level.relation is None or level.is_single

    def statement(self) -> tuple[str, list[Any]]:
        """The text and the values of its parameters."""
        queries = ", ".join(f"l{level.number} AS ({self._query(level)})" for level in self.levels)
        answers = " UNION ALL ".join(answer for level in self.levels for answer in self._answers(level))
        return f"WITH {queries} {answers}", self.select.parameters.values

    # ── the rows of a level ──────────────────────────────────────────────────

    def _query(self, level: Level) -> str:
        read, place = level.read, Place(level.table, "t")
        walk = walking_order(level.table, read.order, read.page)
        if level.relation is None or level.parent is None:
            return self._first(place, read, walk)
        if read.page.limit is not None:
            return self._some(level, place, walk)
        return self._every(level, place, walk)

    def _first(self, place: Place, read: Read, walk: tuple[Order, ...]) -> str:
        source = self.select.source(place.table, read.where)
        condition = self.select.condition(place, read.where, walk, read.page)
        order = self.select.order(place, walk)
        limit = None if read.page.limit is None else read.page.limit + 1
        page = f"SELECT * FROM {source} t WHERE {condition} ORDER BY {order}{limit_of(limit)}"
        return f"SELECT t.*, row_number() OVER (ORDER BY {order}) AS place FROM ({page}) t"

    def _every(self, level: Level, place: Place, walk: tuple[Order, ...]) -> str:
        """All related rows."""
        assert level.relation is not None
        remote = place.column(level.relation.remote)
        number = "1" if level.is_single else "0"
        if level.numbered and not level.is_single:
            number = f"row_number() OVER (PARTITION BY {remote} ORDER BY {self.select.order(place, walk)})"
        rest = self.select.condition(place, level.read.where, walk, level.read.page)
        index = tie_index(self.dialect, level.table, level.relation.remote)
        return (
            f"SELECT t.*, {number} AS place FROM {quoted(level.table.name)} t{index} "
            f"WHERE {remote} IN ({self._ties(level)}) AND {rest}"
        )

    def _some(self, level: Level, place: Place, walk: tuple[Order, ...]) -> str:
        """The first related rows of each parent, and one more."""
        assert level.relation is not None and level.read.page.limit is not None
        tied = Tied(
            ties=self._ties(level),
            table=quoted(level.table.name),
            remote=place.column(level.relation.remote),
            rest=self.select.condition(place, level.read.where, walk, level.read.page),
            walk=self.select.order(place, walk),
            limit=level.read.page.limit + 1,
            index=tie_index(self.dialect, level.table, level.relation.remote),
        )
        return self.dialect.first_per_tie(tied)

    def _ties(self, level: Level) -> str:
        """The values that tie rows to the parents that are going to be shown."""
        assert level.relation is not None and level.parent is not None
        column = quoted(level.parent.table.field(level.relation.local).stored_as)
        limit = level.parent.read.page.limit if level.parent.numbered else None
        shown = "" if limit is None else f" AND place <= {int(limit)}"
        return f"SELECT DISTINCT {column} AS tie FROM l{level.parent.number} WHERE {column} IS NOT NULL{shown}"

    # ── the answer ───────────────────────────────────────────────────────────

    def _answers(self, level: Level) -> Iterator[str]:
        yield f"SELECT {level.number}, place, {self.arrangement.columns[level.number]} FROM l{level.number}"
        if level.read.total:
            yield self._totals(level)

    def _totals(self, level: Level) -> str:
        """How many rows there are, page or not; marked by a negative level."""
        place, mark = Place(level.table, "t"), -1 - level.number
        start = f"FROM {quoted(level.table.name)} t WHERE "
        if level.relation is None:
            condition = self.select.conditions.text(level.read.where, place)
            return f"SELECT {mark}, count(*), {self.arrangement.padded(self.dialect, {})} {start}{condition}"
        remote = level.relation.remote
        column = place.column(remote)
        tie = {level.slots[level.table.names.index(remote)]: column}
        rest = self.select.conditions.text(level.read.where, place)
        rest = "" if rest == TRUE else f" AND {rest}"
        return (
            f"SELECT {mark}, count(*), {self.arrangement.padded(self.dialect, tie)} {start}"
            f"{column} IN ({self._ties(level)}){rest} GROUP BY {column}"
        )
