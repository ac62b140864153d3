"""Answers that the database writes are those that are written from its rows, to the last character."""

from __future__ import annotations

import msgspec
import pytest

from tests.backends.sql.samples import PARTS, THINGS, Part, Thing, store
from ugs.errors import AnswerTooLarge
from ugs.reads.filters import eq
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.reads.rendering import (
    Column,
    Cursor,
    EndCursor,
    HasMore,
    Items,
    PageTemplate,
    Piece,
    RelatedPage,
    RelatedRow,
    Rendering,
    RowTemplate,
    Text,
    Total,
)
from ugs.values import JsonText, to_text
from ugs_backends.sql import SqlStorage
from ugs_backends.sql.plans.statement_cache import StatementCache

NUMBERS = [0.0, 1.0, -2.5, 0.0005, 0.1, 1e-4, 1e-5, 1e14, 1e15, 1e22, 0.1 + 0.2, 1 / 3, 123456789012345.6, 9_999.9999]
TEXTS = ["", "it's", 'say "x"', "back\\slash", "a\nb\tc\x01\x1f", "naïve “é” 😀", "' || '", None]


def written(table_fields: list[str], *more: Piece) -> tuple[Piece, ...]:
    columns = [piece for name in table_fields for piece in (Text(f'"{name}":'), Column(name), Text(","))]
    return (Text("{"), *columns, *more, Text("}"))


PART = RowTemplate(
    PARTS,
    written(
        ["number", "weight", "attributes"], Text('"of":'), RelatedRow("thing", RowTemplate(THINGS, (Column("id"),)))
    ),
)
PAGE = PageTemplate((Text('"parts":['), Items(PART), Text('],"all":'), Total()))
THING = RowTemplate(
    THINGS, written(["id", "kind", "size", "ratio", "done", "props", "memo"], RelatedPage("parts", PAGE))
)
PLAN = Read(THINGS, order=(Order("size", descending=True),), page=Page(limit=50)).nested(
    parts=Nested(
        "parts",
        Read(PARTS, order=(Order("number", descending=True),), page=Page(limit=3), total=True).nested(
            thing=Nested("thing", Read(THINGS))
        ),
    )
)
LIST = Rendering(PageTemplate((Text("["), Items(THING), Text("]"))))


def things() -> list[Thing]:
    values = enumerate(zip(TEXTS * 2, [None, *NUMBERS], [None, True, False] * 5, strict=False))
    return [
        Thing(f"t{n}", text, n, number, done, to_text({"k": text}), None if n % 2 else JsonText("[1]"))
        for n, (text, number, done) in values
    ]


async def both_ways(storage: SqlStorage, plan: Read, rendering: Rendering) -> tuple[str, str]:
    text = await storage.render(plan, rendering, [])
    return text.decode(), rendering.write(await storage.read(plan), plan, [])


@pytest.mark.parametrize("numbers", [[0.5, 2.0, 0.0], NUMBERS])
async def test_the_database_writes_what_we_would_write(storage: SqlStorage, numbers: list[float]) -> None:
    usual = [thing for thing in things() if thing.ratio in (None, *numbers)]
    parts = [Part(usual[0].id, n, f"l{n}", number, JsonText("{}")) for n, number in enumerate(numbers)]
    await store(storage, {THINGS: usual, PARTS: parts})

    for _ in range(5):
        ours, rows = await both_ways(storage, PLAN, LIST)
        assert ours == rows
    assert storage.explain_render(PLAN, LIST)


BACKWARD = Read(THINGS, order=(Order("size", descending=True),), page=Page(limit=4, backward=True)).nested(
    parts=Nested("parts", Read(PARTS, order=(Order("number"),), page=Page(limit=2, backward=True), total=True).nested(
        thing=Nested("thing", Read(THINGS))
    )),
)  # fmt: skip


@pytest.mark.parametrize("after", [None, (6, "t6"), (13, "t13"), (99, "a")])
async def test_backward_pages_are_written_by_the_database(storage: SqlStorage, after: tuple[int, str] | None) -> None:
    parts = [Part("t4", n, f"l{n}", 0.5, JsonText("{}")) for n in range(5)]
    usual = [msgspec.structs.replace(thing, ratio=0.5) for thing in things()]
    await store(storage, {THINGS: usual, PARTS: parts})
    plan = msgspec.structs.replace(BACKWARD, page=Page(4, after, backward=True))

    ours, rows = await both_ways(storage, plan, LIST)

    assert ours == rows
    assert storage.explain_render(plan, LIST)


ENDS = PageTemplate(
    (Text("["), Items(RowTemplate(THINGS, (Cursor(), Text(":"), Column("size")))), Text('],"ends":'), EndCursor(last=False),
     EndCursor(last=True), Text(',"more":'), HasMore(behind=False), HasMore(behind=True))
)  # fmt: skip


@pytest.mark.parametrize("limit", [0, 1, 3, 14, 15, 50])
@pytest.mark.parametrize("after", [None, (6, "t6"), (99, "a")])
@pytest.mark.parametrize("backward", [False, True])
async def test_the_ends_of_pages_are_those_of_the_rows(
    storage: SqlStorage, limit: int, after: tuple[int, str] | None, backward: bool
) -> None:
    await store(storage, {THINGS: things(), PARTS: []})
    plan = Read(THINGS, order=(Order("size"),), page=Page(limit, after, backward))

    ours, rows = await both_ways(storage, plan, Rendering(ENDS))

    assert ours == rows


async def test_what_is_too_deep_for_the_database_is_written_from_rows(storage: SqlStorage) -> None:
    await store(storage, {THINGS: things()[:3], PARTS: [Part("t0", 1, "it's", 0.5, JsonText("{}"))]})
    plan, body = Read(THINGS), RowTemplate(THINGS, (Text('{"id":'), Column("id"), Text("}")))
    for _ in range(8):
        part = RowTemplate(PARTS, (Text('{"of":'), RelatedRow("thing", body), Text("}")))
        body = RowTemplate(
            THINGS,
            (Text('{"parts":'), RelatedPage("parts", PageTemplate((Text("["), Items(part), Text("]")))), Text("}")),
        )
        plan = Read(THINGS).nested(parts=Nested("parts", Read(PARTS).nested(thing=Nested("thing", plan))))

    ours, rows = await both_ways(storage, Read(THINGS, eq("id", "t0")).nested(**plan.nest), Rendering(body))
    assert ours == rows
    assert ours.startswith('{"parts":[{"of":{"parts":[{"of":{"parts":')


async def test_one_row_or_none(storage: SqlStorage) -> None:
    await store(storage, {THINGS: things()[:3], PARTS: []})
    plan = Read(THINGS, eq("id", "t1")).nested(**PLAN.nest)

    assert (await both_ways(storage, plan, Rendering(THING)))[0].startswith('{"id":"t1"')
    ours, rows = await both_ways(storage, Read(THINGS, eq("id", "nobody")).nested(**PLAN.nest), Rendering(THING))
    assert ours == rows == "null"


@pytest.mark.parametrize("plan", [Read(THINGS), Read(THINGS, eq("kind", "long"), page=Page(limit=9))])
async def test_a_text_that_is_too_long_never_leaves_the_database(
    storage: SqlStorage, plan: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [Thing(f"t{n}", "long", n, None, None, to_text({"k": "é" * 10_000}), None) for n in range(9)]
    await store(storage, {THINGS: long})
    left: list[int] = []
    finished = StatementCache._finish
    monkeypatch.setattr(
        StatementCache,
        "_finish",
        lambda self, text, rendering: left.append(len(text or "")) or finished(self, text, rendering),  # type: ignore[func-returns-value]
    )
    rendering = Rendering(PageTemplate((Text("["), Items(RowTemplate(THINGS, (Column("props"),))), Text("]"))))
    rendering.max_bytes = 100_000
    for _ in range(3):
        with pytest.raises(AnswerTooLarge) as raised:
            await storage.render(plan, rendering, [])
        assert raised.value.details["limit"] == 100_000
    assert left == [0, 0, 0]
    rendering = Rendering(rendering.root)
    rendering.max_bytes = 300_000
    whole, ours = await both_ways(storage, plan, rendering)
    assert whole == ours and len(whole) > 90_000
