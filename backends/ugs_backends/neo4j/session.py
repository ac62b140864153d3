"""Sessions of the Neo4j store: the methods of the port, by the statements of this package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from ugs.catalog import Catalog
from ugs.changes import Writes
from ugs.events import Event, Head
from ugs.reads.aggregation import Aggregation, Aggregator, Group
from ugs.reads.filters import EVERYTHING, NOTHING, All, Any_, Linked, Not, Where, in_, matcher, mentions
from ugs.reads.pattern import Match, Pattern
from ugs.reads.plan import WHOLE, Order, Page, Read, ResultPage, full_order, paged, sorted_rows
from ugs.reads.substring_hints import find_linked_substrings, max_index_hits, replace_link
from ugs.reads.vector_search import Near, Scored
from ugs.storage import EventQuery, Session
from ugs.support.time_slice import TimeSlice
from ugs.tables import Row, Table
from ugs_backends.neo4j.connection import QueryRunner, Writer
from ugs_backends.neo4j.cypher_fragments import read_chunks
from ugs_backends.neo4j.event_log import Log, advance_head, decode_event, encode_event, encode_head, read_head
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.read.column_filters import NotComparable, coerce_equal
from ugs_backends.neo4j.read.fetch_query import Fetches, Statement, decode_combination
from ugs_backends.neo4j.read.pattern_query import PatternStatements
from ugs_backends.neo4j.read.plan_query import Plans
from ugs_backends.neo4j.read.vector_query import build_nearest_query
from ugs_backends.neo4j.write.node_writer import BATCH_ROWS
from ugs_backends.neo4j.write.table_writes import Writers

MAX_TIES = 20_000
"""Maximum of keys passed as a parameter; with more, each row is tested instead."""


class Statements:
    """The statement builders of a store, created when it opens."""

    def __init__(
        self, catalog: Catalog, log: Log, fetches: Fetches, writers: Writers, quick_vectors: bool = False
    ) -> None:
        self.catalog = catalog
        self.log = log
        self.fetches = fetches
        self.plans = Plans(fetches.layouts)
        self.matches = PatternStatements(fetches.layouts)
        self.known_keys: dict[tuple[str, str, str], tuple[str, bool]] = {}
        """Cache of `has_key`: the checksum of the log at the look-up, and whether the key occurs."""
        self.writers = writers
        self.quick_vectors = quick_vectors


class Neo4jSession(Session):
    """The required methods of the port."""

    def __init__(self, statements: Statements, calls: QueryRunner | Writer) -> None:
        self._statements = statements
        self._calls = calls
        # Under the write lock the head, and whether placeholders may exist, are known until the commit.
        self._head: Head | None = None
        self._placeholders = False
        if isinstance(calls, Writer):
            self._head = read_head(calls.lock_answer)
            self._placeholders = calls.lock_answer[0][-1] > 0

    async def _ask(self, statement: Statement) -> list[list[Any]]:
        return await self._calls.run(statement.text, **statement.parameters)

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        where = await self.rewrite_condition(table, where, page.limit)
        statement = self._statements.fetches.fetch(table, where, order, page)
        if not statement.exact and mentions(where, Linked):
            where = await self._resolve_links(table, where)
            statement = self._statements.fetches.fetch(table, where, order, page)
        layout = self._statements.fetches.layouts[table.name]
        rows = [layout.row(values) for values in read_chunks(await self._ask(statement))]
        if not statement.exact:
            rows = list(filter(matcher(where, table.words), rows))
        if not statement.paged:
            return paged(rows, table, tuple(order), page)
        return rows[::-1] if statement.reversed else rows

    async def rewrite_condition(self, table: Table, where: Where, limit: int | None) -> Where:
        """Rewrite a condition so that a selective substring of a related row is looked up first."""
        layouts = self._statements.fetches.layouts
        for linked in find_linked_substrings(self._statements.catalog, table, where):
            if linked.test.field not in layouts[linked.target.name].searched:
                continue
            relation, most = table.relations[linked.link.relation], MAX_TIES if limit is None else max_index_hits(limit)
            statement = self._statements.fetches.find_tie_values(linked, relation.remote, most)
            if statement.exact:
                ((ties,),) = await self._ask(statement)
                if ties is None:
                    return where
                loaded = partial(layouts[relation.table].decode_value, relation.remote)
                return replace_link(where, linked, in_(relation.local, map(loaded, ties)) if ties else NOTHING)
        return where

    async def _resolve_links(self, table: Table, where: Where) -> Where:
        """Replace each `Linked` by the keys it leads to, so that the matcher can decide the rest in Python."""
        if isinstance(where, Linked):
            relation = table.relations[where.relation]
            rows = await self.fetch(self._statements.catalog.target(relation), where.where)
            ties = {getattr(row, relation.remote) for row in rows} - {None}
            return in_(relation.local, ties) if ties else NOTHING
        if isinstance(where, Not):
            return Not(await self._resolve_links(table, where.part))
        if isinstance(where, All | Any_):
            return type(where)(tuple([await self._resolve_links(table, part) for part in where.parts]))
        return where

    async def events(self, query: EventQuery) -> list[Event]:
        text, parameters = self._statements.log.query(query)
        return [decode_event(values) for values in read_chunks(await self._calls.run(text, **parameters))]

    async def head(self) -> Head:
        return self._head or read_head(await self._calls.run(self._statements.log.head))

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        for start in range(0, len(events), BATCH_ROWS):
            await self._append_log(events[start : start + BATCH_ROWS])
        self._placeholders = await self._statements.writers.store(self._calls.run, writes, self._placeholders)

    async def _append_log(self, events: Sequence[Event]) -> None:
        self._head = advance_head(await self.head(), events)
        head, rows = encode_head(self._head), [encode_event(event) for event in events]
        await self._calls.run(self._statements.log.append, head=head, events=rows)

    async def clear(self, tables: Iterable[Table]) -> None:
        await self._statements.writers.clear(self._calls.run, tables)


class NativeSession(Neo4jSession):
    """Adds the optional methods, pushed down to Neo4j where its results are exact."""

    orders_joins = True

    async def find(self, table: Table, key: Any) -> Row | None:
        layout = self._statements.fetches.layouts[table.name]
        try:
            values = coerce_key(layout, key)
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
        rows = await self._calls.run(layout.find_many, rows=[layout.encode_key(key) for key in set(keys)])
        return sorted_rows([layout.row(values) for values in rows], full_order(table, ()))

    async def find_keys(self, wanted: Mapping[Table, Sequence[Any]]) -> dict[Table, list[Row]]:
        if len(wanted) < 2:
            return await super().find_keys(wanted)
        layouts = [self._statements.fetches.layouts[table.name] for table in wanted]
        try:
            keys = {
                layout.keys_parameter: [coerce_key(layout, key) for key in set(keys)]
                for layout, keys in zip(layouts, wanted.values(), strict=True)
            }
        except NotComparable:
            return await super().find_keys(wanted)
        (answers,) = await self._calls.run(f"RETURN {', '.join(layout.found_among for layout in layouts)}", **keys)
        return {
            layout.table: sorted_rows([layout.row(values) for values in answer], full_order(layout.table, ()))
            for layout, answer in zip(layouts, answers, strict=True)
        }

    async def non_empty(self, tables: Sequence[Table]) -> list[Table]:
        labels = [self._statements.fetches.layouts[table.name].label for table in tables]
        # Neo4j keeps counts per label, so this reads no node.
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
        statement = build_nearest_query(made.fetches, table, near, made.quick_vectors)
        if not statement.exact:
            return await super().nearest(table, near)
        layout = self._statements.fetches.layouts[table.name]
        return [Scored(layout.row(values), score) for score, *values in await self._ask(statement)]

    async def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        statement = self._statements.fetches.group(table, by, where)
        if not statement.exact:
            return await super().group(table, by, where)
        layout = self._statements.fetches.layouts[table.name]
        return {layout.decode_value(by, value): count for value, count in await self._ask(statement)}

    async def aggregate(self, table: Table, aggregation: Aggregation, where: Where = EVERYTHING) -> list[Group]:
        # Neo4j adds floats with rounding errors, so it counts how often values occur together, and we add them up.
        aggregator = Aggregator(aggregation)
        statement = self._statements.fetches.count_combinations(table, aggregator.values, where)
        if not statement.exact:
            return await super().aggregate(table, aggregation, where)
        layout, turn = self._statements.fetches.layouts[table.name], TimeSlice()
        for chunk in await self._ask(statement):
            await turn.pause()
            for *values, count in chunk[0]:
                aggregator.add(decode_combination(layout, aggregator.values, values), count)
        return aggregator.groups()

    async def keys(self, table: Table, field: str) -> dict[str, int]:
        layout = self._statements.fetches.layouts[table.name]
        if layout.vertex is None or layout.vertex.properties != field:
            return await super().keys(table, field)
        return {key: count for key, count in await self._calls.run(layout.native_keys)}

    async def read(self, plan: Read) -> ResultPage:
        plan = await self.rewrite_plan(plan)
        statement = self._statements.plans.statement(plan)
        if statement is None:
            return await super().read(plan)
        return statement.decode(await self._calls.run(statement.text, **statement.parameters))

    async def rewrite_plan(self, plan: Read) -> Read:
        """Rewrite the condition of a plan as `rewrite_condition` does."""
        where = await self.rewrite_condition(plan.table, plan.where, plan.page.limit)
        return plan if where is plan.where else replace(plan, where=where)

    async def has_key(self, table: Table, field: str, key: str) -> bool:
        """Whether the key occurs; cached until the log moves, as no index supports it."""
        # By checksum, as after a wipe the log may reach the same position with other events.
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
        named = sorted(matches.list_arc_keys(pattern, answer))
        arcs = {pattern.arcs.key_of(row): row for row in await self.find_many(pattern.arcs, named)} if named else {}
        return matches.read(pattern, answer, arcs)

    def explain_match(self, pattern: Pattern) -> list[str]:
        statement = self._statements.matches.statement(pattern)
        return [] if statement is None else [statement.text]

    def explain_read(self, plan: Read) -> list[str]:
        statement = self._statements.plans.statement(plan)
        return [] if statement is None else [statement.text]


def coerce_key(layout: Layout, key: Any) -> dict[str, Any]:
    """The stored key columns that equal a key; a None among them means that no row has the key."""
    parts = (key,) if len(layout.table.key) == 1 else key
    return {
        layout.columns[name]: coerce_equal(layout.kinds[name], part)
        for name, part in zip(layout.table.key, parts, strict=True)
    }
