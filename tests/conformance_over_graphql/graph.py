"""The graph of the Python API, through GraphQL over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from tests.conformance_over_graphql.client import Door
from ugs.events import Event
from ugs.facts.temporal.instants import instant_text, start_of
from ugs.feature import Command, CommandWarning
from ugs.graph import queries, traversal
from ugs.graph.api import Changed, Graph
from ugs.graph.batches import Batch, ClearScope, ImportGraph, Revert
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, Update
from ugs.graph.content import NewContent
from ugs.graph.model import EDGES, Edge, Element, Node
from ugs.graph.paths import shortest_path as paths
from ugs.graph.text import search as searching
from ugs.graph.versions import ElementVersion
from ugs.identity import LOCAL, Principal, Scope
from ugs.log.at import At
from ugs.reads.cursors import encode_cursor
from ugs.reads.plan import WHOLE, Page
from ugs.storage import EventQuery
from ugs.system import System
from ugs.values import Json, to_text, whole
from ugs_schema.graph.search import BY_SCORE

FRAGMENTS = """
fragment N on GraphNode { __typename id type properties data created modified version }
fragment E on GraphEdge { __typename id type from to weight properties created modified version }
"""
WARNINGS = "warnings { code message id }"


def _narrowed(options: dict[str, Any]) -> dict[str, Any]:
    scope = options.get("scope")
    return {"s": scope and scope.name, "t": options.get("type")}


def node_in(shown: dict[str, Any]) -> Node:
    data = None if shown["data"] is None else to_text(shown["data"])
    times = shown["created"], shown["modified"], shown["version"]
    return Node(shown["id"], shown["type"], to_text(shown["properties"]), data, *times)


def edge_in(shown: dict[str, Any]) -> Edge:
    ends, times = (shown["from"], shown["to"]), (shown["created"], shown["modified"], shown["version"])
    return Edge(shown["id"], *ends, shown["type"], whole(shown["weight"]), to_text(shown["properties"]), *times, seq=0)


def element_in(shown: dict[str, Any]) -> Element:
    return node_in(shown) if shown["__typename"] == "GraphNode" else edge_in(shown)


def at_in(at: At | None) -> dict[str, Any] | None:
    if at is None:
        return None
    if at.position is not None or at.instant is None:
        return {"position": at.position}
    return {"instant": instant_text(start_of(at.instant))}


def given(command: Any, **names: str) -> dict[str, Any]:
    """The fields of a command that say something, under the names of the schema."""
    renamed = {names.get(name, name): getattr(command, name) for name in command.__struct_fields__}
    content = renamed.get("content")
    if isinstance(content, NewContent):
        renamed["content"] = {
            **to_builtins(content),
            "encoding": {"utf-8": "UTF8", "base64": "BASE64"}[content.encoding],
        }
    return {name: value for name, value in renamed.items() if value is not None and value is not UNSET}


def input_of(operation: Operation) -> tuple[str, dict[str, Any]]:
    """The mutation for one operation, and its input."""
    match operation:
        case AddNode():
            return "addNode", given(operation, expected_version="expectedVersion")
        case AddEdge():
            found = given(operation, source="from", target="to", expected_version="expectedVersion")
            strict = found.pop("strict")
            return "addEdge", {**found, "weight": operation.weight, "endpointPolicy": "STRICT" if strict else "SOFT"}
        case Update():
            names = {"append": "appendProperties", "remove": "removeProperties", "expected_version": "expectedVersion"}
            found = given(operation, **names)
            kind = found.pop("kind")
            for name in ("type", "data", "content"):
                if getattr(operation, name) is None:
                    found[name] = None
            return f"update{kind.title()}", found
        case _:
            found = given(operation, expected_version="expectedVersion")
            kind = found.pop("kind")
            return "delete" if kind == "any" else f"delete{kind.title()}", found


class DoorGraph(Graph):
    """Every operation that GraphQL has goes through it; what it has not stays Python's.

    That is: applying foreign events, and giving an edge its content while it is added.
    """

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        super().__init__(system, principal)
        self.door = Door(system, principal)
        self._answers: dict[str, Changed] = {}

    # ── changing ─────────────────────────────────────────────────────────────

    async def do(self, command: Command, key: str | None = None) -> Changed:
        send = SENDING.get(type(command))
        if send is None or has_edge_content(command):
            return await super().do(command, key)
        before = await self._position()
        found = await send(self, command, key)
        return await self._told(found, before) if isinstance(found, dict) else found

    async def _told(self, payload: dict[str, Any], before: int) -> Changed:
        """A payload as the Python API would say it; the events are looked up by their positions."""
        positions = [event["seq"] for event in payload["events"]]
        events = await self._events(positions)
        warnings = [CommandWarning(told["code"], told["message"], told["id"]) for told in payload["warnings"]]
        elements = [await self._placed(element_in(shown)) for shown in payload["elements"]]
        repeated = bool(positions) and max(positions) <= before
        return Changed(elements, payload["deleted"], events, warnings, repeated)

    async def _placed(self, element: Element) -> Element:
        """An edge with the position of its first event, which is not shown through this door."""
        if isinstance(element, Node):
            return element
        async with self.system.session() as session:
            stored: Edge | None = await session.find(EDGES, element.id)
        return element if stored is None else replace(element, seq=stored.seq)

    async def _events(self, positions: Sequence[int]) -> list[Event]:
        if not positions:
            return []
        async with self.system.session() as session:
            return await session.events(EventQuery(after=min(positions) - 1, until=max(positions)))

    async def _one(self, operation: Any, key: str | None) -> dict[str, Any]:
        if isinstance(operation, Update):
            operation = await self._told_apart(operation, ())
        name, asked = input_of(operation)
        if key is not None:
            asked["idempotencyKey"] = key
        kind, shape, read = SHAPES[name.removeprefix("add").removeprefix("update").lower()[:4]]
        document = f"mutation($i: {kind_of(name)}!) {{ done: {name}(input: $i) {{ {shape} {WARNINGS} }} }} {kind}"
        return read((await self.door.ask(document, i=asked))["done"])

    async def _told_apart(self, operation: Operation, others: Sequence[Operation]) -> Operation:
        """The operation with its kind said: GraphQL has no name for either."""
        if not isinstance(operation, Update | Delete) or operation.kind != "any":
            return operation
        made = any(isinstance(other, AddEdge) and other.id == operation.id for other in others)
        is_edge = made or isinstance(await self.get(operation.id), Edge)
        return replace(operation, kind="edge" if is_edge else "node")

    async def _batch(self, command: Batch, key: str | None) -> dict[str, Any]:
        told = [input_of(await self._told_apart(each, command.operations)) for each in command.operations]
        operations = [{name: asked} for name, asked in told]
        document = f"""mutation($o: [BatchOperation!]!, $k: String) {{
          done: applyBatch(operations: $o, idempotencyKey: $k) {{
            elements {{ ...N ...E }} deletedIds events {{ seq }} {WARNINGS} }} }} {FRAGMENTS}"""
        return batch_in((await self.door.ask(document, o=operations, k=key))["done"])

    async def _revert(self, command: Revert, key: str | None) -> dict[str, Any]:
        document = f"""mutation($id: ID!, $v: Int!, $e: Int, $k: String) {{
          done: revertElement(id: $id, version: $v, expectedVersion: $e, idempotencyKey: $k) {{
            elements {{ ...N ...E }} deletedIds events {{ seq }} {WARNINGS} }} }} {FRAGMENTS}"""
        asked = {"id": command.id, "v": command.version, "e": command.expected_version, "k": key}
        return batch_in((await self.door.ask(document, **asked))["done"])

    async def _clear(self, command: ClearScope, key: str | None) -> Changed:
        """What was deleted is told by id; the events of a cleared scope are the last ones of the log."""
        document = """mutation($s: Scope!, $f: Boolean!, $k: String) {
          done: clearScope(scope: $s, force: $f, idempotencyKey: $k) { deletedNodeIds deletedEdgeIds } }"""
        before = await self._position()
        done = (await self.door.ask(document, s=command.scope.name, f=command.force, k=key))["done"]
        deleted = [*done["deletedEdgeIds"], *done["deletedNodeIds"]]
        return self._first_answer(key, Changed([], deleted, await self._since(before), []))

    def _first_answer(self, key: str | None, changed: Changed) -> Changed:
        """The answer with the events of the first request under a key: these payloads do not name their events."""
        return changed if key is None else self._answers.setdefault(key, changed)

    async def _import(self, command: ImportGraph, key: str | None) -> Changed:
        document = f"""mutation($g: JSON!, $c: String!, $k: String) {{
          done: importGraph(graph: $g, onConflict: $c, idempotencyKey: $k) {{ nodes edges events {WARNINGS} }} }}"""
        before = await self._position()
        graph = {"nodes": command.nodes, "edges": command.edges}
        done = (await self.door.ask(document, g=graph, c=command.on_conflict, k=key))["done"]
        events = await self._since(before)
        assert len(events) == done["events"] or key in self._answers
        found = [await self.get(event.element) for event in events if event.element]
        warnings = [CommandWarning(told["code"], told["message"], told["id"]) for told in done["warnings"]]
        elements = [element for element in found if element is not None]
        return self._first_answer(key, Changed(elements, [], events, warnings))

    async def _position(self) -> int:
        async with self.system.session() as session:
            return (await session.head()).position

    async def _since(self, position: int) -> list[Event]:
        async with self.system.session() as session:
            return await session.events(EventQuery(after=position))

    # ── reading ──────────────────────────────────────────────────────────────

    async def export_graph(self, scope: Scope | None = None, at: At | None = None) -> dict[str, Json]:
        document = "query($s: Scope, $at: At) { found: exportGraph(scope: $s, at: $at) }"
        exported: dict[str, Json] = (await self.door.ask(document, s=scope and scope.name, at=at_in(at)))["found"]
        return exported

    async def get(self, id: str, at: At | None = None) -> Element | None:
        document = f"query($id: ID!, $at: At) {{ found: element(id: $id, at: $at) {{ ...N ...E }} }} {FRAGMENTS}"
        found = (await self.door.ask(document, id=id, at=at_in(at)))["found"]
        return None if found is None else await self._placed(element_in(found))

    async def list_nodes(
        self, type: str | None = None, scope: Scope | None = None, page: Page = WHOLE, at: At | None = None
    ) -> list[Node]:
        if page != WHOLE:
            return await super().list_nodes(type, scope, page, at)
        asked = {"type": type, "scope": scope and scope.name}
        return await self._nodes(
            "graphNodes(filter: $f, first: 9999, at: $at)", "$f: NodeFilter, $at: At", f=some(asked), at=at_in(at)
        )

    async def find_by_property(self, key: str, value: Json, at: At | None = None) -> list[Node]:
        call = "findByProperty(key: $k, value: $v, first: 9999, at: $at)"
        return await self._nodes(call, "$k: String!, $v: JSON, $at: At", k=key, v=value, at=at_in(at))

    async def roots(self, at: At | None = None) -> list[Node]:
        return await self._nodes("roots(first: 9999, at: $at)", "$at: At", at=at_in(at))

    async def _nodes(self, call: str, declared: str, **variables: Any) -> list[Node]:
        document = f"query({declared}) {{ found: {call} {{ nodes {{ ...N }} }} }} {NODE_ONLY}"
        return [node_in(shown) for shown in (await self.door.ask(document, **variables))["found"]["nodes"]]

    async def search(self, query: str, at: At | None = None, **options: Any) -> list[searching.Hit]:
        document = f"""query($q: String!, $s: Scope, $t: String, $n: Int, $a: String, $at: At) {{
          found: search(query: $q, scope: $s, type: $t, first: $n, after: $a, at: $at)
            {{ edges {{ node {{ score node {{ ...N }} }} }} }}
        }} {NODE_ONLY}"""
        most, after = options.get("limit"), options.get("after")
        place = None if after is None else encode_cursor(BY_SCORE, after)
        asked = {**_narrowed(options), "n": 9999 if most is None else most, "a": place}
        found = (await self.door.ask(document, q=query, at=at_in(at), **asked))["found"]["edges"]
        return [searching.Hit(node_in(edge["node"]["node"]), edge["node"]["score"]) for edge in found]

    async def count_found(self, query: str, at: At | None = None, **options: Any) -> int:
        document = """query($q: String!, $s: Scope, $t: String, $at: At) {
          found: search(query: $q, scope: $s, type: $t, first: 1, at: $at) { totalCount } }"""
        told = await self.door.ask(document, q=query, at=at_in(at), **_narrowed(options))
        return int(told["found"]["totalCount"])

    async def neighbors(
        self, id: str, direction: str | None = None, types: Sequence[str] | None = None, at: At | None = None
    ) -> list[Node]:
        if types is not None and len(types) != 1:
            return await super().neighbors(id, direction, types, at)
        way = traversal.parse_direction(direction or await self._setting("neighbors_direction"))
        document = f"""query($id: ID!, $d: Direction!, $t: String, $at: At) {{
          found: neighbors(id: $id, direction: $d, edgeType: $t, at: $at) {{ ...N }} }} {NODE_ONLY}"""
        asked = {"id": id, "d": way.name, "t": types[0] if types else None, "at": at_in(at)}
        return [node_in(shown) for shown in (await self.door.ask(document, **asked))["found"]]

    async def _setting(self, name: str) -> Any:
        async with self.system.session() as session:
            return await queries.setting(session, name)

    async def traverse(
        self,
        id: str,
        depth: int | None = None,
        direction: str | None = None,
        strategy: traversal.Strategy = traversal.Strategy.BFS,
        types: Sequence[str] | None = None,
        at: At | None = None,
    ) -> list[traversal.Step]:
        way = traversal.parse_direction(direction or await self._setting("traverse_direction"))
        far = depth if depth is not None else await self._setting("traverse_depth")
        document = f"""query($id: ID!, $n: Int!, $d: Direction!, $s: Strategy!, $t: [String!], $at: At) {{
          found: traverse(id: $id, depth: $n, direction: $d, strategy: $s, edgeTypes: $t, at: $at) {{
            depth node {{ ...N }} via {{ ...E }} }} }} {FRAGMENTS}"""
        asked = {"id": id, "n": far, "d": way.name, "s": strategy.name, "t": types, "at": at_in(at)}
        return [
            traversal.Step(node_in(step["node"]), step["depth"], None if step["via"] is None else edge_in(step["via"]))
            for step in (await self.door.ask(document, **asked))["found"]
        ]

    async def path(self, start: str, goal: str, at: At | None = None) -> paths.Path | None:
        document = f"""query($a: ID!, $b: ID!, $at: At) {{
          found: path(from: $a, to: $b, at: $at) {{ totalWeight nodes {{ ...N }} edges {{ ...E }} }} }} {FRAGMENTS}"""
        found = (await self.door.ask(document, a=start, b=goal, at=at_in(at)))["found"]
        if found is None:
            return None
        nodes, edges = [node_in(node) for node in found["nodes"]], [edge_in(edge) for edge in found["edges"]]
        return paths.Path(nodes, edges, whole(found["totalWeight"]))

    async def stats(self, at: At | None = None) -> queries.Stats:
        document = "query($at: At) { found: stats(at: $at) { nodes edges types properties } }"
        return queries.Stats(**(await self.door.ask(document, at=at_in(at)))["found"])

    async def hubs(self, limit: int | None = None, at: At | None = None) -> list[queries.Hub]:
        most = limit if limit is not None else await self._setting("hubs_limit")
        document = f"""query($n: Int!, $at: At) {{
          found: hubs(limit: $n, at: $at) {{ degree inDegree outDegree node {{ ...N }} }} }} {NODE_ONLY}"""
        found = (await self.door.ask(document, n=most, at=at_in(at)))["found"]
        return [queries.Hub(node_in(hub["node"]), hub["inDegree"], hub["outDegree"]) for hub in found]

    async def property_keys(self, at: At | None = None) -> list[str]:
        keys: list[str] = (await self.door.ask("query($at: At) { found: propertyKeys(at: $at) }", at=at_in(at)))[
            "found"
        ]
        return keys

    async def scopes(self, at: At | None = None) -> list[queries.ScopeCount]:
        document = "query($at: At) { found: scopes(at: $at) { scope nodeCount edgeCount } }"
        found = (await self.door.ask(document, at=at_in(at)))["found"]
        return [queries.ScopeCount(Scope[told["scope"]], told["nodeCount"], told["edgeCount"]) for told in found]

    async def history(self, last: int | None = None, element: str | None = None) -> list[Event]:
        most = last if last is not None else await self._setting("history_limit")
        document = "query($n: Int!, $id: ID) { found: history(last: $n, elementId: $id) { seq } }"
        positions = [told["seq"] for told in (await self.door.ask(document, n=most, id=element))["found"]]
        by_position = {event.position: event for event in await self._events(positions)}
        return [by_position[position] for position in positions]

    async def versions(self, id: str) -> list[ElementVersion]:
        return await super().versions(id)

    async def resolve(self, address: str, at: At | None = None) -> queries.Resolution:
        document = f"""query($a: String!, $at: At) {{
          found: resolve(address: $a, at: $at) {{ element {{ ...N ...E }} value resolved }} }} {FRAGMENTS}"""
        found = (await self.door.ask(document, a=address, at=at_in(at)))["found"]
        element = None if found["element"] is None else await self._placed(element_in(found["element"]))
        resolution = queries.Resolution(address, element)
        assert resolution.value == found["value"] and found["resolved"] is (found["element"] is not None)
        return resolution


NODE_ONLY = FRAGMENTS.strip().splitlines()[0]
EDGE_ONLY = FRAGMENTS.strip().splitlines()[1]


def has_edge_content(command: Command) -> bool:
    """Whether an edge is added together with its content, for which `AddEdgeInput` has no field."""
    operations = command.operations if isinstance(command, Batch) else [command]
    return any(isinstance(one, AddEdge) and one.content is not None for one in operations)


def some(asked: dict[str, Any]) -> dict[str, Any] | None:
    return {name: value for name, value in asked.items() if value is not None} or None


def kind_of(name: str) -> str:
    """The input type of a mutation."""
    return "DeleteInput" if name.startswith("delete") else name[0].upper() + name[1:] + "Input"


def changed_in(payload: dict[str, Any]) -> dict[str, Any]:
    element = payload.get("node") or payload.get("edge")
    events = [] if payload["event"] is None else [payload["event"]]
    return {"elements": [element], "deleted": [], "events": events, "warnings": payload["warnings"]}


def deleted_in(payload: dict[str, Any]) -> dict[str, Any]:
    deleted = [*payload["deletedEdgeIds"], payload["deletedId"]]
    return {"elements": [], "deleted": deleted, "events": payload["events"], "warnings": payload["warnings"]}


def batch_in(payload: dict[str, Any]) -> dict[str, Any]:
    return {**payload, "deleted": payload["deletedIds"]}


SHAPES: dict[str, tuple[str, str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "node": (NODE_ONLY, "node { ...N } event { seq }", changed_in),
    "edge": (EDGE_ONLY, "edge { ...E } event { seq }", changed_in),
    "dele": ("", "deletedId deletedEdgeIds events { seq }", deleted_in),
}
Sending = Callable[[DoorGraph, Any, str | None], Awaitable[dict[str, Any] | Changed]]
SENDING: dict[type[Command], Sending] = {
    AddNode: DoorGraph._one,
    AddEdge: DoorGraph._one,
    Update: DoorGraph._one,
    Delete: DoorGraph._one,
    Batch: DoorGraph._batch,
    Revert: DoorGraph._revert,
    ClearScope: DoorGraph._clear,
    ImportGraph: DoorGraph._import,
}
