"""Opening stores of older, newer and foreign make."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.backends import older_facts
from tests.backends.sql.samples import CATALOG, PARTS, SEATS, THINGS, Seat, thing, words_of_thing
from tests.backends.sql.test_sessions import event
from ugs.catalog import Catalog
from ugs.changes import TableWrites
from ugs.errors import SchemaMismatch, UniqueViolation
from ugs.facts.model import FACTS
from ugs.feature_registry import CATALOG as FEATURES
from ugs.feature_registry import RULES
from ugs.reads.filters import Has, Op, Property
from ugs.tables import Field, Index, Kind, Table
from ugs.values import JsonText, to_text
from ugs_backends.sql import SqlStorage, open_sql
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.migrations.migration import bring_up_to_date, open_transaction, read_record
from ugs_backends.sql.session import StoreContext


class Young(Struct, frozen=True):
    id: str
    kind: str | None
    props: JsonText


class Grown(Struct, frozen=True):
    id: str
    kind: str | None
    props: JsonText
    size: int = 0
    note: str | None = None


YOUNG = Table(
    "things", Young, [Field("id"), Field("kind", nullable=True), Field("props", Kind.JSON)], key=["id"],
    indexes=[Index(("kind",))],
)  # fmt: skip
GROWN = Table(
    "things",
    Grown,
    [
        Field("id"),
        Field("kind", nullable=True),
        Field("props", Kind.JSON, indexed=True),
        Field("size", Kind.INTEGER),
        Field("note", nullable=True),
    ],
    key=["id"],
    indexes=[Index(("size", "id"))],
    words=words_of_thing,
)
BEFORE = Catalog([YOUNG], RULES)
AFTER = Catalog([GROWN, SEATS], RULES)


async def opened(url: str, catalog: Catalog) -> SqlStorage:
    storage = open_sql(url)
    await storage.open(catalog)
    return storage


async def make_young(url: str) -> None:
    storage = await opened(url, BEFORE)
    rows = [Young(f"t{number}", "a|b", to_text({"n": number})) for number in range(5)]
    async with storage.session(write=True) as session:
        await session.append([event(1)], {YOUNG: TableWrites(inserts=rows)})
    await storage.close()


async def check_grown(url: str) -> Sequence[str]:
    """Open with the grown catalog and look whether everything is there."""
    storage = await opened(url, AFTER)
    async with storage.session() as session:
        assert await session.fetch(GROWN, Property("props", "n", Op.GE, 4)) == [Grown("t4", "a|b", to_text({"n": 4}))]
        assert await session.count(GROWN, Has("b")) == 5
        assert await session.fetch(SEATS) == []
        assert (await session.head()).position == 1
    await storage.close()
    return storage.warnings


async def test_a_catalog_may_grow(url: str) -> None:
    await make_young(url)
    warnings = await check_grown(url)
    assert any("things.size" in warning for warning in warnings)
    assert await check_grown(url) == []


async def test_open_facts_of_older_stores_are_told_apart_by_their_agent(url: str) -> None:
    storage = await opened(url, Catalog([older_facts.TABLE], RULES))
    async with storage.session(write=True) as session:
        await session.append([event(1)], {older_facts.TABLE: TableWrites(inserts=[older_facts.private("f1", "a1")])})
    await storage.close()

    storage = await opened(url, FEATURES)
    async with storage.session(write=True) as session:
        await session.append([], {table: TableWrites(inserts=[row]) for table, row in older_facts.OTHERS.items()})
        await session.append([event(2)], {FACTS: TableWrites(inserts=[older_facts.private("f2", "a2")])})
    for agent in ("a1", "a2"):
        with pytest.raises(UniqueViolation):
            async with storage.session(write=True) as session:
                await session.append([event(3)], {FACTS: TableWrites(inserts=[older_facts.private("f3", agent)])})
    await storage.close()


async def test_a_store_of_a_newer_program_is_refused_and_left_alone(url: str) -> None:
    await make_young(url)
    storage = await opened(url, AFTER)
    async with storage.session(write=True) as session:
        await session.append([], {SEATS: TableWrites(inserts=[Seat("1", "r", "p", None)])})
    await storage.close()
    with pytest.raises(SchemaMismatch) as refused:
        await opened(url, BEFORE)
    assert refused.value.details["unknown"] == ["seats", "things.note", "things.size"]
    storage = await opened(url, AFTER)
    async with storage.session() as session:
        assert await session.count(SEATS) == 1
    await storage.close()


async def test_a_table_that_was_never_used_stands_in_nobodys_way(url: str) -> None:
    await make_young(url)
    await (await opened(url, Catalog([YOUNG, SEATS, PARTS], RULES))).close()
    await (await opened(url, BEFORE)).close()
    await check_grown(url)


async def test_words_are_made_anew_after_an_older_program_was_there(url: str) -> None:
    fields = [Field("id"), Field("kind", nullable=True, searched=True), Field("props", Kind.JSON)]
    plain, worded = (Table("things", Young, fields, key=["id"], words=words) for words in (None, words_of_thing))
    await make_young(url)
    await (await opened(url, Catalog([worded], RULES))).close()
    storage = await opened(url, Catalog([plain], RULES))
    added = [Young(f"u{number:03}", "c", to_text({})) for number in range(45)]
    async with storage.session(write=True) as session:
        await session.append([event(2)], {plain: TableWrites(inserts=added)})
    await storage.close()
    storage = await opened(url, Catalog([worded], RULES))
    async with storage.session() as session:
        assert [await session.count(worded, Has(word)) for word in "bc"] == [5, 45]
    await storage.close()


async def test_a_newer_layout_is_refused_and_left_alone(url: str) -> None:
    storage = await opened(url, CATALOG)
    async with storage.session(write=True) as session:
        await session.link.run("UPDATE ugs_meta SET value = '99' WHERE key = 'layout'")
    await storage.close()
    with pytest.raises(SchemaMismatch, match="layout 99"):
        await opened(url, CATALOG)


async def test_tables_of_somebody_else_are_not_touched(url: str) -> None:
    storage = await opened(url, Catalog([SEATS], RULES))
    async with storage.session(write=True) as session:
        await session.link.run("CREATE TABLE things (own text)")
        await session.link.run("DROP TABLE ugs_meta")
    await storage.close()
    with pytest.raises(SchemaMismatch, match="did not make"):
        await opened(url, CATALOG)


# ── steps ────────────────────────────────────────────────────────────────────


async def add_colour(link: DriverConnection, shape: StoreContext) -> None:
    await link.run("ALTER TABLE seats ADD COLUMN colour text")
    await link.run("UPDATE seats SET colour = 'red'")


async def rename_colour(link: DriverConnection, shape: StoreContext) -> None:
    await link.run("CREATE TABLE paints (name text)")
    await link.run("INSERT INTO paints SELECT colour FROM seats")
    await link.run("ALTER TABLE seats RENAME COLUMN colour TO paint")


STEPS = (add_colour, rename_colour)


async def layout_of(link: DriverConnection, shape: StoreContext) -> str:
    async with open_transaction(link):
        return (await read_record(link, shape) or {})["layout"]


async def test_an_older_layout_is_brought_up_step_by_step(storage: SqlStorage) -> None:
    link, own = await storage.connect(write=True), len(storage.steps)
    assert await layout_of(link, storage.shape) == f"{own + 1}"
    await bring_up_to_date(link, storage.shape, (*storage.steps, *STEPS[:1]))
    assert await layout_of(link, storage.shape) == f"{own + 2}"
    await bring_up_to_date(link, storage.shape, (*storage.steps, *STEPS))
    assert await layout_of(link, storage.shape) == f"{own + 3}"
    assert await link.rows("SELECT paint FROM seats") == []
    with pytest.raises(SchemaMismatch):
        await bring_up_to_date(link, storage.shape, storage.steps)
    await link.close()


class Killed(BaseException):
    """The process is gone."""


class Dying(DriverConnection):
    """A connection that breaks off before its n-th statement, as when its process is killed."""

    def __init__(self, link: DriverConnection, left: int) -> None:
        self.link = link
        self.left = left

    async def _live(self) -> None:
        if self.left == 0:
            self.link.terminate()
            raise Killed
        self.left -= 1

    async def begin(self, *, write: bool) -> None:
        await self._live()
        await self.link.begin(write=write)

    async def commit(self) -> None:
        await self._live()
        await self.link.commit()

    async def rollback(self) -> None:
        """The dead do not roll back."""

    async def rows(self, text: str, values: Sequence[Any] = ()) -> Any:
        await self._live()
        return await self.link.rows(text, values)

    async def run(self, *texts: str) -> None:
        await self._live()
        await self.link.run(*texts)

    async def bulk(self, bulks: Sequence[Any]) -> None:
        await self._live()
        await self.link.bulk(bulks)

    async def close(self) -> None:
        await self.link.close()

    def terminate(self) -> None:
        self.link.terminate()

    @property
    def is_usable(self) -> bool:
        return self.link.is_usable


async def test_steps_killed_at_any_statement_are_finished_by_the_next_opening(storage: SqlStorage) -> None:
    finished = False
    survived = 0
    while not finished:
        link = await storage.connect(write=True)
        try:
            await bring_up_to_date(Dying(link, survived), storage.shape, (*storage.steps, *STEPS))
            finished = True
        except Killed:
            survived += 1
        await link.close() if link.is_usable else None
        async with storage.session(write=True) as session:  # every state between is a whole one
            layout = (await read_record(session.link, storage.shape) or {})["layout"]
            columns = ("row", "colour", "paint")[int(layout) - len(storage.steps) - 1]
            await session.link.rows(f"SELECT {columns} FROM seats")
    assert survived > 10
    assert int(layout) == len(storage.steps) + 3


async def test_growth_killed_at_any_statement_is_finished_by_the_next_opening(url: str) -> None:
    await make_young(url)
    helper = open_sql(url)
    shape = StoreContext(AFTER, helper.dialect)
    for survived in range(100):
        link = await helper.connect(write=True)
        try:
            await bring_up_to_date(Dying(link, survived), shape, helper.steps)
            break
        except Killed:
            continue
        finally:
            link.terminate()
    assert 10 < survived < 99
    assert await check_grown(url) == []


KILL_AT = """
import asyncio, os, sys
from ugs_backends.sql import open_sql
from ugs_backends.sql.sqlite import connection as link
from tests.backends.sql.samples import CATALOG

left = int(sys.argv[2])
fetch = link._fetch

def dying(*arguments):
    global left
    if left == 0:
        os.kill(os.getpid(), 9)
    left -= 1
    return fetch(*arguments)

link._fetch = dying

async def main():
    storage = open_sql(sys.argv[1])
    await storage.open(CATALOG)
    await storage.close()

asyncio.run(main())
"""


def open_and_be_killed(url: str, survived: int) -> int:
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    killed = subprocess.run([sys.executable, "-c", KILL_AT, url, str(survived)], env=environment, check=False)
    return killed.returncode


@pytest.mark.parametrize("survived", [0, 3, 9, 17])
async def test_a_process_killed_while_it_makes_a_file_leaves_one_that_opens(tmp_path: Path, survived: int) -> None:
    url = f"sqlite:///{tmp_path}/killed.db"
    assert open_and_be_killed(url, survived) == -9
    storage = await opened(url, CATALOG)
    async with storage.session(write=True) as session:
        await session.append([event(1)], {THINGS: TableWrites(inserts=[thing("a")])})
        assert (await session.link.rows("PRAGMA integrity_check"))[0][0] == "ok"
    await storage.close()


async def test_two_processes_may_open_a_new_store_at_once(url: str) -> None:
    import asyncio

    stores = await asyncio.gather(*(opened(url, CATALOG) for _ in range(4)))
    for storage in stores:
        async with storage.session() as session:
            assert await session.fetch(THINGS) == []
        await storage.close()


async def test_a_dropped_store_leaves_nothing_and_can_be_opened_again(storage: SqlStorage) -> None:
    async with storage.session(write=True) as session:
        await session.append([event(1)], {THINGS: TableWrites(inserts=[thing("a")])})

    await storage.drop()

    await storage.open(CATALOG)
    async with storage.session() as session:
        assert (await session.fetch(THINGS), (await session.head()).position) == ([], 0)
