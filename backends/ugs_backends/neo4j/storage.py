"""The Neo4j store: opening a database, sessions, and wiping."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from random import random
from typing import ClassVar

from msgspec.structs import replace

from ugs.catalog import Catalog
from ugs.errors import Conflict, SchemaMismatch, Unavailable
from ugs.reads.plan import Read, ResultPage
from ugs.reads.rendering import RenderArgs, Rendering
from ugs.reads.substring_hints import find_linked_substrings
from ugs.storage import Capabilities, Session, Storage
from ugs_backends.neo4j.connection import Connection
from ugs_backends.neo4j.event_log import Log, create_head
from ugs_backends.neo4j.indexes.schema import AWAIT, SHOW, SHOW_OWNERS, VERSION, Rule, find_stale_indexes, list_rules
from ugs_backends.neo4j.indexes.text_index import label_all_lengths
from ugs_backends.neo4j.layout import Layout, Names
from ugs_backends.neo4j.read.fetch_query import Fetches
from ugs_backends.neo4j.read.plan_cache import PlanCache
from ugs_backends.neo4j.session import NativeSession, Neo4jSession, Statements
from ugs_backends.neo4j.url import Address, parse_address
from ugs_backends.neo4j.write.backfill import fill_missing
from ugs_backends.neo4j.write.table_writes import Writers

OPEN_ATTEMPTS = 20
WIPE_BATCH_ROWS = 10_000


def open_neo4j(url: str) -> Neo4jStorage:
    """Create a store from `neo4j://user:password@host:port/database?namespace=…`, without opening it."""
    return Neo4jStorage(parse_address(url))


class Neo4jStorage(Storage):
    """A log and its tables in one Neo4j database."""

    scheme: ClassVar[str] = "neo4j"
    capabilities: ClassVar[Capabilities] = Capabilities(
        durable=True,
        concurrent_writers=True,
        native=frozenset({"find", "count", "group", "aggregate", "keys", "match", "nearest", "read"}),
    )

    def __init__(self, address: Address) -> None:
        self.address = address
        self.names = Names(address.namespace)
        if not address.native:
            self.capabilities = replace(self.capabilities, native=frozenset())  # type: ignore[misc]
        self._connection: Connection | None = None
        self._statements: Statements | None = None
        self._answering: PlanCache | None = None

    async def open(self, catalog: Catalog) -> None:
        await self.close()
        layouts = {table.name: Layout(table, self.names) for table in catalog}
        log = Log(self.names, [layout.missing for layout in layouts.values() if layout.vertex])
        rules = list_rules(self.names, layouts.values(), self.address.hnsw)
        self._connection = Connection(self.address)
        self._connection.rules = {(rule.label, "+".join(rule.properties)): rule.violates for rule in rules}
        self._statements = Statements(catalog, log, Fetches(layouts), Writers(layouts), self.address.hnsw > 0)
        self._answering = PlanCache(self._statements.plans, self._connection.run_read) if self.address.native else None
        try:
            await self._prepare(log, rules)
        except BaseException:
            await self.close()
            raise

    async def _prepare(self, log: Log, rules: list[Rule]) -> None:
        for attempt in range(OPEN_ATTEMPTS):
            try:
                await self._make_missing(rules)
                break
            except Conflict:  # another process is opening the same new database
                if attempt == OPEN_ATTEMPTS - 1:
                    raise
                await asyncio.sleep(random() / 10)
        ((schema,),) = await self._active_connection.run(log.create, head=create_head(VERSION))
        if schema > VERSION:
            raise SchemaMismatch(
                f"{self.describe()} was written by a newer version (layout {schema}, this one knows {VERSION}). "
                "Use that version, or copy the store with it.",
                found=schema,
                known=VERSION,
            )

    async def _make_missing(self, rules: list[Rule]) -> None:
        states = dict(await self._active_connection.run(SHOW, write=False))
        for name in find_stale_indexes(self._active_statements.fetches.layouts.values(), rules, states):
            await self._active_connection.run(f"DROP INDEX {name} IF EXISTS")
        missing = [rule for rule in rules if states.get(rule.name) is None]
        if any(rule.kind == "text" for rule in missing):
            for layout in self._active_statements.fetches.layouts.values():
                if layout.searched:
                    await self._active_connection.run(label_all_lengths(layout))
        await fill_missing(self._active_connection.run, self._active_statements.fetches.layouts.values(), missing)
        for rule in missing:
            await self._active_connection.run(rule.statement)
        if missing or any(states[rule.name] != "ONLINE" for rule in rules):
            await self._active_connection.run(AWAIT, seconds=int(self.address.deadline) or 1)

    @property
    def _active_connection(self) -> Connection:
        if self._connection is None:
            raise Unavailable(f"{self.describe()} is not open. Open the store before using it.")
        return self._connection

    async def close(self) -> None:
        connection, self._connection, self._answering = self._connection, None, None
        if connection is not None:
            await connection.close()

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        return self._open_write_session() if write else self._open_read_session()

    @asynccontextmanager
    async def _open_read_session(self) -> AsyncIterator[Session]:
        async with self._active_connection.open_reader() as reader:
            yield self._session_class(self._active_statements, reader)

    @asynccontextmanager
    async def _open_write_session(self) -> AsyncIterator[Session]:
        async with self._active_connection.open_writer(self._active_statements.log.lock) as writer:
            yield self._session_class(self._active_statements, writer)

    @property
    def _session_class(self) -> type[Neo4jSession]:
        return NativeSession if self.address.native else Neo4jSession

    @property
    def _active_statements(self) -> Statements:
        assert self._statements is not None
        return self._statements

    async def read(self, plan: Read) -> ResultPage:
        if self._answering is None:
            return await super().read(plan)
        plan = await self._rewrite_plan(plan)
        rows = await self._answering.rows(plan)
        return await super().read(plan) if rows is None else rows

    async def _rewrite_plan(self, plan: Read) -> Read:
        if not any(find_linked_substrings(self._active_statements.catalog, plan.table, plan.where)):
            return plan
        async with self._active_connection.open_reader() as reader:
            return await NativeSession(self._active_statements, reader).rewrite_plan(plan)

    async def render(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes:
        if self._answering and rendering.is_native:
            plan = await self._rewrite_plan(plan)
            text = await self._answering.text(plan, rendering)
            if text is not None:
                return text
        return await super().render(plan, rendering, late)

    async def wipe(self) -> None:
        """Delete all nodes with labels of this store, and nothing else."""
        layouts = self._active_statements.fetches.layouts.values()
        labels = [self.names.event, *(layout.label for layout in layouts)]
        labels += [layout.missing for layout in layouts if layout.vertex]
        found = f"MATCH (n:{'|'.join(labels)})"
        ((count,),) = await self._active_connection.run(
            f"RETURN {' + '.join(f'COUNT {{ (:{label}) }}' for label in labels)}"
        )
        if count > WIPE_BATCH_ROWS:
            await self._active_connection.run(
                f"{found} CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF {WIPE_BATCH_ROWS} ROWS"
            )
        await self._active_connection.run(
            f"{self._active_statements.log.reset} WITH log {found} DETACH DELETE n", head=create_head(VERSION)
        )

    def sibling(self, name: str) -> Neo4jStorage:
        return Neo4jStorage(replace(self.address, namespace=f"{self.address.namespace}__{name}"))

    async def drop(self) -> None:
        await self.wipe()
        await self._active_connection.run(f"MATCH (log:{self.names.log}) DELETE log")
        known = {rule.name for rule in list_rules(self.names, self._active_statements.fetches.layouts.values())}
        for name, constraint in await self._active_connection.run(SHOW_OWNERS, write=False):
            if name in known or self.names.has_own(name):
                await self._active_connection.run(f"DROP {'CONSTRAINT' if constraint else 'INDEX'} {name} IF EXISTS")
        await self.close()

    def describe(self) -> str:
        return f"Neo4j at {self.address}"
