"""What the tests of the memory store share: a tiny writer over the port, and random graphs and questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from ugs.changes import TableWrites, Writes
from ugs.events import Draft, Event, Head, event_id, seal
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES, TABLES
from ugs.reads.filters import EVERYTHING, Compare, Has, Linked, Not, Op, Property, Where, all_of, any_of
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.storage import EventQuery
from ugs.tables import Relation, Row, Table
from ugs.values import to_text
from ugs_backends.memory import FileStorage, MemoryStorage, open_memory
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.settings import parse_settings
from ugs_backends.memory.wal.replay import apply_change

NOW = 1_769_020_454_093


async def opened(url: str, files: Files | None = None) -> Any:
    """A store that is ready; with `files`, on a file system of the test's own."""
    storage = open_memory(url) if files is None else FileStorage(parse_settings(url), files)
    await storage.open(CATALOG)
    return storage


class Unsynced(Files):
    """A file system that forgets to sync, for tests of many openings that no power failure will meet."""

    def fsync(self, handle: int) -> None: ...

    def fsync_folder(self, path: Path) -> None: ...


class Crash(BaseException):
    """The process is gone, as far as the store can tell."""


class Failing(Unsynced):
    """A file system on which the nth call that changes something fails, or is the last one."""

    def __init__(self, at: int, error: BaseException, short: bool = False) -> None:
        self.at, self.error, self.short = at, error, short
        self.calls: list[str] = []

    def _step(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self.at or (len(self.calls) > self.at and isinstance(self.error, Crash)):
            raise self.error

    def write(self, handle: int, data: bytes | memoryview) -> int:
        if self.short and len(self.calls) + 1 == self.at:
            super().write(handle, data[: len(data) // 2])
        self._step("write")
        return super().write(handle, data)

    def fsync(self, handle: int) -> None:
        self._step("fsync")

    def fsync_folder(self, path: Path) -> None:
        self._step("fsync_folder")

    def rename(self, source: Path, target: Path) -> None:
        self._step("rename")
        super().rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._step("link")
        super().link(source, target)

    def remove(self, path: Path) -> None:
        self._step("remove")
        super().remove(path)

    def open_new(self, path: Path) -> int:
        self._step("open_new")
        return super().open_new(path)


def stamped(head: Head, drafts: Iterable[Draft], timestamp: int = NOW, **extra: Any) -> list[Event]:
    """Drafts as sealed events that continue the log."""
    position, crc, events = head.position, head.crc, []
    for draft in drafts:
        position += 1
        moment = max(timestamp, head.timestamp, head.floor)
        event = Event(
            position=position,
            id=event_id(moment, position),
            timestamp=moment,
            type=draft.type,
            data=to_text(draft.data),
            element=draft.element,
            version=draft.version,
            **extra,
        )
        event = seal(event, crc)
        crc = event.crc or crc
        events.append(event)
    return events


async def write(storage: MemoryStorage, *drafts: Draft, timestamp: int = NOW, **extra: Any) -> list[Event]:
    """Append drafts in one transaction and store what they change."""
    async with storage.session(write=True) as session:
        events = stamped(await session.head(), drafts, timestamp, **extra)
        await session.append(events, settled(storage, events))
    return events


def settled(storage: MemoryStorage, events: Iterable[Event]) -> Writes:
    """The net effect of events as whole rows, found by trying them on a copy."""
    copies = storage.copy_tables()
    for event in events:
        for change in CATALOG.rules.reduce(event):
            apply_change(copies, change)
    writes = {}
    for table in TABLES:
        changed = _difference(storage.tables[table.name].rows, copies[table.name].rows)
        if changed.inserts or changed.updates or changed.deletes:
            writes[table] = changed
    return writes


def _difference(before: dict[Any, Row], after: dict[Any, Row]) -> TableWrites:
    return TableWrites(
        inserts=[row for key, row in after.items() if key not in before],
        updates=[row for key, row in after.items() if key in before and before[key] is not row],
        deletes=[key for key in before if key not in after],
        before={key: row for key, row in before.items() if after.get(key) is not row},
    )


def add_node(id: str, type: str | None = "t", version: int = 1, **properties: Any) -> Draft:
    return Draft("NodeAdded", id, {"id": id, "type": type, "properties": properties, "data": None}, version)


def add_edge(id: str, source: str, target: str, type: str | None = "x", weight: float = 1) -> Draft:
    data = {"id": id, "from": source, "to": target, "type": type, "weight": weight, "properties": {}}
    return Draft("EdgeAdded", id, data, 1)


def update_node(id: str, version: int, **properties: Any) -> Draft:
    return Draft("NodeUpdated", id, {"id": id, "properties": properties}, version)


def delete_node(id: str) -> Draft:
    return Draft("NodeDeleted", id, {"id": id})


def delete_edge(id: str) -> Draft:
    return Draft("EdgeDeleted", id, {"id": id})


async def rows_of(storage: MemoryStorage) -> dict[str, list[Row]]:
    """Everything that is stored, in a comparable form."""
    async with storage.session() as session:
        return {table.name: await session.fetch(table) for table in TABLES}


async def log_of(storage: MemoryStorage) -> list[Event]:
    async with storage.session() as session:
        return await session.events(EventQuery())


async def ids(storage: MemoryStorage, table: Table = NODES) -> list[str]:
    async with storage.session() as session:
        return [row.id for row in await session.fetch(table)]


# ── random histories ─────────────────────────────────────────────────────────

NODE_IDS = [*"abcdefgh", "user:a", "scratch:b"]
EDGE_IDS = ["e1", "e2", "e3", "e4", "e5", "e6", "edge_1", "edge_7"]
TYPES = st.sampled_from([None, "t", "u", "task"])
VALUES = st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, "", "1", "x", "Xy", [1, "@(b)"], {"k": 1.0}, "@(a)"])
PROPERTIES = st.dictionaries(st.sampled_from(["p", "q", 'a"b', "naïve", "k.e/y"]), VALUES, max_size=3)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """One event; the history around it decides whether it means anything."""
    node, edge = draw(st.sampled_from(NODE_IDS)), draw(st.sampled_from(EDGE_IDS))
    kind = draw(st.sampled_from(["NodeAdded"] * 3 + ["EdgeAdded"] * 4 + ["NodeUpdated", "EdgeUpdated"] + ["Deleted"]))
    if kind == "Deleted":
        return draw(st.sampled_from([delete_node(node), delete_edge(edge)]))
    version = draw(st.integers(1, 3))
    if kind == "NodeAdded":
        data: dict[str, Any] = {"id": node, "type": draw(TYPES), "data": draw(VALUES)}
        return Draft(kind, node, {**data, "properties": draw(PROPERTIES)}, version)
    if kind == "EdgeAdded":
        ends = {"from": draw(st.sampled_from(NODE_IDS)), "to": draw(st.sampled_from(NODE_IDS))}
        weight = draw(st.sampled_from([1, 0.5, -2, 7]))
        data = {"id": edge, "type": draw(TYPES), "weight": weight, "properties": draw(PROPERTIES), **ends}
        return Draft(kind, edge, data, version)
    id = node if kind == "NodeUpdated" else edge
    removed = draw(st.lists(st.sampled_from(["p", "q"]), max_size=1))
    return Draft(kind, id, {"id": id, "properties": draw(PROPERTIES), "removed": removed}, version)


histories = st.lists(st.lists(drafts(), min_size=1, max_size=4), max_size=12)


# ── random questions ─────────────────────────────────────────────────────────

COMPARISONS = [Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE, Op.IN]


def graph_relations(table: Table) -> list[Relation]:
    """The relations between nodes and edges; features add others, to tables that these tests leave empty."""
    return [relation for relation in table.relations.values() if relation.table in ("nodes", "edges")]


@st.composite
def wheres(draw: st.DrawFn, table: Table, depth: int = 2) -> Where:
    kinds = ["column", "property", "has", "everything", "linked", "not", "all", "any"]
    kind = draw(st.sampled_from(kinds if depth else kinds[:4]))
    if kind == "column":
        return _column(draw, table)
    if kind == "property":
        op = draw(st.sampled_from([*Op]))
        value = draw(VALUES if op is not Op.IN else st.lists(VALUES, max_size=3))
        return Property("properties_text", draw(st.sampled_from(["p", "q", 'a"b', "naïve"])), op, value)
    if kind == "has":
        return Has(draw(st.sampled_from(["a", "x", "xy", "user:a", "task", "@(a)", "@(b)", "1", "nowhere"])))
    if kind == "everything":
        return EVERYTHING
    if kind == "linked":
        relation = draw(st.sampled_from(graph_relations(table)))
        return Linked(relation.name, draw(wheres(CATALOG.target(relation), depth - 1)))
    if kind == "not":
        return Not(draw(wheres(table, depth - 1)))
    parts = draw(st.lists(wheres(table, depth - 1), max_size=3))
    return (all_of if kind == "all" else any_of)(*parts)


def _column(draw: st.DrawFn, table: Table) -> Where:
    fields = {"id": NODE_IDS + EDGE_IDS, "type": ["t", "u"], "source": NODE_IDS, "target": NODE_IDS}
    field = draw(st.sampled_from([name for name in fields if name in table.names]))
    value = st.sampled_from(fields[field])
    op = draw(st.sampled_from([*COMPARISONS, Op.CONTAINS, Op.STARTS, Op.ENDS, Op.EXISTS]))
    if op in (Op.EQ, Op.NE):
        value = st.one_of(value, st.none())
    return Compare(field, op, tuple(draw(st.lists(value, max_size=3))) if op is Op.IN else draw(value))


def orders(table: Table) -> st.SearchStrategy[tuple[Order, ...]]:
    part = st.builds(Order, st.sampled_from(table.names), st.booleans())
    return st.lists(part, max_size=2, unique_by=lambda order: order.field).map(tuple)


@st.composite
def pages(draw: st.DrawFn, table: Table, place: tuple[Any, ...] | None, nested: bool = False) -> Page:
    per = None if nested else draw(st.sampled_from([None, None, "type"]))
    after = draw(st.sampled_from([None, place]))
    return Page(draw(st.sampled_from([None, 0, 1, 2, 5])), after, draw(st.booleans()), per)


@st.composite
def plans(draw: st.DrawFn, table: Table = NODES, depth: int = 2) -> Read:
    nest = {}
    for relation in draw(st.lists(st.sampled_from(graph_relations(table)), max_size=2)) if depth else ():
        nest[relation.name] = Nested(relation.name, draw(plans(CATALOG.target(relation), depth - 1)))
    page = draw(pages(table, None, nested=True))
    return Read(table, draw(wheres(table, 1)), draw(orders(table)), page, nest, draw(st.booleans()))


def both(questions: Sequence[Table] = (NODES, EDGES)) -> st.SearchStrategy[Table]:
    return st.sampled_from(list(questions))
