"""URLs of SQL stores, and how a store describes itself."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from backends.sql import open_sql
from backends.sql.settings import PostgresqlSettings, SqliteSettings, settings_from
from tests.backends.sql.samples import CATALOG, THINGS, store, thing
from ugs.errors import InvalidSyntax


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
    ],
)
def test_a_url_says_where_the_store_is(url: str, settings: object) -> None:
    assert settings_from(url) == settings


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
        "postgresql://me:secret@db/x?sslmode=require",
    ],
)
def test_a_url_that_says_nothing_useful_is_refused_in_words(url: str) -> None:
    with pytest.raises(InvalidSyntax) as refused:
        settings_from(url)
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
