"""The store itself: opening a database, handing out sessions, and forgetting everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from random import random
from typing import ClassVar

from msgspec.structs import replace

from backends.neo4j.address import Address, parse_address
from backends.neo4j.answering import Answering
from backends.neo4j.connection import Connection
from backends.neo4j.fetches import Fetches
from backends.neo4j.filling import fill_terms
from backends.neo4j.layout import Layout, Names
from backends.neo4j.log import Log, empty_head
from backends.neo4j.parts import marking_all
from backends.neo4j.schema import AWAIT, SHOW, SHOW_OWNERS, VERSION, Rule, stale_indexes, wanted_rules
from backends.neo4j.session import NativeSession, Neo4jSession, Statements
from backends.neo4j.writes import Writers
from ugs.catalog import Catalog
from ugs.errors import Conflict, SchemaMismatch, Unavailable
from ugs.reads.plan import Read, Rows
from ugs.reads.rendering import Late, Rendering
from ugs.reads.searched import told_elsewhere
from ugs.storage import Capabilities, Session, Storage

ATTEMPTS = 20
WIPE_BATCH = 10_000


def open_neo4j(url: str) -> Neo4jStorage:
    """A store on a Neo4j server, from `neo4j://user:password@host:port/database?namespace=…`."""
    return Neo4jStorage(parse_address(url))


class Neo4jStorage(Storage):
    """A log and its tables in one Neo4j database."""

    scheme: ClassVar[str] = "neo4j"
    capabilities: ClassVar[Capabilities] = Capabilities(
        durable=True,
        concurrent_writers=True,
        native=frozenset({"find", "count", "group", "keys", "match", "nearest", "read"}),
    )

    def __init__(self, address: Address) -> None:
        self.address = address
        self.names = Names(address.namespace)
        if not address.native:
            self.capabilities = replace(self.capabilities, native=frozenset())  # type: ignore[misc]
        self._connection: Connection | None = None
        self._statements: Statements | None = None
        self._answering: Answering | None = None

    async def open(self, catalog: Catalog) -> None:
        await self.close()
        layouts = {table.name: Layout(table, self.names) for table in catalog}
        log = Log(self.names, [layout.missing for layout in layouts.values() if layout.vertex])
        rules = wanted_rules(self.names, layouts.values(), self.address.hnsw)
        self._connection = Connection(self.address)
        self._connection.rules = {(rule.label, "+".join(rule.properties)): rule.violates for rule in rules}
        self._statements = Statements(catalog, log, Fetches(layouts), Writers(layouts), self.address.hnsw > 0)
        self._answering = Answering(self._statements.plans, self._connection.ask) if self.address.native else None
        try:
            await self._prepare(log, rules)
        except BaseException:
            await self.close()
            raise

    async def _prepare(self, log: Log, rules: list[Rule]) -> None:
        for attempt in range(ATTEMPTS):
            try:
                await self._make_missing(rules)
                break
            except Conflict:  # somebody opens the same new database at the same moment
                if attempt == ATTEMPTS - 1:
                    raise
                await asyncio.sleep(random() / 10)
        ((schema,),) = await self._opened.run(log.create, head=empty_head(VERSION))
        if schema > VERSION:
            raise SchemaMismatch(
                f"{self.describe()} was written by a newer version (layout {schema}, this one knows {VERSION}). "
                "Use that version, or copy the store with it.",
                found=schema,
                known=VERSION,
            )

    async def _make_missing(self, rules: list[Rule]) -> None:
        states = dict(await self._opened.run(SHOW, write=False))
        for name in stale_indexes(self._made.fetches.layouts.values(), rules, states):
            await self._opened.run(f"DROP INDEX {name} IF EXISTS")
        missing = [rule for rule in rules if states.get(rule.name) is None]
        if any(rule.kind == "text" for rule in missing):
            for layout in self._made.fetches.layouts.values():
                if layout.searched:
                    await self._opened.run(marking_all(layout))
        await fill_terms(self._opened.run, self._made.fetches.layouts.values(), missing)
        for rule in missing:
            await self._opened.run(rule.statement)
        if missing or any(states[rule.name] != "ONLINE" for rule in rules):
            await self._opened.run(AWAIT, seconds=int(self.address.deadline) or 1)

    @property
    def _opened(self) -> Connection:
        if self._connection is None:
            raise Unavailable(f"{self.describe()} is not open. Open the store before using it.")
        return self._connection

    async def close(self) -> None:
        connection, self._connection, self._answering = self._connection, None, None
        if connection is not None:
            await connection.close()

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        return self._writing() if write else self._reading()

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[Session]:
        async with self._opened.reading() as reader:
            yield self._kind(self._made, reader)

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[Session]:
        async with self._opened.writing(self._made.log.lock) as writer:
            yield self._kind(self._made, writer)

    @property
    def _kind(self) -> type[Neo4jSession]:
        return NativeSession if self.address.native else Neo4jSession

    @property
    def _made(self) -> Statements:
        assert self._statements is not None
        return self._statements

    async def read(self, plan: Read) -> Rows:
        if self._answering is None:
            return await super().read(plan)
        plan = await self._turned(plan)
        rows = await self._answering.rows(plan)
        return await super().read(plan) if rows is None else rows

    async def _turned(self, plan: Read) -> Read:
        if not any(told_elsewhere(self._made.catalog, plan.table, plan.where)):
            return plan
        async with self._opened.reading() as reader:
            return await NativeSession(self._made, reader).turned(plan)

    async def render(self, plan: Read, rendering: Rendering, late: Late) -> bytes:
        if self._answering and rendering.is_native:
            plan = await self._turned(plan)
            text = await self._answering.text(plan, rendering)
            if text is not None:
                return text
        return await super().render(plan, rendering, late)

    async def wipe(self) -> None:
        """Remove what wears our labels, and nothing else."""
        layouts = self._made.fetches.layouts.values()
        labels = [self.names.event, *(layout.label for layout in layouts)]
        labels += [layout.missing for layout in layouts if layout.vertex]
        found = f"MATCH (n:{'|'.join(labels)})"
        ((count,),) = await self._opened.run(f"RETURN {' + '.join(f'COUNT {{ (:{label}) }}' for label in labels)}")
        if count > WIPE_BATCH:
            await self._opened.run(f"{found} CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF {WIPE_BATCH} ROWS")
        await self._opened.run(f"{self._made.log.reset} WITH log {found} DETACH DELETE n", head=empty_head(VERSION))

    def apart(self, name: str) -> Neo4jStorage:
        return Neo4jStorage(replace(self.address, namespace=f"{self.address.namespace}__{name}"))

    async def drop(self) -> None:
        await self.wipe()
        await self._opened.run(f"MATCH (log:{self.names.log}) DELETE log")
        known = {rule.name for rule in wanted_rules(self.names, self._made.fetches.layouts.values())}
        for name, constraint in await self._opened.run(SHOW_OWNERS, write=False):
            if name in known or self.names.has_own(name):
                await self._opened.run(f"DROP {'CONSTRAINT' if constraint else 'INDEX'} {name} IF EXISTS")
        await self.close()

    def describe(self) -> str:
        return f"Neo4j at {self.address}"
