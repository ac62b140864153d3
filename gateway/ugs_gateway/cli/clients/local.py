"""The client for a store that this process has opened."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from ugs.events import Event
from ugs.feature import CommandWarning
from ugs.graph import queries
from ugs.graph.api import Changed, Graph
from ugs.graph.batches import ImportGraph
from ugs.graph.commands import AddNode
from ugs.graph.model import EDGES, NODES, Edge, Element, Node
from ugs.graph.traversal import Strategy
from ugs.identity import Scope
from ugs.log.at import At
from ugs.log.replay import pages_of, position_of
from ugs.reads.filters import Where
from ugs.system import System
from ugs_gateway.cli.clients import (
    PROGRAM_KEYS,
    ChangeResult,
    Correction,
    GraphClient,
    RecallQuestion,
    Record,
    SearchQuery,
)
from ugs_gateway.cli.output.mode import PREFERENCES
from ugs_gateway.observability.redaction import without_secrets

if TYPE_CHECKING:
    from ugs.programs.api import Programs
    from ugs.programs.model import ProgramRow


def record_of(element: Element) -> Record:
    """An element as a JSON record."""
    added = {"version": element.version}
    return {**element.as_json(), **({"modified": element.modified} if isinstance(element, Edge) else {}), **added}


def records_of(elements: Iterable[Element]) -> list[Record]:
    """Elements as JSON records."""
    return [record_of(element) for element in elements]


def event_record(event: Event) -> Record:
    """An event with the seed's keys, its log position, and the version it made."""
    return {
        "id": event.id,
        "timestamp": event.timestamp,
        "type": event.type,
        "data": event.payload,
        "seq": event.position,
        "version": event.version,
    }


def warnings_of(warnings: Iterable[CommandWarning]) -> list[Record]:
    """Warnings as JSON records."""
    return [msgspec.structs.asdict(warning) for warning in warnings]


class LocalClient(GraphClient):
    """Answers from an open system, at present or at a past position."""

    def __init__(self, system: System, at: At | None = None) -> None:
        self.system = system
        self.graph = Graph(system)
        self.name = without_secrets(system.storage.describe())
        self.at = at

    def at_time(self, moment: int | datetime) -> LocalClient:
        return LocalClient(self.system, At(position=moment) if isinstance(moment, int) else At.time(moment))

    async def element(self, id: str) -> Record | None:
        found = await self.graph.get(id, self.at)
        return None if found is None else record_of(found)

    async def settings_nodes(self) -> tuple[Record, Record]:
        async with self.system.session() as session:
            found = await queries.get_many(session, (PREFERENCES, queries.CONFIG_NODE))
        prefs, config = (found.get(id) for id in (PREFERENCES, queries.CONFIG_NODE))
        return (prefs.properties if prefs else {}), (config.properties if config else {})

    async def add_node(self, id: str, type: str | None, properties: Record, data: Any) -> ChangeResult:
        return _element_result(await self.graph.do(AddNode(id=id, type=type, properties=properties, data=data)))

    async def add_edge(
        self, id: str, ends: tuple[str, str], type: str | None, weight: float, properties: Record
    ) -> ChangeResult:
        return _element_result(await self.graph.add_edge(id, *ends, type, weight, properties))

    async def update(self, id: str, changes: Record) -> ChangeResult:
        changed = await self.graph.update(id, **changes)
        if changed.elements:
            return _element_result(changed)
        return ChangeResult(await LocalClient(self.system).element(id), warnings_of(changed.warnings))

    async def delete(self, id: str) -> ChangeResult:
        changed = await self.graph.delete(id)
        edges = [edge for edge in changed.deleted if edge != id]
        return ChangeResult({"deleted": id, "edges": edges}, warnings_of(changed.warnings))

    async def search(self, query: SearchQuery) -> list[Record]:
        ways = {"words": self.graph.search, "vector": self.graph.similar, "hybrid": self.graph.hybrid}
        more: Record = {} if query.near is None else {"near": [query.near]}
        if query.mode == "words":
            more["limit"] = query.limit
        within = None if query.scope is None else Scope(query.scope)
        hits = await ways[query.mode](query.query, self.at, type=query.type, scope=within, **more)
        return [{"score": hit.score, "node": record_of(hit.node)} for hit in hits[: query.limit]]

    async def nodes(self, type: str | None = None, scope: str | None = None) -> AsyncIterator[list[Record]]:
        where = queries.node_filter(type, None if scope is None else Scope(scope))
        async for page in self._pages(NODES, where):
            yield page

    async def edges(self, scope: str | None = None) -> AsyncIterator[list[Record]]:
        async for page in self._pages(EDGES, queries.node_filter(scope=None if scope is None else Scope(scope))):
            yield page

    async def _pages(self, table: Any, where: Where) -> AsyncIterator[list[Record]]:
        async with self.system.session_at(self.at) as session:
            async for rows in pages_of(session, table, where):
                yield records_of(rows)

    async def find_by_property(self, key: str, value: Any) -> list[Record]:
        return records_of(await self.graph.find_by_property(key, value, self.at))

    async def neighbors(self, id: str, direction: str, type: str | None) -> list[Record]:
        return records_of(await self.graph.neighbors(id, direction, None if type is None else [type], self.at))

    async def traverse(self, id: str, depth: int, direction: str, strategy: str, type: str | None) -> list[Record]:
        types = None if type is None else [type]
        steps = await self.graph.traverse(id, depth, direction, Strategy(strategy), types, self.at)
        return [
            {
                "depth": step.depth,
                "node": record_of(step.node),
                "via": None if step.via is None else record_of(step.via),
            }
            for step in steps
        ]

    async def path(self, start: str, goal: str) -> Record | None:
        way = await self.graph.path(start, goal, self.at)
        if way is None:
            return None
        return {"nodes": records_of(way.nodes), "edges": records_of(way.edges), "weight": way.weight}

    async def stats(self) -> Record:
        return (await self.graph.stats(self.at)).as_json()

    async def hubs(self, limit: int) -> list[Record]:
        return [
            {**record_of(hub.node), "degree": hub.degree, "incoming": hub.incoming, "outgoing": hub.outgoing}
            for hub in await self.graph.hubs(limit, self.at)
        ]

    async def roots(self) -> list[Record]:
        return records_of(await self.graph.roots(self.at))

    async def property_keys(self) -> list[str]:
        return await self.graph.property_keys(self.at)

    async def scopes(self) -> list[Record]:
        return [
            {"scope": count.scope.value, "nodes": count.nodes, "edges": count.edges}
            for count in await self.graph.scopes(self.at)
        ]

    async def history(self, last: int, element: str | None) -> list[Record]:
        return [event_record(event) for event in await self.graph.history(last, element)]

    async def follow(self, after: int | None) -> AsyncGenerator[Record, None]:
        async for event in self.system.subscribe(after):
            yield event_record(event)

    async def log(self, after: int) -> AsyncGenerator[list[bytes], None]:
        from ugs.exchange.event_log import export_lines

        async for lines in export_lines(self.system.storage, after, await position_of(self.system.storage)):
            yield lines

    async def digest(self) -> str:
        return await self.system.digest()

    async def versions(self, id: str) -> list[Record]:
        return [
            {
                "version": state.version,
                "timestamp": state.timestamp,
                "event": state.event.type,
                "deleted": state.element is None,
                "value": None if state.element is None else state.element.as_json(),
            }
            for state in await self.graph.versions(id)
        ]

    async def changes(self, start: int | datetime, end: int | datetime | None, element: str | None) -> list[Record]:
        from ugs_gateway.cli.clients.local_changes import list_all_changes

        return await list_all_changes(self.graph, start, end, element)

    async def undo(self, selection: str, positions: Sequence[int], preview: bool, key: str | None) -> ChangeResult:
        from ugs_gateway.cli.clients.local_changes import undo_events

        return await undo_events(self.graph, selection, positions, preview, key)

    async def resolve(self, address: str) -> Any:
        return (await self.graph.resolve(address, self.at)).value

    async def clear_scope(self, scope: str, force: bool) -> ChangeResult:
        changed = await self.graph.clear_scope(Scope(scope), force)
        gone = {kind: [event.element for event in changed.events if event.type == kind] for kind in _ENDS}
        return ChangeResult({"scope": scope, "nodes": gone["NodeDeleted"], "edges": gone["EdgeDeleted"]})

    async def snapshot(self) -> Record:
        written = await self.system.snapshot()
        return {"timestamp": written.timestamp, "events": written.event_count, "stats": written.stats.as_json()}

    async def import_graph(self, graph: Record, on_conflict: str, key: str | None) -> ChangeResult:
        nodes, edges = tuple(graph["nodes"]), tuple(graph["edges"])
        return _count_result(await self.graph.do(ImportGraph(nodes=nodes, edges=edges, on_conflict=on_conflict), key))

    async def ingest(
        self, notes: Sequence[Record], scope: str, supported: bool, key: str | None, skip_known: bool = False
    ) -> ChangeResult:
        from ugs_gateway.cli.clients.local_facts import ingest_notes

        counts, warnings = await ingest_notes(self.system, notes, scope, supported, key, skip_known)
        return ChangeResult(counts, warnings_of(warnings))

    async def propose(self, notes: Sequence[Record], scope: str, supported: bool, key: str | None) -> ChangeResult:
        from ugs_gateway.cli.clients.local_proposals import propose_notes

        return ChangeResult(await propose_notes(self.system, notes, scope, supported, key))

    async def load_demo(self, force: bool) -> ChangeResult:
        return _count_result(await self.graph.load_demo(force))

    async def verify(self) -> Record:
        found = await self.system.verify()
        digests = {"stored": found.stored, "replayed": found.replayed}
        return {"ok": found.ok, "events": found.events, **digests, "problems": list(found.problems)}

    async def cypher(self, query: str, parameters: Record) -> Record:
        from ugs import cypher
        from ugs.cypher import api as cypher_api

        found = await cypher_api.ask(self.system, query, parameters, at=self.at)
        plan = cypher.as_table(found.plan) if found.plan else None
        notices = [{"code": one.code, "message": one.placed_message} for one in found.notifications]
        rows = cypher_api.json_rows(found)
        return {"columns": list(found.columns), "rows": rows, "plan": plan, "notifications": notices}

    async def facts(self, subject: str, moment: str) -> list[Record]:
        from ugs_gateway.cli.clients.local_facts import fact_records

        return await fact_records(self.system, subject, moment, self.at)

    async def correct(self, correction: Correction) -> ChangeResult:
        from ugs_gateway.cli.clients.local_entities import correct_fact

        told, warnings = await correct_fact(self.system, correction)
        return ChangeResult(told, warnings_of(warnings))

    async def entity(self, name: str) -> Record | None:
        from ugs_gateway.cli.clients.local_entities import find_entity

        return await find_entity(self.system, name)

    async def duplicates(self) -> list[Record]:
        from ugs_gateway.cli.clients.local_entities import list_duplicates

        return await list_duplicates(self.system)

    async def merge(self, keep: str, other: str, preview: bool) -> Record:
        from ugs_gateway.cli.clients.local_entities import merge_entities

        return await merge_entities(self.system, keep, other, preview)

    async def unmerge(self, id: str) -> Record:
        from ugs_gateway.cli.clients.local_entities import unmerge_entity

        return await unmerge_entity(self.system, id)

    async def keep_apart(self, id: str, other: str) -> None:
        from ugs.facts.api import Facts

        await Facts(self.system).keep_apart(id, other)

    async def proposals(self, state: str) -> list[Record]:
        from ugs_gateway.cli.clients.local_proposals import list_proposals

        return await list_proposals(self.system, state)

    async def decide(self, id: str, action: str, reason: str | None, changes: Record) -> Record:
        from ugs_gateway.cli.clients.local_proposals import decide

        return await decide(self.system, id, action, reason, changes)

    async def recall(self, question: RecallQuestion) -> Record:
        from ugs_gateway.cli.clients.local_facts import recall_record

        return await recall_record(self.system, question, self.at)

    async def send(self, id: str, type: str, payload: Record) -> Record:
        from ugs.actors.addresses import Message
        from ugs.actors.api import ActorGraph

        return dict(await ActorGraph(self.system).deliver(id, Message(type, payload)))

    def _programs(self) -> Programs:
        from ugs.programs.api import Programs

        return Programs(self.system)

    async def validate_program(self, program: Any) -> Record:
        return self._programs().validate(program).as_json()

    async def save_program(self, program: Any, name: str | None) -> Record:
        return _program_record(await self._programs().save(program, name))

    async def run_program(self, program: Any, parameters: Record) -> Record:
        return (await self._programs().execute(program, parameters, at=self.at)).as_json()

    async def programs(self, search: str | None, limit: int) -> list[Record]:
        return [_program_record(row) for row in await self._programs().list(search, limit, self.at)]

    async def add_key(self, wanted: Record) -> Record:
        from ugs_gateway.cli.clients.local_keys import add_key

        return await add_key(self.system, wanted)

    async def keys(self) -> list[Record]:
        from ugs_gateway.cli.clients.local_keys import list_keys

        return await list_keys(self.system)

    async def revoke_key(self, id: str) -> Record:
        from ugs_gateway.cli.clients.local_keys import revoke_key

        return await revoke_key(self.system, id)

    async def add_webhook(self, wanted: Record) -> Record:
        from ugs_gateway.cli.clients.local_webhooks import add_webhook

        return await add_webhook(self.system, wanted)

    async def webhooks(self) -> list[Record]:
        from ugs_gateway.cli.clients.local_webhooks import list_webhooks

        return await list_webhooks(self.system)

    async def change_webhook(self, action: str, id: str, after: int | None) -> Record:
        from ugs_gateway.cli.clients.local_webhooks import change_webhook

        return await change_webhook(self.system, action, id, after)


_ENDS = ("NodeDeleted", "EdgeDeleted")


def _element_result(changed: Changed) -> ChangeResult:
    return ChangeResult(record_of(changed.elements[0]), warnings_of(changed.warnings))


def _program_record(row: ProgramRow) -> Record:
    return {key: getattr(row, key) for key in PROGRAM_KEYS}


def _count_result(changed: Changed) -> ChangeResult:
    nodes = sum(isinstance(element, Node) for element in changed.elements)
    counts = {"nodes": nodes, "edges": len(changed.elements) - nodes, "events": len(changed.events)}
    return ChangeResult(counts, warnings_of(changed.warnings))
