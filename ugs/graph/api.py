"""The Python API of the graph: every operation of seed 000 as one awaitable call.

A thin facade over commands and queries, for tests, scripts and the command line. Reads take `at`, a log position or
time.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import encode
from msgspec.structs import replace

from ugs.events import Event
from ugs.feature import Command, CommandWarning
from ugs.graph import batches, queries, traversal
from ugs.graph.changes import ChangeFilter, ChangePage, list_changes
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, SetEdgeCounter, Update
from ugs.graph.content import NewContent
from ugs.graph.demo import load_demo
from ugs.graph.model import EDGES, NODES, Edge, Element, Node
from ugs.graph.paths.shortest_path import Path, shortest_path
from ugs.graph.text import search as searching
from ugs.graph.undo import Undo, UndoPlan, plan_undo
from ugs.graph.versions import ElementVersion, element_at
from ugs.identity import LOCAL, Context, Principal, Scope
from ugs.log.at import At
from ugs.log.log_reader import LogReader
from ugs.log.replay import pages_of
from ugs.ontology.queries import bodies_in
from ugs.reads.filters import in_
from ugs.reads.plan import WHOLE, Page
from ugs.storage import EventQuery, Session
from ugs.support.time_slice import TimeSlice
from ugs.system import System
from ugs.tables import Table
from ugs.values import Json, from_text
from ugs.vectors import hybrid_search
from ugs.vectors.similarity_search import SimilaritySearch
from ugs.writer import Outcome

EXPORTED_ROWS = 32
"""Rows that an export reads at once: few, since a row may have a mebibyte."""


class Changed(Struct, frozen=True):
    """The result of a command, with the elements in the state it left them."""

    elements: list[Element]
    deleted: list[str]
    events: list[Event]
    warnings: list[CommandWarning]
    repeated: bool = False

    @property
    def node(self) -> Node:
        return next(element for element in self.elements if isinstance(element, Node))

    @property
    def edge(self) -> Edge:
        return next(element for element in self.elements if isinstance(element, Edge))


def single_result(outcome: Outcome) -> Changed | None:
    """The result of a command with one event and one remaining element (the usual case), else None."""
    if len(outcome.events) != 1:
        return None
    id = outcome.events[0].element
    left = outcome.rows.get((NODES.name, id)) or outcome.rows.get((EDGES.name, id))
    return None if left is None else Changed([left], [], outcome.events, outcome.warnings, outcome.repeated)


class Graph:
    """The graph of a system, used by one principal."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        self.system = system
        self.principal = principal

    async def do(self, command: Command, key: str | None = None) -> Changed:
        """Execute a command; with an idempotency key a retry gives the first answer again."""
        outcome = await self.system.execute(command, Context(self.principal, key))
        return await self.changed_by(outcome)

    async def changed_by(self, outcome: Outcome) -> Changed:
        """The elements in the state that the command left them, regardless of later changes."""
        return single_result(outcome) or await self._changed(outcome)

    async def _changed(self, outcome: Outcome) -> Changed:
        last: dict[str, Event] = {event.element: event for event in outcome.events if event.element}
        elements = [
            element
            for id, event in last.items()
            if not event.type.endswith("Deleted") and (element := await self._left(id, event, outcome)) is not None
        ]
        deleted = [id for id, event in last.items() if event.type.endswith("Deleted")]
        return Changed(elements, deleted, outcome.events, outcome.warnings, outcome.repeated)

    async def _left(self, id: str, event: Event, outcome: Outcome) -> Element | None:
        left = outcome.rows.get((NODES.name, id)) or outcome.rows.get((EDGES.name, id))
        return left or await self._as_of(id, event)

    async def _as_of(self, id: str, event: Event) -> Element | None:
        async with self.system.session() as session:
            now = await queries.get(session, id)
            if now is not None and now.version == event.version:
                return now
            return element_at(id, event.version or 0, await session.events(EventQuery(element=id)))

    async def add_node(
        self,
        id: str | None,
        type: str | None = None,
        properties: dict[str, Any] | None = None,
        data: Json = None,
        *,
        content: NewContent | None = None,
        key: str | None = None,
        expected_version: int | None = None,
    ) -> Node:
        command = AddNode(
            id=id,
            type=type,
            properties=properties or {},
            data=data,
            expected_version=expected_version,
            content=content,
        )
        return (await self.do(command, key)).node

    async def add_edge(
        self,
        id: str | None,
        source: str,
        target: str,
        type: str | None = None,
        weight: float = 1,
        properties: dict[str, Any] | None = None,
        *,
        strict: bool = False,
        key: str | None = None,
    ) -> Changed:
        command = AddEdge(
            id=id,
            source=source,
            target=target,
            type=type,
            weight=weight,
            properties=properties or {},
            strict=strict,
        )
        return await self.do(command, key)

    async def update(
        self,
        id: str,
        properties: dict[str, Any] | None = None,
        *,
        append: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
        remove: Iterable[str] = (),
        type: Any = UNSET,
        data: Any = UNSET,
        weight: Any = UNSET,
        content: NewContent | UnsetType | None = UNSET,
        kind: str = "any",
        expected_version: int | None = None,
        key: str | None = None,
    ) -> Changed:
        command = Update(
            id=id,
            kind=kind,
            type=type,
            properties=properties or {},
            append=append if isinstance(append, dict) else tuple(append or ()),
            remove=tuple(remove),
            data=data,
            weight=weight,
            expected_version=expected_version,
            content=content,
        )
        return await self.do(command, key)

    async def delete(
        self, id: str, kind: str = "any", *, expected_version: int | None = None, key: str | None = None
    ) -> Changed:
        return await self.do(Delete(id=id, kind=kind, expected_version=expected_version), key)

    async def batch(self, operations: Sequence[Operation], key: str | None = None) -> Changed:
        return await self.do(batches.Batch(operations=tuple(operations)), key)

    async def clear_scope(self, scope: Scope, force: bool = False) -> Changed:
        return await self.do(batches.ClearScope(scope=scope, force=force))

    async def revert(self, id: str, version: int) -> Changed:
        return await self.do(batches.Revert(id=id, version=version))

    async def undo(self, selection: Undo, key: str | None = None) -> Changed:
        """Reverse events by new ones; raises `UndoConflict` if something else changed the same elements since."""
        return await self.do(replace(selection, principal=self.principal), key)

    async def preview_undo(self, selection: Undo) -> UndoPlan:
        """What an undo would do now, and what stands in its way; changes nothing."""
        async with self.system.session() as session:
            rules = self.system.catalog.rules
            return await plan_undo(session, rules, replace(selection, principal=self.principal))

    async def load_demo(self, force: bool = False) -> Changed:
        return await self.do(load_demo(force))

    async def import_graph(self, graph: dict[str, Any], on_conflict: str = "error") -> Changed:
        nodes, edges = tuple(graph.get("nodes", ())), tuple(graph.get("edges", ()))
        return await self.do(batches.ImportGraph(nodes=nodes, edges=edges, on_conflict=on_conflict))

    async def export_graph(self, scope: Scope | None = None, at: At | None = None) -> dict[str, Json]:
        """Nodes and edges in the seed's JSON format, by id, with their content."""
        exported: dict[str, Json] = from_text(b"".join([piece async for piece in self.export_text(scope, at)]))
        return exported

    async def export_text(self, scope: Scope | None = None, at: At | None = None) -> AsyncGenerator[bytes, None]:
        """The same as JSON text, in pieces: nothing is decoded, and no more than a page of rows is read ahead."""
        async with self.system.session_at(at) as session:
            head = b'{"nodes":['
            for table in (NODES, EDGES):
                async for records in self._exported(session, table, scope):
                    yield head + records
                    head = b","
                head = (b"" if head == b"," else head) + (b'],"edges":[' if table is NODES else b"]}")
            yield head

    async def _exported(self, session: Session, table: Table, scope: Scope | None) -> AsyncIterator[bytes]:
        """The rows of a table by id as JSON records, a page at a time."""
        time = TimeSlice()
        async for rows in pages_of(session, table, queries.node_filter(scope=scope), EXPORTED_ROWS):
            contents = await bodies_in(session, in_("id", [row.id for row in rows]))
            records = []
            for row in rows:
                record = row.as_json_text()
                if row.id in contents:
                    record["content"] = contents[row.id]
                records.append(encode(record))
            yield b",".join(records)
            await time.pause()

    async def apply_events(self, events: Sequence[dict[str, Any]]) -> Changed:
        return await self.do(batches.ApplyEvents(events=tuple(events)))

    async def set_edge_counter(self, value: int) -> Changed:
        return await self.do(SetEdgeCounter(value=value))

    async def get(self, id: str, at: At | None = None) -> Element | None:
        async with self.system.session_at(at) as session:
            return await queries.get(session, id)

    async def list_nodes(
        self, type: str | None = None, scope: Scope | None = None, page: Page = WHOLE, at: At | None = None
    ) -> list[Node]:
        async with self.system.session_at(at) as session:
            return await queries.list_nodes(session, type, scope, page)

    async def find_by_property(self, key: str, value: Json, at: At | None = None) -> list[Node]:
        async with self.system.session_at(at) as session:
            return await queries.find_by_property(session, key, value)

    async def search(self, query: str, at: At | None = None, **options: Any) -> list[searching.Hit]:
        async with self.system.session_at(at) as session:
            return await searching.search(session, query, **options)

    async def count_found(self, query: str, at: At | None = None, **options: Any) -> int:
        """How many nodes a search would find."""
        async with self.system.session_at(at) as session:
            return await searching.count_found(session, query, **options)

    async def similar(self, query: str, at: At | None = None, **options: Any) -> list[searching.Hit]:
        """Nodes whose texts are most similar to the query (vector search)."""
        async with self._likeness(at) as likeness:
            return await hybrid_search.similar_nodes(likeness, query, **options)

    async def hybrid(self, query: str, at: At | None = None, **options: Any) -> list[searching.Hit]:
        """Nodes ranked by words, vector similarity and graph distance together."""
        async with self._likeness(at) as likeness:
            return await hybrid_search.hybrid_search(likeness, query, **options)

    @asynccontextmanager
    async def _likeness(self, at: At | None) -> AsyncIterator[SimilaritySearch]:
        vectors = self.system.vectors
        await vectors.ready(at)
        async with self.system.session_at(at) as session:
            yield vectors.likeness(session)

    async def neighbors(
        self,
        id: str,
        direction: str | None = None,
        types: Sequence[str] | None = None,
        at: At | None = None,
        first: int | None = None,
        after: str | None = None,
    ) -> list[Node]:
        async with self.system.session_at(at) as session:
            way = direction or await queries.setting(session, "neighbors_direction")
            return await traversal.neighbors(session, id, traversal.parse_direction(way), types, first, after)

    async def traverse(
        self,
        id: str,
        depth: int | None = None,
        direction: str | None = None,
        strategy: traversal.Strategy = traversal.Strategy.BFS,
        types: Sequence[str] | None = None,
        at: At | None = None,
        first: int | None = None,
        after: str | None = None,
    ) -> list[traversal.Step]:
        async with self.system.session_at(at) as session:
            way = direction or await queries.setting(session, "traverse_direction")
            far = depth if depth is not None else await queries.setting(session, "traverse_depth")
            return await traversal.traverse(
                session, id, far, traversal.parse_direction(way), strategy, types, first, after
            )

    async def path(self, start: str, goal: str, at: At | None = None) -> Path | None:
        async with self.system.session_at(at) as session:
            return await shortest_path(session, start, goal)

    async def stats(self, at: At | None = None) -> queries.Stats:
        async with self.system.session_at(at) as session:
            return await queries.stats(session)

    async def hubs(self, limit: int | None = None, at: At | None = None) -> list[queries.Hub]:
        async with self.system.session_at(at) as session:
            most = limit if limit is not None else await queries.setting(session, "hubs_limit")
            return await queries.hubs(session, most)

    async def roots(self, at: At | None = None) -> list[Node]:
        async with self.system.session_at(at) as session:
            return await queries.roots(session)

    async def property_keys(self, at: At | None = None) -> list[str]:
        async with self.system.session_at(at) as session:
            return await queries.property_keys(session)

    async def scopes(self, at: At | None = None) -> list[queries.ScopeCount]:
        async with self.system.session_at(at) as session:
            return await queries.scopes(session)

    async def history(self, last: int | None = None, element: str | None = None) -> list[Event]:
        async with self.system.session() as session:
            most = last if last is not None else await queries.setting(session, "history_limit")
        return await LogReader(self.system, self.principal).newest(most, element)

    async def changes(
        self,
        start: At,
        end: At | None = None,
        wanted: ChangeFilter | None = None,
        first: int = 50,
        after: str | None = None,
    ) -> ChangePage:
        """Elements and records added, changed and removed between two points in history (default: until now), by id."""
        begin = await self.system.moments.position_at(start)
        until = None if end is None else await self.system.moments.position_at(end)
        async with self.system.session() as session:
            last = (await session.head()).position if until is None else until
            rules, filter = self.system.catalog.rules, wanted or ChangeFilter()
            return await list_changes(session, rules, self.principal, begin, last, filter, first, after)

    async def versions(self, id: str) -> list[ElementVersion]:
        async with self.system.session() as session:
            return await queries.versions(session, id)

    async def resolve(self, address: str, at: At | None = None) -> queries.Resolution:
        async with self.system.session_at(at) as session:
            return await queries.resolve(session, address)

    async def expand(self, value: Json, depth: int, at: At | None = None) -> Json:
        async with self.system.session_at(at) as session:
            return await queries.expand(session, value, depth)

    async def references(self, id: str, at: At | None = None) -> list[queries.Reference]:
        async with self.system.session_at(at) as session:
            element = await queries.get(session, id)
            return [] if element is None else await queries.references(session, element)

    async def referenced_by(self, id: str, at: At | None = None) -> list[Element]:
        async with self.system.session_at(at) as session:
            return await queries.referenced_by(session, id)

    async def degree(self, id: str, at: At | None = None) -> tuple[int, int]:
        async with self.system.session_at(at) as session:
            return await traversal.degree_of(session, id)
