"""A session: the port's methods over the statements of this package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from backends.neo4j.columns import NotComparable, equal_value
from backends.neo4j.conditions import rows_in
from backends.neo4j.connection import Reader, Writer
from backends.neo4j.fetches import Fetches, Statement
from backends.neo4j.layout import Layout
from backends.neo4j.log import Log, event_of, event_properties, head_after, head_of, head_properties
from backends.neo4j.matching import Matches
from backends.neo4j.nearness import nearest_statement
from backends.neo4j.plans import Plans
from backends.neo4j.vertices import BATCH
from backends.neo4j.writes import Writers
from ugs.catalog import Catalog, Row, Table
from ugs.changes import Writes
from ugs.events import Event, Head
from ugs.reads.near import Near, Scored
from ugs.reads.pattern import Match, Pattern
from ugs.reads.plan import WHOLE, Order, Page, Read, Rows, full_order, paged, sorted_rows
from ugs.reads.searched import most_of, put_in_place, told_elsewhere
from ugs.reads.where import (
    EVERYTHING,
    NOTHING,
    All,
    Any_,
    Linked,
    Not,
    Where,
    in_,
    matcher,
    mentions,
)
from ugs.storage import EventQuery, Session

MOST_TIES = 20_000
"""So many keys are handed over; of more, each row is looked at."""


class Statements:
    """Everything a session can ask, made once when the store opens."""

    def __init__(
        self, catalog: Catalog, log: Log, fetches: Fetches, writers: Writers, quick_vectors: bool = False
    ) -> None:
        self.catalog = catalog
        self.log = log
        self.fetches = fetches
        self.plans = Plans(fetches.layouts)
        self.matches = Matches(fetches.layouts)
        self.known_keys: dict[tuple[str, str, str], tuple[str, bool]] = {}
        """Whether a key of a JSON object occurs at all, and with which checksum of the log that is known."""
        self.writers = writers
        self.quick_vectors = quick_vectors


class Neo4jSession(Session):
    """One transaction with Neo4j, by the port's required methods only."""

    def __init__(self, statements: Statements, calls: Reader | Writer) -> None:
        self._statements = statements
        self._calls = calls
        # The one writer knows the end of the log, and whether any placeholder may exist, until it commits.
        self._head: Head | None = None
        self._placeholders = False
        if isinstance(calls, Writer):
            self._head = head_of(calls.lock_answer)
            self._placeholders = calls.lock_answer[0][-1] > 0

    async def _ask(self, statement: Statement) -> list[list[Any]]:
        return await self._calls.run(statement.text, **statement.parameters)

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        where = await self.directed(table, where, page.limit)
        statement = self._statements.fetches.fetch(table, where, order, page)
        if not statement.exact and mentions(where, Linked):
            where = await self._without_links(table, where)
            statement = self._statements.fetches.fetch(table, where, order, page)
        layout = self._statements.fetches.layouts[table.name]
        rows = [layout.row(values) for values in rows_in(await self._ask(statement))]
        if not statement.exact:
            rows = list(filter(matcher(where, table.words), rows))
        if not statement.paged:
            return paged(rows, table, tuple(order), page)
        return rows[::-1] if statement.reversed else rows

    async def directed(self, table: Table, where: Where, limit: int | None) -> Where:
        """The condition, with what is told by parts of texts elsewhere found there first, unless it is much."""
        layouts = self._statements.fetches.layouts
        for told in told_elsewhere(self._statements.catalog, table, where):
            if told.test.field not in layouts[told.target.name].searched:
                continue
            relation, most = table.relations[told.link.relation], MOST_TIES if limit is None else most_of(limit)
            statement = self._statements.fetches.ties(told, relation.remote, most)
            if statement.exact:
                ((ties,),) = await self._ask(statement)
                if ties is None:
                    return where
                loaded = partial(layouts[relation.table].loaded, relation.remote)
                return put_in_place(where, told, in_(relation.local, map(loaded, ties)) if ties else NOTHING)
        return where

    async def _without_links(self, table: Table, where: Where) -> Where:
        """The condition with each `Linked` replaced by the rows it leads to, so that Python can decide the rest."""
        if isinstance(where, Linked):
            relation = table.relations[where.relation]
            rows = await self.fetch(self._statements.catalog.target(relation), where.where)
            ties = {getattr(row, relation.remote) for row in rows} - {None}
            return in_(relation.local, ties) if ties else NOTHING
        if isinstance(where, Not):
            return Not(await self._without_links(table, where.part))
        if isinstance(where, All | Any_):
            return type(where)(tuple([await self._without_links(table, part) for part in where.parts]))
        return where

    async def events(self, query: EventQuery) -> list[Event]:
        text, parameters = self._statements.log.query(query)
        return [event_of(values) for values in rows_in(await self._calls.run(text, **parameters))]

    async def head(self) -> Head:
        return self._head or head_of(await self._calls.run(self._statements.log.head))

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        for start in range(0, len(events), BATCH):
            await self._log(events[start : start + BATCH])
        self._placeholders = await self._statements.writers.store(self._calls.run, writes, self._placeholders)

    async def _log(self, events: Sequence[Event]) -> None:
        self._head = head_after(await self.head(), events)
        head, rows = head_properties(self._head), [event_properties(event) for event in events]
        await self._calls.run(self._statements.log.append, head=head, events=rows)

    async def clear(self, tables: Iterable[Table]) -> None:
        await self._statements.writers.clear(self._calls.run, tables)


class NativeSession(Neo4jSession):
    """The same answers, with the optional methods handed to Neo4j as far as it answers exactly."""

    orders_joins = True

    async def find(self, table: Table, key: Any) -> Row | None:
        layout = self._statements.fetches.layouts[table.name]
        try:
            values = equal_key(layout, key)
        except NotComparable:
            return await super().find(table, key)
        if None in values.values():
            return None
        rows = await self._calls.run(layout.find, key=values)
        return layout.row(rows[0]) if rows else None

    async def find_many(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        if len(table.key) == 1:
            return await super().find_many(table, keys)
        layout = self._statements.fetches.layouts[table.name]
        rows = await self._calls.run(layout.find_many, rows=[layout.stored_key(key) for key in set(keys)])
        return sorted_rows([layout.row(values) for values in rows], full_order(table, ()))

    async def find_keys(self, wanted: Mapping[Table, Sequence[Any]]) -> dict[Table, list[Row]]:
        if len(wanted) < 2:
            return await super().find_keys(wanted)
        layouts = [self._statements.fetches.layouts[table.name] for table in wanted]
        try:
            keys = {
                layout.keys_parameter: [equal_key(layout, key) for key in set(keys)]
                for layout, keys in zip(layouts, wanted.values(), strict=True)
            }
        except NotComparable:
            return await super().find_keys(wanted)
        (answers,) = await self._calls.run(f"RETURN {', '.join(layout.found_among for layout in layouts)}", **keys)
        return {
            layout.table: sorted_rows([layout.row(values) for values in answer], full_order(layout.table, ()))
            for layout, answer in zip(layouts, answers, strict=True)
        }

    async def filled(self, tables: Sequence[Table]) -> list[Table]:
        labels = [self._statements.fetches.layouts[table.name].label for table in tables]
        # Numbers of nodes by label are kept by Neo4j, so this looks at no node.
        (counts,) = await self._calls.run(f"RETURN {', '.join(f'COUNT {{ (:{label}) }}' for label in labels)}")
        return [table for table, count in zip(tables, counts, strict=True) if count]

    async def count(self, table: Table, where: Where = EVERYTHING) -> int:
        statement = self._statements.fetches.count(table, where)
        if not statement.exact:
            return await super().count(table, where)
        ((count,),) = await self._ask(statement)
        return int(count)

    async def nearest(self, table: Table, near: Near) -> list[Scored]:
        made = self._statements
        statement = nearest_statement(made.fetches, table, near, made.quick_vectors)
        if not statement.exact:
            return await super().nearest(table, near)
        layout = self._statements.fetches.layouts[table.name]
        return [Scored(layout.row(values), score) for score, *values in await self._ask(statement)]

    async def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        statement = self._statements.fetches.group(table, by, where)
        if not statement.exact:
            return await super().group(table, by, where)
        layout = self._statements.fetches.layouts[table.name]
        return {layout.loaded(by, value): count for value, count in await self._ask(statement)}

    async def keys(self, table: Table, field: str) -> dict[str, int]:
        layout = self._statements.fetches.layouts[table.name]
        if layout.vertex is None or layout.vertex.properties != field:
            return await super().keys(table, field)
        return {key: count for key, count in await self._calls.run(layout.native_keys)}

    async def read(self, plan: Read) -> Rows:
        plan = await self.turned(plan)
        statement = self._statements.plans.statement(plan)
        if statement is None:
            return await super().read(plan)
        return statement.decode(await self._calls.run(statement.text, **statement.parameters))

    async def turned(self, plan: Read) -> Read:
        """The plan, with what is told by parts of texts elsewhere found there first, unless it is much."""
        where = await self.directed(plan.table, plan.where, plan.page.limit)
        return plan if where is plan.where else replace(plan, where=where)

    async def has_key(self, table: Table, field: str, key: str) -> bool:
        """No index tells, so the answer is kept for as long as the log stands still."""
        # A log that was wiped may have come to the same position again, but not with the same checksum.
        known, crc = self._statements.known_keys, (await self.head()).crc
        if known.get((table.name, field, key), ("", False))[0] != crc:
            known[table.name, field, key] = (crc, await super().has_key(table, field, key))
        return known[table.name, field, key][1]

    async def match(self, pattern: Pattern) -> list[Match] | None:
        matches = self._statements.matches
        statement = matches.statement(pattern)
        if statement is None:
            return None
        answer = await self._calls.run(statement.text, **statement.parameters)
        named = sorted(matches.arcs_named(pattern, answer))
        arcs = {pattern.arcs.key_of(row): row for row in await self.find_many(pattern.arcs, named)} if named else {}
        return matches.read(pattern, answer, arcs)

    def match_statements(self, pattern: Pattern) -> list[str]:
        statement = self._statements.matches.statement(pattern)
        return [] if statement is None else [statement.text]

    def statements(self, plan: Read) -> list[str]:
        statement = self._statements.plans.statement(plan)
        return [] if statement is None else [statement.text]


def equal_key(layout: Layout, key: Any) -> dict[str, Any]:
    """The stored columns of a row whose key equals this one; None in one of them: there is no such row."""
    parts = (key,) if len(layout.table.key) == 1 else key
    return {
        layout.columns[name]: equal_value(layout.kinds[name], part)
        for name, part in zip(layout.table.key, parts, strict=True)
    }
