"""The PostgreSQL store: one schema of a database, which several gateways may share."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, cast

from msgspec.structs import replace
from sqlalchemy import URL
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from ugs.catalog import Catalog
from ugs.errors import Conflict, InvalidSyntax, StorageIOError, Unavailable, UniqueViolation
from ugs.storage import Capabilities
from ugs.storage.read_position import ReplicaStatus
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.connections.engine import open_driver_connection
from ugs_backends.sql.connections.pool import Pool
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.migrations.migration import open_transaction
from ugs_backends.sql.postgresql.connection import (
    HISTORY_ROW,
    LOG_ROW,
    WRITE_LOCK,
    PostgresqlLink,
    get_history_lock,
    lock_row,
)
from ugs_backends.sql.postgresql.dialect import PostgresqlDialect
from ugs_backends.sql.postgresql.errors import DRIVER_ERRORS, translate_error
from ugs_backends.sql.postgresql.extensions import ensure_extension
from ugs_backends.sql.postgresql.formats import register_formats
from ugs_backends.sql.postgresql.json_renderer import PostgresqlJsonRenderer
from ugs_backends.sql.postgresql.migrations import STEPS
from ugs_backends.sql.postgresql.optimistic_session import FOLLOWS, LogHeadCache, OptimisticSession, follow_function
from ugs_backends.sql.postgresql.replicas import Replica, ReplicaPool
from ugs_backends.sql.postgresql.vector_extension import find_vector_schema, register, settle_indexes
from ugs_backends.sql.session import SqlSession
from ugs_backends.sql.settings import PostgresqlSettings, ssl_mode
from ugs_backends.sql.storage import NATIVE, POOL_TIMEOUT_SECONDS, SqlStorage

CONNECT_SECONDS = 5.0
MIGRATION_SECONDS = 86_400.0
"""Migrations of large tables may take longer than any request should."""
STATEMENT_CACHE_SIZE = 500
MAX_CACHED_STATEMENT_BYTES = 256 << 10
"""Larger statements are not cached as prepared statements."""
TRIGRAM_EXTENSION = "pg_trgm"
"""The extension for substring search."""
PESSIMISTIC_SECONDS = 2.0
"""After a conflict with another gateway, decisions take the write lock up front for this long."""
PESSIMISTIC_GROUPS = 256
"""After an id was wrongly assumed free, this many groups look ids up first."""
LISTEN_CHECK_SECONDS = 5.0
"""A watcher polls the log after this long without a notification."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 5.0

SESSION = {
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "60s",
    # Queries read few rows each; JIT compilation costs more than it saves.
    "jit": "off",
    # One generic plan per statement: planning a deep read takes longer than running it.
    "plan_cache_mode": "force_generic_plan",
    # Parallel workers do not pay off either, except for scans of tables with millions of rows.
    "parallel_setup_cost": "10000",
    # Data is mostly cached: an ordered index scan beats a bitmap scan with a sort.
    "random_page_cost": "1.1",
    "application_name": "ugs-gateway",
}


class PostgresqlStorage(SqlStorage):
    """Graph tables and the event log in one schema."""

    scheme: ClassVar[str] = "postgresql"
    capabilities: ClassVar[Capabilities] = Capabilities(durable=True, concurrent_writers=True, native=NATIVE)
    dialect = PostgresqlDialect()
    writing = PostgresqlJsonRenderer
    steps = STEPS

    def __init__(self, settings: PostgresqlSettings) -> None:
        super().__init__(native=settings.native, readers=settings.pool, history=settings.history)
        self.settings = settings
        self._head_cache, self._follows, self._careful_until = LogHeadCache(), False, 0.0
        self._pessimistic_groups = 0
        self._read_pool: ReplicaPool | None = None
        self._listeners: list[PostgresqlLink] = []
        """The connections that receive notifications of commits."""
        self._engine = create_async_engine(
            _build_url(settings), poolclass=NullPool, connect_args=_build_arguments(settings)
        )

    def sibling(self, name: str) -> PostgresqlStorage:
        return PostgresqlStorage(replace(self.settings, schema=f"{self.settings.schema}__{name}"))

    def describe(self) -> str:
        at = self.settings
        return f"postgresql: {at.place}, schema {at.schema}"

    async def open(self, catalog: Catalog) -> None:
        link = await self.connect()
        try:
            await self._make_schema(link)
            vectors, trigrams = await find_vector_schema(link, catalog), await ensure_extension(link, TRIGRAM_EXTENSION)
            self.dialect = PostgresqlDialect(vectors, self.settings.hnsw, trigrams)
        finally:
            await link.close()
        await super().open(catalog)
        self._head_cache.forget()
        # The function that checks and commits at once takes an advisory lock and notifies.
        has_all = self.settings.listen and not self.settings.row_lock
        self._follows = self.native and has_all and await self._make_follow()
        if self.settings.replicas:
            await self._open_replicas()
        if self.dialect.vectors is not None:
            async with self.session(write=True) as session:
                await settle_indexes(session.link, self.dialect, catalog)

    # ── replicas ─────────────────────────────────────────────────────────────

    async def _open_replicas(self) -> None:
        """Make the pools of the standbys, which need not answer yet."""
        replicas = []
        for host, port in self.settings.replicas:
            settings = replace(
                self.settings, host=host, port=port, more_hosts=(), replicas=(), session_attributes="any"
            )
            other = PostgresqlStorage(settings)
            other.dialect = self.dialect
            replicas.append(Replica(f"{host}:{port}", Pool(other.connect, self.settings.pool, POOL_TIMEOUT_SECONDS)))
        self._read_pool = ReplicaPool(self.pool, replicas)
        async with self._write_session() as session:
            self._read_pool.note((await session.head()).position)
        self._read_pool.start()

    async def close(self) -> None:
        pool, self._read_pool = self._read_pool, None
        if pool is not None:
            await pool.close()
        await super().close()

    async def wipe(self) -> None:
        await super().wipe()
        self._head_cache.seen = 0
        if self._read_pool is not None:
            async with self.session(write=True) as session:
                ((place,),) = await session.link.rows("SELECT pg_current_wal_insert_lsn()::text")
            self._read_pool.forget(place)

    @property
    def read_pool(self) -> Pool[DriverConnection]:
        return self.pool if self._read_pool is None else self._read_pool

    def known_position(self) -> int | None:
        return None if self._read_pool is None else self._read_pool.seen

    def replicas(self) -> list[ReplicaStatus]:
        return [] if self._read_pool is None else self._read_pool.status()

    def _note(self, position: int) -> None:
        if self._read_pool is not None:
            self._read_pool.note(position)

    async def _make_schema(self, link: DriverConnection) -> None:
        if self.settings.row_lock:
            await self._make_lock(link)
        # Gateways that start at the same time would both create it; the write lock serialises them.
        async with open_transaction(link):
            found = await link.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", [self.settings.schema])
            if not found:
                await link.run(f'CREATE SCHEMA "{self.settings.schema}"')

    async def _make_lock(self, link: DriverConnection) -> None:
        """Make the rows that writers lock, before the first of them can."""
        table = f'"{self.settings.schema}".{WRITE_LOCK}'
        statements = (
            f'CREATE SCHEMA IF NOT EXISTS "{self.settings.schema}"',
            f"CREATE TABLE IF NOT EXISTS {table} (id int PRIMARY KEY)",
            f"INSERT INTO {table} VALUES ({LOG_ROW}), ({HISTORY_ROW}) ON CONFLICT DO NOTHING",
        )
        for statement in statements:
            with suppress(UniqueViolation):  # another gateway makes it at the same moment
                await link.run(statement)

    async def connect(self, *, write: bool = False) -> PostgresqlLink:
        try:
            async with asyncio.timeout(_connect_seconds(self.settings) + 1):
                connection = await open_driver_connection(self._engine)
                await register_formats(connection)
                if self.dialect.vectors is not None:
                    await register(connection, self.dialect)
        except DRIVER_ERRORS as error:
            raise translate_error(error, self.describe()) from error
        deadline = MIGRATION_SECONDS if write else self.settings.deadline
        link = PostgresqlLink(
            connection,
            self.settings.schema,
            self.describe(),
            deadline,
            row_lock=self.settings.row_lock,
            notifies=self.settings.listen,
        )
        if write:
            await link.run("SET statement_timeout = 0")
        return link

    # ── decisions ────────────────────────────────────────────────────────────

    def decision_session(self) -> AbstractAsyncContextManager[SqlSession]:
        careful = not self.native or not self._follows or monotonic() < self._careful_until
        return self.session(write=True) if careful else self._open_decision_session()

    @asynccontextmanager
    async def _open_decision_session(self) -> AsyncIterator[SqlSession]:
        shape = self.shape
        async with self._writing:
            link = await self.pool.acquire()
            assert isinstance(link, PostgresqlLink)
            session = OptimisticSession(link, shape, self._head_cache, presuming=not self._pessimistic_groups)
            session.sender = self._get_listener() or link
            self._pessimistic_groups = max(0, self._pessimistic_groups - 1)
            try:
                yield session
                await session.finish()
                self._note(self._head_cache.seen)
            except BaseException as error:
                self._head_cache.forget()
                self._invalidate_listeners()
                if isinstance(error, Conflict) and error.at_once:
                    self._pessimistic_groups = PESSIMISTIC_GROUPS
                elif isinstance(error, Conflict):
                    # With the lock from the start, a group cannot be overtaken again.
                    self._careful_until = monotonic() + PESSIMISTIC_SECONDS
                raise
            finally:
                self.pool.release(link)

    def _get_listener(self) -> PostgresqlLink | None:
        """A listening connection: a commit sent on it needs no notification while no other connection listens."""
        return next((link for link in self._listeners if link.is_usable), None)

    def _invalidate_listeners(self) -> None:
        """Make all listeners read the log: a notification taken for our failed commit may have been another's."""
        for link in self._listeners:
            link.force_log_read()

    @asynccontextmanager
    async def _write_session(self) -> AsyncIterator[SqlSession]:
        async with super()._write_session() as session:
            self._head_cache.forget()
            yield session
        self._note(session.appended_until)

    def lock_history(self) -> list[str]:
        if self.settings.row_lock:
            return [lock_row(HISTORY_ROW)]
        return [f"SELECT pg_advisory_xact_lock({get_history_lock(self.settings.schema)})"]

    @asynccontextmanager
    async def history_session(self) -> AsyncIterator[SqlSession]:
        link = await self.pool.acquire()
        try:
            # Versions follow from committed events, so nobody has to wait for those who write new ones.
            await link.run("BEGIN", *self.lock_history())
            try:
                yield self._session_on(link, self.shape)
                await link.run("COMMIT")
            except BaseException:
                await link.rollback()
                raise
        finally:
            self.pool.release(link)

    async def _handle_notification(self, told: int | None) -> None:
        """Handle a notification after a commit in progress here, as the notification may be of that commit."""
        if self._writing.locked():
            async with self._writing:
                pass
        self._head_cache.invalidate(told)

    async def _make_follow(self) -> bool:
        """Create the function `events_append` if it is missing; returns whether optimistic sessions can be used."""
        try:
            async with self.session(write=True) as session:
                if not await session.link.rows(FOLLOWS):
                    await session.link.run(follow_function(self.settings.schema))
        except StorageIOError:
            return False  # the tables belong to another role, and this one may only write
        return True

    async def writer(self) -> DriverConnection:
        return await self.pool.acquire()

    def release_writer(self, link: DriverConnection) -> None:
        self.pool.release(link)

    async def analyze(self) -> None:
        """Update the statistics now: autovacuum does so minutes later, and until then plans assume empty tables."""
        link = await self.connect(write=True)
        try:
            tables = await link.rows("SELECT tablename FROM pg_tables WHERE schemaname = $1", [self.settings.schema])
            await link.run(f"ANALYZE {', '.join(quote_identifier(name) for (name,) in tables)}")
        finally:
            await link.close()

    async def drop(self) -> None:
        async with self.session(write=True) as session:
            await session.link.run(f'DROP SCHEMA "{self.settings.schema}" CASCADE')
        await self.close()

    # ── watching ─────────────────────────────────────────────────────────────

    async def watch(self, after: int) -> AsyncIterator[int]:
        """Yield the head position whenever a commit of any process moves it; survives lost connections."""
        if not self.settings.listen:
            async with aclosing(cast("AsyncGenerator[int, None]", super().watch(after))) as polled:
                async for position in polled:
                    self._note(position)
                    yield position
        pause = SHORTEST_PAUSE
        while True:
            try:
                async with aclosing(self._listen(after)) as positions:
                    async for position in positions:
                        self._note(position)
                        yield position
                        after, pause = position, SHORTEST_PAUSE
            except (Unavailable, Conflict):
                # The server is unreachable or busy; a watcher continues when it is back.
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _listen(self, after: int) -> AsyncGenerator[int, None]:
        """`watch` on one connection, until it breaks."""
        watchers = self.watchers
        link = await watchers.acquire()
        assert isinstance(link, PostgresqlLink)
        try:
            news, told = await link.listen(lambda: self._head_cache.announced), None
            self._listeners.append(link)
            while True:
                position = (await SqlSession(link, self.shape).head()).position if told is None else told
                if position > after:
                    after = position
                    yield position
                told = None
                with suppress(TimeoutError):
                    async with asyncio.timeout(LISTEN_CHECK_SECONDS):
                        told = await news.next()
                        await self._handle_notification(told)
        finally:
            self._listeners = [other for other in self._listeners if other is not link]
            watchers.release(link)


def _build_url(settings: PostgresqlSettings) -> URL:
    return URL.create(
        "postgresql+asyncpg",
        settings.user,
        settings.password,
        None if settings.host.startswith("/") else settings.host,
        None if settings.host.startswith("/") else settings.port,
        settings.database,
    )


DEFAULT_ROOT_CERTIFICATE = Path("~/.postgresql/root.crt")
"""Where libpq looks for trusted certificates when the URL names none."""


MIN_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def build_ssl_argument(settings: PostgresqlSettings) -> dict[str, Any]:
    """The driver's `ssl` argument with libpq semantics: with a root certificate `require` verifies the server."""
    mode, root = ssl_mode(settings), settings.ssl_root_certificate
    if mode is None and root is None and settings.ssl_certificate is None:
        return {}
    mode = mode or "prefer"
    if root is None and mode.startswith("verify-") and DEFAULT_ROOT_CERTIFICATE.expanduser().is_file():
        root = str(DEFAULT_ROOT_CERTIFICATE.expanduser())
    verified = mode.startswith("verify-") or (root is not None and mode == "require")
    if not verified and settings.ssl_certificate is None and settings.ssl_min_version is None:
        return {"ssl": mode}
    try:
        context = ssl.create_default_context(cafile=None if root in (None, "system") else root)
        context.check_hostname = mode == "verify-full"
        context.verify_mode = ssl.CERT_REQUIRED if verified else ssl.CERT_NONE
        if settings.ssl_certificate is not None:
            context.load_cert_chain(settings.ssl_certificate, settings.ssl_key, settings.ssl_password)
        if settings.ssl_min_version is not None:
            context.minimum_version = MIN_VERSIONS[settings.ssl_min_version]
    except OSError as error:
        raise InvalidSyntax(f"The certificates in the store's URL cannot be used: {error.strerror or error}") from error
    return {"ssl": context}


def _connect_seconds(settings: PostgresqlSettings) -> float:
    return min(settings.connect_timeout or CONNECT_SECONDS, settings.deadline)


def _build_arguments(settings: PostgresqlSettings) -> dict[str, Any]:
    timeout = f"{int(settings.deadline * 1000)}ms"
    arguments: dict[str, Any] = {
        "timeout": _connect_seconds(settings),
        "statement_cache_size": STATEMENT_CACHE_SIZE,
        "max_cached_statement_lifetime": 0,
        "max_cacheable_statement_size": MAX_CACHED_STATEMENT_BYTES,
        "server_settings": {**SESSION, "statement_timeout": timeout, "search_path": f'"{settings.schema}"'},
    }
    if settings.application_name:
        arguments["server_settings"]["application_name"] = settings.application_name
    arguments["server_settings"] |= dict(settings.server_settings)
    if settings.more_hosts or settings.host.startswith("/"):
        # Behind the URL, which has one name and no folder: the driver tries all in turn.
        hosts, ports = zip(*settings.hosts, strict=True)
        arguments |= {"host": list(hosts), "port": list(ports)}
    wanted = settings.session_attributes or ("read-write" if settings.more_hosts else None)
    if wanted is not None:
        arguments["target_session_attrs"] = wanted
    if settings.password_file is not None:
        arguments["passfile"] = settings.password_file
    return {**arguments, **build_ssl_argument(settings)}
