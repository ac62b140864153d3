"""Typed memory as in the Python API, through GraphQL over HTTP: what is made, found and refused is GraphQL's.

GraphQL changes and deletes what is remembered through the operations of the plain graph, which have rules of their
own; so updating and deleting stay Python's here, and so do values that no request can carry: words that an enum of the
schema does not have, text that JSON does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance_over_graphql.client import Door, else_python
from tests.conformance_over_graphql.graph import at_in, some
from ugs.clock import iso
from ugs.facts.temporal.instants import instant_of
from ugs.feature import Command, CommandWarning
from ugs.identity import LOCAL, Principal
from ugs.log.at import At
from ugs.ontology.api import Memory
from ugs.ontology.commands.ontologies import (
    AddConnectionType,
    AddNodeType,
    AddProperties,
    CreateOntology,
    SetEnforcement,
)
from ugs.ontology.definition import ConnectionType, Ontology, TypeProperties
from ugs.ontology.errors import DEFAULT, ConnectionNotFound, MemoryNodeNotFound, OntologyNotFound
from ugs.ontology.id_lists import Ids
from ugs.ontology.model import Enforcement
from ugs.ontology.properties import Owner, PropertyDefinition, PropertyKind
from ugs.storage import EventQuery
from ugs.system import System
from ugs.writer import Outcome

ONTOLOGY = """fragment O on Ontology { name nodeTypes enforcement createdAt
  connectionTypes { name fromTypes toTypes requiredProperties acyclic }
  properties { owner type definitions { name kind required enum pattern default description } } }"""
WARNINGS = "warnings { code message id }"
ENCODINGS = {"utf-8": "UTF8", "base64": "BASE64"}
DIRECTIONS = {"out": "OUTGOING", "in": "INCOMING", "both": "BOTH"}
MAX_FOUND = 500
"""As many hits as GraphQL gives for one search of content."""
MAX_ROWS = 9999
"""As many rows as the gateway of these tests gives in one page."""


def type_in(given: ConnectionType) -> dict[str, Any]:
    return {
        "name": given.name,
        "fromTypes": list(given.from_types),
        "toTypes": list(given.to_types),
        "requiredProperties": list(given.required_properties),
        "acyclic": given.acyclic,
    }


def definition_in(given: PropertyDefinition) -> dict[str, Any]:
    return {
        "name": given.name,
        "kind": given.kind.name,
        "required": given.required,
        "enum": list(given.enum),
        "pattern": given.pattern,
        "default": given.default,
        "description": given.description,
    }


def properties_in(given: TypeProperties) -> dict[str, Any]:
    definitions = [definition_in(one) for one in given.definitions]
    return {"owner": given.owner.name, "type": given.type, "definitions": definitions}


def ontology_of(shown: dict[str, Any]) -> Ontology:
    types = [
        ConnectionType(
            one["name"],
            tuple(one["fromTypes"]),
            tuple(one["toTypes"]),
            tuple(one["requiredProperties"]),
            one["acyclic"],
        )
        for one in shown["connectionTypes"]
    ]
    return Ontology(
        shown["name"],
        tuple(shown["nodeTypes"]),
        tuple(types),
        Enforcement(shown["enforcement"]),
        instant_of(shown["createdAt"]) // 1_000,
        tuple(properties_of(one) for one in shown["properties"]),
    )


def properties_of(shown: dict[str, Any]) -> TypeProperties:
    definitions = tuple(
        PropertyDefinition(
            one["name"],
            PropertyKind[one["kind"]],
            one["required"],
            tuple(one["enum"]),
            one["pattern"],
            one["default"],
            one["description"],
        )
        for one in shown["definitions"]
    )
    return TypeProperties(Owner[shown["owner"]], shown["type"], definitions)


class DoorMemory(Memory):
    """Every operation of typed memory that GraphQL has goes through it."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal, ontology: str = DEFAULT) -> None:
        super().__init__(system, principal, ontology)
        self.door = Door(system, principal)

    async def _found(self, call: str, kinds: str, **given: Any) -> Any:
        """The answer of one query, whose arguments are declared as `$name: Type, …`."""
        fragment = ONTOLOGY if "...O" in call else ""
        return (await self.door.ask(f"query({kinds}) {{ found: {call} }} {fragment}", **given))["found"]

    # ── changing ─────────────────────────────────────────────────────────────

    @else_python(Memory)
    async def do(self, command: Command, key: str | None = None) -> Outcome:
        match command:
            case CreateOntology():
                asked = {
                    "name": command.name,
                    "nodeTypes": list(command.node_types),
                    "connectionTypes": [type_in(one) for one in command.connection_types],
                    "properties": [properties_in(one) for one in command.properties],
                    "enforcement": command.enforcement.name,
                    "idempotencyKey": key,
                }
                return await self._grown("createOntology(input: $i)", "$i: CreateOntologyInput!", i=asked)
            case AddNodeType():
                call = "addNodeType(typeName: $t, ontology: $o, properties: $p, idempotencyKey: $k)"
                kinds = "$t: String!, $o: String!, $p: [PropertyDefinitionInput!], $k: String"
                told = [definition_in(one) for one in command.properties]
                return await self._grown(call, kinds, t=command.type_name, o=command.ontology, p=told, k=key)
            case AddConnectionType():
                call = "addConnectionType(type: $t, ontology: $o, properties: $p, idempotencyKey: $k)"
                kinds = "$t: ConnectionTypeInput!, $o: String!, $p: [PropertyDefinitionInput!], $k: String"
                told = [definition_in(one) for one in command.properties]
                type = type_in(command.connection_type)
                return await self._grown(call, kinds, t=type, o=command.ontology, p=told, k=key)
            case AddProperties():
                call = "addPropertyDefinitions(input: $i, ontology: $o, idempotencyKey: $k)"
                kinds = "$i: TypePropertiesInput!, $o: String!, $k: String"
                asked = properties_in(TypeProperties(command.owner, command.type_name, command.definitions))
                return await self._grown(call, kinds, i=asked, o=command.ontology, k=key)
            case SetEnforcement():
                call = "setOntologyEnforcement(enforcement: $e, ontology: $o, idempotencyKey: $k)"
                kinds = "$e: Enforcement!, $o: String!, $k: String"
                return await self._grown(call, kinds, e=command.enforcement.name, o=command.ontology, k=key)
        return await super().do(command, key)

    async def _grown(self, call: str, kinds: str, **given: Any) -> Outcome:
        """Run a mutation of an ontology; what it shows is what is stored, and its events are the log's last."""
        async with self.system.session() as session:
            before = (await session.head()).position
        document = f"mutation({kinds}) {{ done: {call} {{ ontology {{ ...O }} {WARNINGS} }} }} {ONTOLOGY}"
        done = (await self.door.ask(document, **given))["done"]
        shown = ontology_of(done["ontology"])
        assert shown == await Memory(self.system, self.principal, shown.name).get_ontology()
        async with self.system.session() as session:
            events = await session.events(EventQuery(after=before))
        return Outcome(events, [CommandWarning(told["code"], told["message"], told["id"]) for told in done["warnings"]])

    @else_python(Memory)
    async def create_node(
        self,
        type: str,
        content: str,
        format: str,
        encoding: str = "utf-8",
        properties: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
    ) -> str:
        if encoding not in ENCODINGS:
            return await super().create_node(type, content, format, encoding, properties, key=key)
        asked = {
            "type": type,
            "content": content,
            "format": format,
            "encoding": ENCODINGS[encoding],
            "properties": None if properties is None else dict(properties),
            "ontology": self.ontology,
            "idempotencyKey": key,
        }
        document = "mutation($i: MemoryNodeInput!) { done: createMemoryNode(input: $i) { node { id type } } }"
        shown = (await self.door.ask(document, i=asked))["done"]["node"]
        assert shown["type"] == type
        return str(shown["id"])

    @else_python(Memory)
    async def create_connection(
        self,
        type: str,
        from_node_id: str,
        to_node_id: str,
        properties: Mapping[str, Any] | None = None,
        content: str | None = None,
        *,
        key: str | None = None,
    ) -> str:
        asked = {
            "type": type,
            "fromNodeId": from_node_id,
            "toNodeId": to_node_id,
            "properties": None if properties is None else dict(properties),
            "content": content,
            "ontology": self.ontology,
            "idempotencyKey": key,
        }
        document = "mutation($i: ConnectionInput!) { done: createConnection(input: $i) { edge { id type from to } } }"
        shown = (await self.door.ask(document, i=asked))["done"]["edge"]
        assert (shown["type"], shown["from"], shown["to"]) == (type, from_node_id, to_node_id)
        return str(shown["id"])

    # ── reading ──────────────────────────────────────────────────────────────

    @else_python(Memory)
    async def get_node(self, node_id: str, at: At | None = None) -> dict[str, Any]:
        node = await self._node(node_id, "created modified properties content { format }", at)
        return {
            "id": node["id"],
            "type": node["type"] or "",
            "created": iso(node["created"]),
            "modified": iso(node["modified"]),
            "properties": node["properties"],
            "content_format": "" if node["content"] is None else node["content"]["format"],
        }

    @else_python(Memory)
    async def get_node_content(self, node_id: str, at: At | None = None) -> str:
        content = (await self._node(node_id, "content { body }", at))["content"]
        return "" if content is None else str(content["body"])

    async def _node(self, id: str, fields: str, at: At | None) -> dict[str, Any]:
        call = f"graphNode(id: $id, at: $at) {{ id type {fields} }}"
        found: dict[str, Any] | None = await self._found(call, "$id: ID!, $at: At", id=id, at=at_in(at))
        if found is None:
            raise MemoryNodeNotFound(id)
        return found

    @else_python(Memory)
    async def get_connection(self, connection_id: str, at: At | None = None) -> dict[str, Any]:
        call = "graphEdge(id: $id, at: $at) { id type from to created modified properties content { format } }"
        edge = await self._found(call, "$id: ID!, $at: At", id=connection_id, at=at_in(at))
        if edge is None:
            raise ConnectionNotFound(connection_id)
        return {
            "id": edge["id"],
            "type": edge["type"] or "",
            "from_node_id": edge["from"],
            "to_node_id": edge["to"],
            "created": iso(edge["created"]),
            "modified": iso(edge["modified"]),
            "properties": edge["properties"],
            "has_content": edge["content"] is not None,
        }

    @else_python(Memory)
    async def query_nodes(
        self,
        type: str | None = None,
        properties: Mapping[str, Any] | None = None,
        at: At | None = None,
        *,
        max_ids: int | None = None,
    ) -> Ids:
        asked = some({"type": type, "match": properties and dict(properties)})
        order = "[{field: CREATED}, {field: ID}]"
        call = f"graphNodes(filter: $f, orderBy: {order}, first: $n, at: $at) {{ totalCount nodes {{ id }} }}"
        return await self._ids(call, "NodeFilter", asked, max_ids, at)

    @else_python(Memory)
    async def query_connections(
        self,
        from_node_id: str | None = None,
        to_node_id: str | None = None,
        type: str | None = None,
        properties: Mapping[str, Any] | None = None,
        at: At | None = None,
        *,
        max_ids: int | None = None,
    ) -> Ids:
        ends = {"from": from_node_id, "to": to_node_id}
        asked = some({**ends, "type": type, "match": properties and dict(properties)})
        order = "[{field: CREATED}]"
        call = f"graphEdges(filter: $f, orderBy: {order}, first: $n, at: $at) {{ totalCount nodes {{ id }} }}"
        return await self._ids(call, "EdgeFilter", asked, max_ids, at)

    async def _ids(
        self, call: str, filter: str, asked: dict[str, Any] | None, max_ids: int | None, at: At | None
    ) -> Ids:
        page = MAX_ROWS if max_ids is None else max_ids
        found = await self._found(call, f"$f: {filter}, $n: Int, $at: At", f=asked, n=page, at=at_in(at))
        return Ids([one["id"] for one in found["nodes"]], found["totalCount"])

    @else_python(Memory)
    async def search_content(
        self,
        query: str,
        node_type: str | None = None,
        limit: int | None = None,
        at: At | None = None,
        *,
        max_ids: int | None = None,
    ) -> Ids:
        if max_ids is not None:
            return await super().search_content(query, node_type, limit, at, max_ids=max_ids)
        call = "searchContent(query: $q, nodeType: $t, limit: $n, at: $at) { id }"
        kinds = "$q: String!, $t: String, $n: Int!, $at: At"
        page = MAX_FOUND if limit is None else limit
        found = await self._found(call, kinds, q=query, t=node_type, n=page, at=at_in(at))
        return Ids([one["id"] for one in found], len(found))

    @else_python(Memory)
    async def get_connected_nodes(
        self, node_id: str, direction: str, connection_type: str | None = None, at: At | None = None
    ) -> list[str]:
        if direction not in DIRECTIONS:
            return await super().get_connected_nodes(node_id, direction, connection_type, at)
        call = "connectedNodes(nodeId: $id, connectionType: $t, direction: $d, at: $at) { id }"
        given = {"id": node_id, "t": connection_type, "d": DIRECTIONS[direction], "at": at_in(at)}
        found = await self._found(call, "$id: ID!, $t: String, $d: Direction!, $at: At", **given)
        return [one["id"] for one in found]

    # ── ontologies ───────────────────────────────────────────────────────────

    @else_python(Memory)
    async def validate_connection(
        self, connection_type: str, from_node_type: str, to_node_type: str, at: At | None = None
    ) -> bool:
        call = """validateConnection(connectionType: $c, fromNodeType: $f, toNodeType: $t, ontology: $o, at: $at)
          { valid code message }"""
        given = {"c": connection_type, "f": from_node_type, "t": to_node_type, "o": self.ontology, "at": at_in(at)}
        kinds = "$c: String!, $f: String!, $t: String!, $o: String!, $at: At"
        found = await self._found(call, kinds, **given)
        assert found["valid"] is (found["code"] is None) is (found["message"] is None)
        return bool(found["valid"])

    @else_python(Memory)
    async def get_ontology(self, at: At | None = None) -> Ontology:
        found = await self._found(
            "ontology(name: $n, at: $at) { ...O }", "$n: String!, $at: At", n=self.ontology, at=at_in(at)
        )
        if found is None:
            raise OntologyNotFound(self.ontology)
        return ontology_of(found)

    async def ontologies(self, at: At | None = None) -> list[Ontology]:
        found: Sequence[dict[str, Any]] = await self._found("ontologies(at: $at) { ...O }", "$at: At", at=at_in(at))
        return [ontology_of(one) for one in found]
