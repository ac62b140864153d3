"""URLs of SQL stores, and how a store describes itself."""

from __future__ import annotations

import asyncio
import gc
import ssl
from pathlib import Path

import pytest

from tests import servers
from tests.backends.sql.samples import CATALOG, THINGS, store, thing
from tests.servers.places import free_port
from ugs.connect import storage_for
from ugs.errors import InvalidSyntax, Unavailable
from ugs_backends.sql import open_sql
from ugs_backends.sql.postgresql.storage import PostgresqlStorage, build_ssl_argument
from ugs_backends.sql.settings import PostgresqlSettings, SqliteSettings, parse_settings


@pytest.mark.parametrize(
    ("url", "settings"),
    [
        ("sqlite:", SqliteSettings(None)),
        ("sqlite://?native=off", SqliteSettings(None, native=False)),
        ("sqlite:///data/ugs.db", SqliteSettings(Path("data/ugs.db"))),
        ("sqlite:./ugs.db", SqliteSettings(Path("ugs.db"))),
        ("sqlite:////srv/my%20ugs.db?pool=3", SqliteSettings(Path("/srv/my ugs.db"), pool=3)),
        ("sqlite:/srv/ugs.db", SqliteSettings(Path("/srv/ugs.db"))),
        ("sqlite+aiosqlite:///ugs.db", SqliteSettings(Path("ugs.db"))),
        (
            "postgresql://me:p%40ss@db:5433/graphs?schema=two&native=off&ssl=require",
            PostgresqlSettings("db", 5433, "me", "p@ss", "graphs", "two", "require", False),
        ),
        ("postgresql://db/graphs", PostgresqlSettings("db", 5432, None, None, "graphs", "ugs")),
        ("postgres://db/graphs", PostgresqlSettings("db", 5432, None, None, "graphs")),
        (
            "postgresql://me@one:5433,two/graphs?target_session_attrs=any",
            PostgresqlSettings(
                "one", 5433, "me", None, "graphs", more_hosts=(("two", 5432),), session_attributes="any"
            ),
        ),
        (
            "postgresql:///graphs?host=one,two&port=1,2&user=me&password=p%40ss",
            PostgresqlSettings("one", 1, "me", "p@ss", "graphs", more_hosts=(("two", 2),)),
        ),
        (
            "postgresql://[::1]:7,[fe80::1]/g",
            PostgresqlSettings("::1", 7, None, None, "g", more_hosts=(("fe80::1", 5432),)),
        ),
        ("postgresql:///g?host=/run/pg&port=7", PostgresqlSettings("/run/pg", 7, None, None, "g")),
        ("postgresql://me@%2Frun%2Fpg/g", PostgresqlSettings("/run/pg", 5432, "me", None, "g")),
        (
            "postgresql://db?dbname=g&connect_timeout=2&application_name=mine&passfile=/p&gssencmode=disable",
            PostgresqlSettings(
                "db", 5432, None, None, "g", connect_timeout=2.0, application_name="mine", password_file="/p"
            ),
        ),
        (
            "postgresql://db/g?options=-c%20work_mem%3D8MB%20-cgeqo%3Doff&ssl_min_protocol_version=TLSv1.3",
            PostgresqlSettings(
                "db",
                5432,
                None,
                None,
                "g",
                ssl_min_version="TLSv1.3",
                server_settings=(("work_mem", "8MB"), ("geqo", "off")),
            ),
        ),
    ],
)
def test_a_url_says_where_the_store_is(url: str, settings: object) -> None:
    assert parse_settings(url) == settings


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///data/",
        "sqlite://host/x.db",
        "sqlite:x.db?fsync=off",
        "sqlite:x.db?native=maybe",
        "sqlite:x.db?pool=0",
        "sqlite:x.db?schema=x",
        "postgresql:",
        "postgresql://me:secret@db",
        "postgresql://me:secret@db:port/x",
        "postgresql://me:secret@db/x?schema=a-b",
        "postgresql://me:secret@db/x?schema=pg_x",
        "postgresql://me:secret@db/x?sslmodus=require",
        "postgresql://me:secret@/x",
        "postgresql://me:secret@one,,two/x",
        "postgresql://me:secret@o ne/x",
        "postgresql://me:secret@[::1/x",
        "postgresql://me:secret@one,two/x?port=1,2,3",
        "postgresql://me:secret@db:0/x",
        "postgresql://me:secret@db:70000/x",
        "postgresql://me:secret@db/x?target_session_attrs=master",
        "postgresql://me:secret@db/x?channel_binding=require",
        "postgresql://me:secret@db/x?gssencmode=require",
        "postgresql://me:secret@db/x?connect_timeout=soon",
        "postgresql://me:secret@db/x?options=-d%205",
        "postgresql://me:secret@db/x?options=%22",
        "postgresql://me:secret@db/x?service=mine",
    ],
)
def test_a_url_that_says_nothing_useful_is_refused_in_words(url: str) -> None:
    with pytest.raises(InvalidSyntax) as refused:
        parse_settings(url)
    assert "secret" not in str(refused.value) + repr(refused.value.details)


def test_a_store_describes_itself_without_its_password() -> None:
    storage = open_sql("postgresql://me:secret@db:5433/graphs?schema=two")
    assert storage.describe() == "postgresql: db:5433/graphs, schema two"
    assert "secret" not in repr(storage.settings) + storage.describe()
    assert open_sql("sqlite:///data/ugs.db").describe() == "sqlite: data/ugs.db"


async def test_a_private_store_keeps_its_rows_until_it_is_forgotten() -> None:
    storage = open_sql("sqlite:")
    await storage.open(CATALOG)
    await store(storage, {THINGS: [thing("a")]})
    await storage.close()
    await storage.open(CATALOG)
    async with storage.session() as session:
        assert await session.fetch(THINGS) == [thing("a")]
    file = storage.path
    await storage.close()
    assert not storage.capabilities.durable and file.exists()
    del storage
    gc.collect()
    assert not file.exists()


@pytest.mark.parametrize("url", ["sqlite:", "postgresql://db/graphs"])
def test_without_native_paths_a_store_declares_none(url: str) -> None:
    assert open_sql(url).capabilities.native
    assert open_sql(f"{url}?native=off").capabilities.native == frozenset()


def test_urls_of_managed_databases_are_taken_as_they_are() -> None:
    """Providers hand out `postgres://` and libpq's own options."""
    found = parse_settings("postgres://me:s3cret@db.example:6543/graph?sslmode=require")
    assert found == parse_settings("postgresql://me:s3cret@db.example:6543/graph?ssl=require")
    assert isinstance(found, PostgresqlSettings) and found.ssl == "require"
    assert type(storage_for("postgres://me@h/graph?sslmode=verify-full&sslrootcert=system")) is PostgresqlStorage
    with pytest.raises(InvalidSyntax) as refused:
        parse_settings("postgres://me:s3cret@h/graph?sslmode=perhaps")
    assert "sslmode must be one of disable" in str(refused.value) and "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "verify", "hostname"),
    [
        ("sslmode=verify-full", ssl.CERT_REQUIRED, True),
        ("sslmode=verify-ca", ssl.CERT_REQUIRED, False),
        ("sslmode=require&sslrootcert=system", ssl.CERT_REQUIRED, False),
    ],
)
def test_a_server_is_verified_as_libpq_would(options: str, verify: ssl.VerifyMode, hostname: bool) -> None:
    found = parse_settings(f"postgres://me@h/graph?{options}")
    assert isinstance(found, PostgresqlSettings)
    context = build_ssl_argument(found)["ssl"]
    assert isinstance(context, ssl.SSLContext)
    assert (context.verify_mode, context.check_hostname) == (verify, hostname)


def test_modes_that_verify_nothing_are_left_to_the_driver() -> None:
    for mode in ("disable", "allow", "prefer", "require"):
        found = parse_settings(f"postgres://me@h/graph?sslmode={mode}")
        assert isinstance(found, PostgresqlSettings) and build_ssl_argument(found) == {"ssl": mode}
    found = parse_settings("postgres://me@h/graph")
    assert isinstance(found, PostgresqlSettings) and build_ssl_argument(found) == {}


async def test_certificates_that_are_not_there_are_told() -> None:
    with pytest.raises(InvalidSyntax) as refused:
        await open_sql("postgres://me:s3cret@127.0.0.1:1/graph?sslmode=verify-ca&sslrootcert=/no/where.pem").open(
            CATALOG
        )
    assert "certificates" in str(refused.value) and "s3cret" not in str(refused.value)


async def test_a_server_is_reached_by_the_short_scheme_and_libpqs_mode() -> None:
    url = servers.require("postgresql").replace("postgresql://", "postgres://", 1)
    storage = open_sql(f"{url}?schema=short_scheme&sslmode=prefer")
    await storage.open(CATALOG)
    await storage.drop()
    await storage.close()


async def test_a_server_without_tls_is_told_from_one_that_is_not_there() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)
        writer.write(b"N")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unavailable, match="offers no TLS") as refused:
            await open_sql(f"postgres://me:s3cret@127.0.0.1:{port}/graph?sslmode=require").open(CATALOG)
    assert "sslmode=disable" in str(refused.value) and "s3cret" not in str(refused.value)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await open_sql(f"postgres://me:s3cret@127.0.0.1:{port}/graph?sslmode=require").open(CATALOG)


def test_the_mode_of_tls_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = parse_settings("postgresql://db/g")
    assert isinstance(plain, PostgresqlSettings) and build_ssl_argument(plain) == {}
    monkeypatch.setenv("PGSSLMODE", "require")
    assert build_ssl_argument(plain) == {"ssl": "require"}
    own = parse_settings("postgresql://db/g?sslmode=disable")
    assert isinstance(own, PostgresqlSettings) and build_ssl_argument(own) == {"ssl": "disable"}
    monkeypatch.setenv("PGSSLMODE", "sometimes")
    with pytest.raises(InvalidSyntax, match="PGSSLMODE must be one of"):
        build_ssl_argument(plain)


def test_a_least_version_of_tls_is_kept() -> None:
    settings = parse_settings("postgresql://db/g?sslmode=require&ssl_min_protocol_version=TLSv1.3")
    assert isinstance(settings, PostgresqlSettings)
    assert build_ssl_argument(settings)["ssl"].minimum_version is ssl.TLSVersion.TLSv1_3


async def test_of_several_hosts_one_that_answers_and_writes_is_used() -> None:
    login, _, place = servers.require("postgresql").partition("//")[2].rpartition("@")
    host, _, database = place.partition("/")
    dead = f"127.0.0.1:{free_port()}"
    storage = open_sql(
        f"postgres://{login}@{dead},{host}/{database}?schema=hosts&application_name=mine&options=-cgeqo%3Doff"
    )
    assert isinstance(storage, PostgresqlStorage)
    assert storage.describe() == f"postgresql: {dead},{host}/{database}, schema hosts"
    await storage.open(CATALOG)
    try:
        await store(storage, {THINGS: [thing("a")]})
        async with storage.session() as session:
            told = "SELECT current_setting('application_name'), current_setting('geqo')"
            assert [tuple(row) for row in await session.link.rows(told)] == [("mine", "off")]
    finally:
        await storage.drop()


async def test_no_host_that_is_as_wanted_is_an_error_in_words() -> None:
    url = servers.require("postgresql")
    storage = open_sql(f"{url}?target_session_attrs=standby")
    with pytest.raises(Unavailable) as refused:
        await storage.open(CATALOG)
    assert "ugs:" not in refused.value.message
