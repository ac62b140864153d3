"""The graph in Python: every operation of seed 000 as one awaitable call.

A thin face over commands and queries, for tests, scripts and the command line. Reads take `at`, a place in time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from ugs.events import Event
from ugs.feature import Command, Warned
from ugs.graph import batches, paths, queries, walk
from ugs.graph import search as searching
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, SetEdgeCounter, Update
from ugs.graph.content import NewContent
from ugs.graph.demo import load_demo
from ugs.graph.model import EDGES, NODES, Edge, Element, Node
from ugs.graph.versions import ElementVersion, element_at
from ugs.identity import LOCAL, Context, Principal, Scope
from ugs.moments import At
from ugs.ontology.queries import bodies_in
from ugs.reads.plan import WHOLE, Page
from ugs.storage import EventQuery
from ugs.system import System
from ugs.values import Json
from ugs.vectors import hybrid
from ugs.vectors.searching import Likeness
from ugs.writer import Outcome


class Changed(Struct, frozen=True):
    """What a command did, with the elements as it left them."""

    elements: list[Element]
    deleted: list[str]
    events: list[Event]
    warnings: list[Warned]
    repeated: bool = False

    @property
    def node(self) -> Node:
        return next(element for element in self.elements if isinstance(element, Node))

    @property
    def edge(self) -> Edge:
        return next(element for element in self.elements if isinstance(element, Edge))


def changed_one(outcome: Outcome) -> Changed | None:
    """What came of a command with one event that left an element behind, as nearly all of them do."""
    if len(outcome.events) != 1:
        return None
    id = outcome.events[0].element
    left = outcome.rows.get((NODES.name, id)) or outcome.rows.get((EDGES.name, id))
    return None if left is None else Changed([left], [], outcome.events, outcome.warnings, outcome.repeated)


class Graph:
    """Nodes and edges of one system, on behalf of one principal."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        self.system = system
        self.principal = principal

    async def do(self, command: Command, key: str | None = None) -> Changed:
        """Execute a command; with an idempotency key a retry gives the first answer again."""
        outcome = await self.system.execute(command, Context(self.principal, key))
        return await self.changed_by(outcome)

    async def changed_by(self, outcome: Outcome) -> Changed:
        """What came of a command: the elements as the outcome left them, whatever has happened since."""
        return changed_one(outcome) or await self._changed(outcome)

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
        append: dict[str, Any] | None = None,
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
            append=append or {},
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

    async def load_demo(self, force: bool = False) -> Changed:
        return await self.do(load_demo(force))

    async def import_graph(self, graph: dict[str, Any], on_conflict: str = "error") -> Changed:
        nodes, edges = tuple(graph.get("nodes", ())), tuple(graph.get("edges", ()))
        return await self.do(batches.ImportGraph(nodes=nodes, edges=edges, on_conflict=on_conflict))

    async def export_graph(self, scope: Scope | None = None, at: At | None = None) -> dict[str, Json]:
        """Nodes and edges in the seed's JSON shape, by id, with what they say."""
        async with self.system.session_at(at) as session:
            nodes = await queries.list_nodes(session, scope=scope)
            edges = await session.fetch(EDGES, queries.node_filter(scope=scope))
            says = await bodies_in(session, queries.node_filter(scope=scope))

        def shown(element: Element) -> dict[str, Json]:
            told = element.as_json()
            return {**told, "content": says[element.id]} if element.id in says else told

        return {"nodes": [shown(node) for node in nodes], "edges": [shown(edge) for edge in edges]}

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
        """Nodes whose texts are most like the query."""
        async with self._likeness(at) as likeness:
            return await hybrid.similar_nodes(likeness, query, **options)

    async def hybrid(self, query: str, at: At | None = None, **options: Any) -> list[searching.Hit]:
        """Nodes by words, likeness and distance in the graph together."""
        async with self._likeness(at) as likeness:
            return await hybrid.hybrid_search(likeness, query, **options)

    @asynccontextmanager
    async def _likeness(self, at: At | None) -> AsyncIterator[Likeness]:
        vectors = self.system.vectors
        await vectors.ready(at)
        async with self.system.session_at(at) as session:
            yield vectors.likeness(session)

    async def neighbors(
        self, id: str, direction: str | None = None, types: Sequence[str] | None = None, at: At | None = None
    ) -> list[Node]:
        async with self.system.session_at(at) as session:
            way = direction or await queries.setting(session, "neighbors_direction")
            return await walk.neighbors(session, id, walk.parse_direction(way), types)

    async def traverse(
        self,
        id: str,
        depth: int | None = None,
        direction: str | None = None,
        strategy: walk.Strategy = walk.Strategy.BFS,
        types: Sequence[str] | None = None,
        at: At | None = None,
    ) -> list[walk.Step]:
        async with self.system.session_at(at) as session:
            way = direction or await queries.setting(session, "traverse_direction")
            far = depth if depth is not None else await queries.setting(session, "traverse_depth")
            return await walk.traverse(session, id, far, walk.parse_direction(way), strategy, types)

    async def path(self, start: str, goal: str, at: At | None = None) -> paths.Path | None:
        async with self.system.session_at(at) as session:
            return await paths.shortest_path(session, start, goal)

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
            return await queries.history(session, most, element)

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
            return await walk.degree_of(session, id)
