"""Compiles a whole plan to one statement, whatever its depth.

Each level of the plan is a common table expression that selects from its parent level. The result is the union of all
levels, each record marked with its level and its place among its siblings:

    WITH l0 AS (…the first page…), l1 AS (…rows related to those of l0…), …
    SELECT 0, place, … FROM l0 UNION ALL SELECT 1, place, … FROM l1 …

A row that several parents share is sent once, values keep their types, and only rows inside the page (not the extra
one that shows that more follows) have children. `plan_result` assembles the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from ugs.catalog import Catalog
from ugs.reads.plan import Order, Read
from ugs.tables import Relation, Table
from ugs_backends.sql.compiler.conditions import TRUE, Place, quote_columns
from ugs_backends.sql.compiler.statements import Select, build_limit, build_walking_order
from ugs_backends.sql.dialect import Dialect, TiedQuery, find_tie_index, quote_identifier

MARKS = 2
"""Number of columns before the values: the level, and the place or the total."""


class Level(Struct, eq=False):
    """One read of the plan, and the columns of its rows in the result."""

    number: int
    read: Read
    parent: Level | None = None
    name: str = ""
    relation: Relation | None = None
    slots: tuple[int, ...] = ()
    numbered: bool = True
    """Whether records carry their place among their siblings; otherwise they are sorted in Python."""
    children: list[Level] = field(default_factory=list)

    @property
    def table(self) -> Table:
        return self.read.table

    @property
    def is_single(self) -> bool:
        """Whether a parent has at most one row."""
        page = self.read.page
        return self.relation is not None and self.table.row_key == (self.relation.remote,) and page.limit is None


def list_levels(plan: Read) -> list[Level]:
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


class ColumnLayout(Struct, frozen=True):
    """The columns of the result, shared by levels where their types agree."""

    kinds: tuple[str, ...]
    slots: tuple[tuple[int, ...], ...]
    """For each table, the columns of its fields."""
    columns: tuple[str, ...]
    """For each table, its SELECT list."""

    def pad_columns(self, dialect: Dialect, filled: dict[int, str]) -> str:
        """A SELECT list with NULL in all columns but some."""
        return ", ".join(filled.get(slot) or dialect.build_null(kind) for slot, kind in enumerate(self.kinds))


@lru_cache(maxsize=1024)
def arrange_columns(dialect: Dialect, tables: tuple[Table, ...]) -> ColumnLayout:
    """Allocate the columns of the result for these tables."""
    kinds: list[str] = []
    slots = tuple(_place_columns(table, dialect, kinds) for table in tables)
    whole = ColumnLayout(tuple(kinds), slots, ())
    columns = tuple(
        whole.pad_columns(
            dialect, {place: quote_columns(table)[part.name] for place, part in zip(places, table.fields, strict=True)}
        )
        for table, places in zip(tables, slots, strict=True)
    )
    return ColumnLayout(whole.kinds, slots, columns)


def _place_columns(table: Table, dialect: Dialect, kinds: list[str]) -> tuple[int, ...]:
    free = list(enumerate(kinds))
    places = []
    for part in table.fields:
        kind = dialect.types[dialect.column_type(part)]
        taken = next((slot for slot in free if slot[1] == kind), None)
        if taken is None:
            kinds.append(kind)
            places.append(len(kinds) - 1)
        else:
            free.remove(taken)
            places.append(taken[0])
    return tuple(places)


class PlanQuery:
    """Compiles the statement of a plan."""

    def __init__(self, catalog: Catalog, dialect: Dialect, plan: Read) -> None:
        self.dialect = dialect
        self.select = Select(catalog, dialect)
        self.levels = list_levels(plan)
        self.arrangement = arrange_columns(dialect, tuple(level.table for level in self.levels))
        for level, slots in zip(self.levels, self.arrangement.slots, strict=True):
            level.slots = slots
            level.numbered = dialect.numbers_siblings or level.relation is None or level.is_single

    def statement(self) -> tuple[str, list[Any]]:
        """The statement with its parameters."""
        queries = ", ".join(f"l{level.number} AS ({self._build_level(level)})" for level in self.levels)
        answers = " UNION ALL ".join(answer for level in self.levels for answer in self._build_answers(level))
        return f"WITH {queries} {answers}", self.select.parameters.values

    # ── the rows of a level ──────────────────────────────────────────────────

    def _build_level(self, level: Level) -> str:
        read, place = level.read, Place(level.table, "t")
        walk = build_walking_order(level.table, read.order, read.page)
        if level.relation is None or level.parent is None:
            return self._build_root(place, read, walk)
        if read.page.limit is not None:
            return self._build_limited(level, place, walk)
        return self._build_unlimited(level, place, walk)

    def _build_root(self, place: Place, read: Read, walk: tuple[Order, ...]) -> str:
        limit = None if read.page.limit is None else read.page.limit + 1
        source, condition = self.select.page_source(place, read.where, walk, read.page, limit)
        order = self.select.order(place, walk)
        page = f"SELECT * FROM {source} t WHERE {condition} ORDER BY {order}{build_limit(limit)}"
        return f"SELECT t.*, row_number() OVER (ORDER BY {order}) AS place FROM ({page}) t"

    def _build_unlimited(self, level: Level, place: Place, walk: tuple[Order, ...]) -> str:
        """The query of a level without a limit."""
        assert level.relation is not None
        remote = place.column(level.relation.remote)
        number = "1" if level.is_single else "0"
        if level.numbered and not level.is_single:
            number = f"row_number() OVER (PARTITION BY {remote} ORDER BY {self.select.order(place, walk)})"
        rest = self.select.condition(place, level.read.where, walk, level.read.page)
        index = find_tie_index(self.dialect, level.table, level.relation.remote)
        return (
            f"SELECT t.*, {number} AS place FROM {quote_identifier(level.table.name)} t{index} "
            f"WHERE {remote} IN ({self._build_ties(level)}) AND {rest}"
        )

    def _build_limited(self, level: Level, place: Place, walk: tuple[Order, ...]) -> str:
        """The query of a level with a limit per parent, plus one extra row."""
        assert level.relation is not None and level.read.page.limit is not None
        tied = TiedQuery(
            ties=self._build_ties(level),
            table=quote_identifier(level.table.name),
            remote=place.column(level.relation.remote),
            rest=self.select.condition(place, level.read.where, walk, level.read.page),
            walk=self.select.order(place, walk),
            limit=level.read.page.limit + 1,
            index=find_tie_index(self.dialect, level.table, level.relation.remote),
        )
        return self.dialect.first_per_tie(tied)

    def _build_ties(self, level: Level) -> str:
        """A query for the relation's values of the parents inside their page."""
        assert level.relation is not None and level.parent is not None
        column = quote_identifier(level.parent.table.field(level.relation.local).stored_as)
        limit = level.parent.read.page.limit if level.parent.numbered else None
        shown = "" if limit is None else f" AND place <= {int(limit)}"
        return f"SELECT DISTINCT {column} AS tie FROM l{level.parent.number} WHERE {column} IS NOT NULL{shown}"

    # ── the answer ───────────────────────────────────────────────────────────

    def _build_answers(self, level: Level) -> Iterator[str]:
        yield f"SELECT {level.number}, place, {self.arrangement.columns[level.number]} FROM l{level.number}"
        if level.read.total:
            yield self._build_totals(level)

    def _build_totals(self, level: Level) -> str:
        """A query for totals regardless of the page, marked by a negative level."""
        place, mark = Place(level.table, "t"), -1 - level.number
        start = f"FROM {quote_identifier(level.table.name)} t WHERE "
        if level.relation is None:
            condition = self.select.conditions.text(level.read.where, place)
            return f"SELECT {mark}, count(*), {self.arrangement.pad_columns(self.dialect, {})} {start}{condition}"
        remote = level.relation.remote
        column = place.column(remote)
        tie = {level.slots[level.table.names.index(remote)]: column}
        rest = self.select.conditions.text(level.read.where, place)
        rest = "" if rest == TRUE else f" AND {rest}"
        return (
            f"SELECT {mark}, count(*), {self.arrangement.pad_columns(self.dialect, tie)} {start}"
            f"{column} IN ({self._build_ties(level)}){rest} GROUP BY {column}"
        )
