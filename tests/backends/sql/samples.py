"""Tables that use everything a catalog can say, and the means to store and compare their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.changes import TableWrites
from ugs.feature_registry import RULES
from ugs.reads.filters import All, Any_, Linked, Not, Where, eq, matcher
from ugs.storage import Storage
from ugs.tables import Field, Format, Index, Kind, Relation, Row, Table, Unique
from ugs.values import JsonText, to_text


class Thing(Struct, frozen=True):
    id: str
    kind: str | None
    size: int
    ratio: float | None
    done: bool | None
    props: JsonText
    memo: JsonText | None


class Part(Struct, frozen=True):
    owner: str
    number: int
    label: str
    weight: float
    attributes: JsonText


def words_of_thing(thing: Thing) -> Mapping[str, float]:
    return {word: 1.0 for word in (thing.kind or "").split("|") if word}


def words_of_part(part: Part) -> Mapping[str, float]:
    return {part.label: 0.5} if part.label else {}


THINGS = Table(
    "things",
    Thing,
    [
        Field("id"),
        Field("kind", nullable=True, column="type", searched=True),
        Field("size", Kind.INTEGER),
        Field("ratio", Kind.REAL, nullable=True),
        Field("done", Kind.BOOLEAN, nullable=True),
        Field("props", Kind.JSON, indexed=True),
        Field("memo", Kind.JSON, nullable=True),
    ],
    key=["id"],
    indexes=[Index(("kind", "id")), Index(("ratio", "size"))],
    relations=[Relation("parts", "parts", local="id", remote="owner")],
    words=words_of_thing,
)

PARTS = Table(
    "parts",
    Part,
    [
        Field("owner"),
        Field("number", Kind.INTEGER),
        Field("label", searched=True),
        Field("weight", Kind.REAL),
        Field("attributes", Kind.JSON, indexed=True),
    ],
    key=["owner", "number"],
    indexes=[Index(("owner", "label"))],
    relations=[
        Relation("thing", "things", local="owner", remote="id", many=False),
        Relation("namesakes", "things", local="label", remote="kind"),
    ],
    words=words_of_part,
)


class Visit(Struct, frozen=True):
    id: str
    at: int
    host: str | None
    until: int | None
    label: str


VISITS = Table(
    "visits",
    Visit,
    [
        Field("id", format=Format.UUID),
        Field("at", Kind.INTEGER, format=Format.INSTANT),
        Field("host", nullable=True, format=Format.UUID),
        Field("until", Kind.INTEGER, nullable=True, format=Format.INSTANT),
        Field("label"),
    ],
    key=["id", "at"],
    indexes=[Index(("host", "until"))],
    relations=[
        Relation("hosts", "visits", local="host", remote="id"),
        Relation("guests", "visits", local="id", remote="host"),
    ],
    words=lambda visit: {visit.label: 1.0} if visit.label else {},
)


class Seat(Struct, frozen=True):
    id: str
    row: str
    person: str | None
    left: int | None


SEATS = Table(
    "seats",
    Seat,
    [Field("id"), Field("row"), Field("person", nullable=True), Field("left", Kind.INTEGER, nullable=True)],
    key=["id"],
    unique=[
        Unique("one_open_seat", ("row", "person"), when=eq("left", None)),
        Unique("one_first_seat", ("row", "person"), when=eq("left", 1)),
    ],
)

CATALOG = Catalog([THINGS, PARTS, SEATS, VISITS], RULES)


def thing(id: str, kind: str | None = None, size: int = 0, **props: Any) -> Thing:
    return Thing(id, kind, size, None, None, to_text(props), None)


def inserts(table: Table, *rows: Row) -> dict[Table, TableWrites]:
    return {table: TableWrites(inserts=list(rows))}


async def store(storage: Storage, rows: Mapping[Table, Iterable[Row]]) -> None:
    """Make these the only rows of their tables."""
    async with storage.session(write=True) as session:
        await session.clear(rows)
        await session.append([], {table: TableWrites(inserts=list(some)) for table, some in rows.items()})


def holds(where: Where, row: Row, table: Table, rows: Mapping[Table, Iterable[Row]]) -> bool:
    """The reference meaning of a condition, with the other tables at hand for `Linked`."""
    if isinstance(where, Linked):
        relation = table.relations[where.relation]
        tie, target = getattr(row, relation.local), CATALOG.target(relation)
        return tie is not None and any(
            getattr(other, relation.remote) == tie and holds(where.where, other, target, rows) for other in rows[target]
        )
    if isinstance(where, Not):
        return not holds(where.part, row, table, rows)
    if isinstance(where, All):
        return all(holds(part, row, table, rows) for part in where.parts)
    if isinstance(where, Any_):
        return any(holds(part, row, table, rows) for part in where.parts)
    return matcher(where, table.words)(row)
