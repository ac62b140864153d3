"""Parts of texts: found by an index or without one, always the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest

from tests.backends.sql.samples import CATALOG, PARTS, THINGS, Part, Thing, holds, store, thing
from tests.servers.postgresql import PostgreSQL
from ugs.catalog import Catalog
from ugs.changes import TableWrites
from ugs.feature_registry import RULES
from ugs.reads import substring_hints
from ugs.reads.filters import Compare, Linked, Not, Op, Where, all_of, eq
from ugs.reads.plan import Page, Read, paged
from ugs.reads.rendering import Column, Items, PageTemplate, Rendering, RowTemplate, Text
from ugs.tables import Field, Table
from ugs.values import JsonText
from ugs_backends.sql import SqlStorage, open_sql
from ugs_backends.sql.sqlite import trigram_index

IDS = {
    table: Rendering(PageTemplate((Text("["), Items(RowTemplate(table, (Column(name),))), Text("]"))))
    for table, name in ((THINGS, "id"), (PARTS, "owner"))
}
LETTERS = "aab\"'%_\\ \n\r\té߀日本\u0130\u0131\ufffd\ufffe\uffff\ue000\U0001f600\U00010000"
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
TRIGRAMS = [path for path in INSTALLED if (path.parents[1] / "lib/pg_trgm.so").exists()]


def text(chance: Random) -> str:
    return "".join(chance.choices(LETTERS, k=chance.randrange(24)))


def kinds(chance: Random, count: int) -> list[Thing]:
    return [thing(f"t{n}", None if n % 9 == 0 else text(chance), n) for n in range(count)]


def parts_of(rows: list[Thing], chance: Random) -> list[Part]:
    return [Part(chance.choice(rows).id, n, text(chance), 0.0, JsonText("{}")) for n in range(len(rows))]


def needles(rows: list[Thing], chance: Random) -> Iterator[str]:
    """Parts of texts that are there, and some that are not."""
    for row in rows:
        start = chance.randrange(12)
        yield (row.kind or "")[start : start + chance.randrange(1, 9)]
        yield "".join(chance.choices(LETTERS, k=3))
    yield from ("", "a", "aa", (rows[1].kind or "") * 40, "\x00aaa", "\ud800aaa")


def questions(part: str) -> list[tuple[Table, Where, Page]]:
    here, there = Compare("kind", Op.CONTAINS, part), Compare("label", Op.CONTAINS, part)
    return [
        (THINGS, here, Page()),
        (PARTS, there, Page(3)),
        (THINGS, Not(here), Page()),
        (THINGS, Linked("parts", there), Page()),
        (THINGS, all_of(eq("size", 7), Linked("parts", there)), Page(2)),
        (PARTS, Linked("thing", all_of(here, eq("size", 3))), Page(4)),
        (THINGS, Not(Linked("parts", there)), Page(5)),
    ]


async def same_as_the_reference(storage: SqlStorage, seed: int, count: int = 40) -> None:
    """Rows come, change and go; after each step every question has the reference's answer."""
    chance = Random(seed)
    rows: dict[Table, list[Any]] = {THINGS: (some := kinds(chance, count)), PARTS: parts_of(some, chance)}
    await store(storage, rows)
    await compare(storage, rows, chance)
    changed = [thing(row.id, text(chance), row.size) for row in rows[THINGS][::3]]
    gone = [row.id for row in rows[THINGS][1::5] if row not in changed and row.id not in {one.id for one in changed}]
    async with storage.session(write=True) as session:
        await session.append([], {THINGS: TableWrites(updates=changed, deletes=gone)})
    kept = {row.id: row for row in rows[THINGS]} | {row.id: row for row in changed}
    rows[THINGS] = [row for row in kept.values() if row.id not in gone]
    await compare(storage, rows, chance)


async def compare(storage: SqlStorage, rows: dict[Table, list[Any]], chance: Random) -> None:
    async with storage.session() as session:
        for part in needles(rows[THINGS][:10], chance):
            for table, where, page in questions(part):
                wanted = [row for row in rows[table] if holds(where, row, table, rows)]
                assert await session.fetch(table, where, (), page) == paged(wanted, table, (), page), (where, page)
                assert await session.count(table, where) == len(wanted)
                plan = Read(table, where, page=page, total=True)
                found = await session.read(plan)
                assert (found.rows, found.total) == (paged(wanted, table, (), page), len(wanted)), (where, page)
                assert await storage.render(plan, IDS[table], []) == ids_text(found.rows), (where, page)


def ids_text(rows: list[Any]) -> bytes:
    return ("[" + ",".join(f'"{row.id if isinstance(row, Thing) else row.owner}"' for row in rows) + "]").encode()


async def test_pages_written_by_the_database_look_where_the_index_is(tmp_path: Path) -> None:
    storage = open_sql(f"sqlite:///{tmp_path}/store.db")
    await storage.open(CATALOG)
    plan = Read(THINGS, Linked("parts", Compare("label", Op.CONTAINS, "farmhouse")), page=Page(2))
    try:
        sent = statements_of(storage)
        assert await storage.render(plan, IDS[THINGS], []) == b"[]"
    finally:
        await storage.close()

    assert "EXISTS" not in sent[-1] and " IN (SELECT" in sent[-1]


def statements_of(storage: SqlStorage) -> list[str]:
    """A list that grows with each statement that answers are written by."""
    sent: list[str] = []
    one = storage.statement_cache._fetch_text

    async def noted(text: str, values: Sequence[Any], max_bytes: int) -> Any:
        sent.append(text)
        return await one(text, values, max_bytes)

    storage.statement_cache._fetch_text = noted  # type: ignore[method-assign]
    return sent


@pytest.mark.parametrize("few", [2_000, 0], ids=["rare", "frequent"])
@pytest.mark.parametrize("index", [True, False], ids=["index", "no index"])
async def test_sqlite_answers_alike_with_and_without_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: bool, few: int
) -> None:
    monkeypatch.setattr(substring_hints, "BASE_ROWS", few)
    monkeypatch.setattr(substring_hints, "ROWS_PER_RESULT", 0)
    if not index:
        monkeypatch.setattr(trigram_index, "is_available", lambda: False)
    storage = open_sql(f"sqlite:///{tmp_path}/store.db")
    await storage.open(CATALOG)
    try:
        assert bool(storage.shape.layout.substrings(THINGS)) is index
        await same_as_the_reference(storage, seed=few)
    finally:
        await storage.close()


async def test_the_index_comes_and_goes_with_the_catalog(tmp_path: Path) -> None:
    """Rows stored before are in it, VACUUM does not harm it, and nothing of it is left behind."""
    plain = Table("things", Thing, [plain_field(field) for field in THINGS.fields], key=["id"], words=THINGS.words)
    without = Catalog([plain], RULES)
    with_index = Catalog([Table("things", Thing, THINGS.fields, key=["id"], words=THINGS.words)], RULES)
    url = f"sqlite:///{tmp_path}/store.db"
    tables = []
    for round, catalog in enumerate((without, with_index, without, with_index)):
        storage = open_sql(url)
        await storage.open(catalog)
        async with storage.session(write=True) as session:
            added = [thing(f"t{round}", f"Farmhouse {round}"), thing(f"u{round}", None)]
            await session.append([], {catalog["things"]: TableWrites(inserts=added)})
        async with storage.session() as session:
            for part, found in (("farmhouse", 0), ("rmhouse ", round + 1), (f"se {round}", 1)):
                assert await session.count(catalog["things"], Compare("kind", Op.CONTAINS, part)) == found
            names = await session.link.rows(
                "SELECT name FROM sqlite_master WHERE name LIKE '%\\_\\_type\\_\\_%' ESCAPE '\\'"
            )
            tables.append(len(names))
        link = await storage.connect(write=True)
        await link.run("DELETE FROM things WHERE id = 'u0'", "VACUUM")
        await link.close()
        await storage.close()
    assert tables[0] == tables[2] == 0 and tables[1] == tables[3] > 0


def plain_field(field: Field) -> Field:
    return Field(field.name, field.kind, field.nullable, field.indexed, field.column)


class WithTrigrams(PostgreSQL):
    """A server that the system has, with the extension that the wheel's lacks."""

    name: ClassVar[str] = "postgresql-trigrams"

    @property
    def binaries(self) -> Path:
        return TRIGRAMS[-1].parent

    def copy_unreachable_binaries(self) -> None:
        """Everybody may run them."""


@contextmanager
def running(tmp_path: Path) -> Iterator[str]:
    server = WithTrigrams()
    server.create(tmp_path / "server.log")
    try:
        yield server.url
    finally:
        server.remove()


@pytest.mark.skipif(not TRIGRAMS, reason="no PostgreSQL with pg_trgm is installed here")
async def test_postgresql_answers_alike_with_pg_trgm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path) as url:
        storage = open_sql(f"{url}?schema=parts")
        await storage.open(CATALOG)
        try:
            assert storage.shape.layout.substrings(THINGS)
            await same_as_the_reference(storage, seed=1)
            monkeypatch.setattr(substring_hints, "BASE_ROWS", 0)
            monkeypatch.setattr(substring_hints, "ROWS_PER_RESULT", 0)
            await same_as_the_reference(storage, seed=2, count=20)
            async with storage.session() as session:
                await session.link.run("SET LOCAL enable_seqscan = off")
                text, values = storage.shape.select().count(THINGS, Compare("kind", Op.CONTAINS, "farmhouse"))
                plan = "\n".join(row[0] for row in await session.link.rows(f"EXPLAIN {text}", values))
            assert "things_type_trigrams" in plan
        finally:
            await storage.close()
