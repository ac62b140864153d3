"""Typed memory in Python: the eighteen operations of seed 004 as awaitable calls, in the seed's shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ugs.clock import utc
from ugs.feature import Command
from ugs.graph.model import Edge, Node
from ugs.identity import LOCAL, Context, Principal
from ugs.ontology import queries
from ugs.ontology.defining import AddConnectionType, AddNodeType, AddProperties, CreateOntology, SetEnforcement
from ugs.ontology.definition import ConnectionType, Ontology, TypeProperties, get_ontology, list_ontologies
from ugs.ontology.errors import DEFAULT
from ugs.ontology.listing import Ids, ids_of
from ugs.ontology.model import Content, Enforcement
from ugs.ontology.properties import Owner, PropertyDefinition
from ugs.ontology.remembering import (
    CreateConnection,
    CreateNode,
    DeleteConnection,
    DeleteNode,
    UpdateConnection,
    UpdateNode,
)

if TYPE_CHECKING:
    from ugs.moments import At
    from ugs.system import System
    from ugs.writer import Outcome


def iso(milliseconds: int) -> str:
    """An instant as the seed shows it (C-125)."""
    moment = utc(milliseconds // 1_000)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1_000:03}Z"


def shown_node(node: Node, content: Content | None) -> dict[str, Any]:
    """What is known about a node, in the seed's shape."""
    return {
        "id": node.id,
        "type": node.type or "",
        "created": iso(node.created),
        "modified": iso(node.modified),
        "properties": node.properties,
        "content_format": "" if content is None else content.format,
    }


def shown_connection(edge: Edge, content: Content | None) -> dict[str, Any]:
    """What is known about a connection, in the seed's shape."""
    return {
        "id": edge.id,
        "type": edge.type or "",
        "from_node_id": edge.source,
        "to_node_id": edge.target,
        "created": iso(edge.created),
        "modified": iso(edge.modified),
        "properties": edge.properties,
        "has_content": content is not None,
    }


class Memory:
    """Typed nodes and connections of one system under one ontology, on behalf of one principal."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal, ontology: str = DEFAULT) -> None:
        self.system = system
        self.principal = principal
        self.ontology = ontology

    async def do(self, command: Command, key: str | None = None) -> Outcome:
        """Execute a command; with an idempotency key a retry gives the first answer again."""
        return await self.system.execute(command, Context(self.principal, key))

    async def _made(self, command: Command, key: str | None) -> str:
        outcome = await self.do(command, key)
        return outcome.events[0].element or ""

    # ── nodes ────────────────────────────────────────────────────────────────

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
        """Remember something; answers its id."""
        command = CreateNode(
            type=type,
            content=content,
            format=format,
            encoding=encoding,
            properties=dict(properties or {}),
            ontology=self.ontology,
        )
        return await self._made(command, key)

    async def get_node(self, node_id: str, at: At | None = None) -> dict[str, Any]:
        """What is known about a node, without its content."""
        async with self.system.session_at(at) as session:
            node = await queries.get_node(session, node_id)
            content = await queries.find_content(session, node_id)
        return shown_node(node, content)

    async def get_node_content(self, node_id: str, at: At | None = None) -> str:
        """What a node says, exactly as it was given."""
        async with self.system.session_at(at) as session:
            await queries.get_node(session, node_id)
            return await queries.body_of(session, node_id)

    async def update_node(
        self,
        node_id: str,
        properties: Mapping[str, Any] | None = None,
        content: str | None = None,
        encoding: str | None = None,
        format: str | None = None,
        *,
        key: str | None = None,
    ) -> None:
        given = None if properties is None else dict(properties)
        command = UpdateNode(
            node_id=node_id, properties=given, content=content, encoding=encoding, format=format, ontology=self.ontology
        )
        await self.do(command, key)

    async def delete_node(self, node_id: str, *, key: str | None = None) -> None:
        await self.do(DeleteNode(node_id=node_id), key)

    # ── connections ──────────────────────────────────────────────────────────

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
        """Connect two nodes; answers the connection's id."""
        command = CreateConnection(
            type=type,
            from_node_id=from_node_id,
            to_node_id=to_node_id,
            properties=dict(properties or {}),
            content=content,
            ontology=self.ontology,
        )
        return await self._made(command, key)

    async def get_connection(self, connection_id: str, at: At | None = None) -> dict[str, Any]:
        async with self.system.session_at(at) as session:
            edge = await queries.get_connection(session, connection_id)
            content = await queries.find_content(session, connection_id)
        return shown_connection(edge, content)

    async def update_connection(
        self,
        connection_id: str,
        properties: Mapping[str, Any] | None = None,
        content: str | None = None,
        *,
        key: str | None = None,
    ) -> None:
        given = None if properties is None else dict(properties)
        command = UpdateConnection(
            connection_id=connection_id, properties=given, content=content, ontology=self.ontology
        )
        await self.do(command, key)

    async def delete_connection(self, connection_id: str, *, key: str | None = None) -> None:
        await self.do(DeleteConnection(connection_id=connection_id), key)

    # ── questions ────────────────────────────────────────────────────────────

    # Each may be given `most`: then the answer says how many there are in all, and holds no more than that.

    async def query_nodes(
        self,
        type: str | None = None,
        properties: Mapping[str, Any] | None = None,
        at: At | None = None,
        *,
        most: int | None = None,
    ) -> Ids:
        return await ids_of(self.system, queries.nodes_with(type, properties), most=most, at=at)

    async def query_connections(
        self,
        from_node_id: str | None = None,
        to_node_id: str | None = None,
        type: str | None = None,
        properties: Mapping[str, Any] | None = None,
        at: At | None = None,
        *,
        most: int | None = None,
    ) -> Ids:
        asked = queries.connections_with(from_node_id, to_node_id, type, properties)
        return await ids_of(self.system, asked, most=most, at=at)

    async def search_content(
        self,
        query: str,
        node_type: str | None = None,
        limit: int | None = None,
        at: At | None = None,
        *,
        most: int | None = None,
    ) -> Ids:
        queries.check_limit(limit)
        return await ids_of(self.system, queries.nodes_saying(query, node_type), limit, most, at)

    async def get_connected_nodes(
        self, node_id: str, direction: str, connection_type: str | None = None, at: At | None = None
    ) -> list[str]:
        async with self.system.session_at(at) as session:
            return [node.id for node in await queries.connected_nodes(session, node_id, connection_type, direction)]

    # ── ontologies ───────────────────────────────────────────────────────────

    async def validate_connection(
        self, connection_type: str, from_node_type: str, to_node_type: str, at: At | None = None
    ) -> bool:
        ontology = await self.get_ontology(at)
        return ontology.is_valid(connection_type, from_node_type, to_node_type)

    async def create_ontology(
        self,
        node_types: Sequence[str],
        connection_types: Sequence[ConnectionType] = (),
        enforcement: Enforcement = Enforcement.OFF,
        *,
        properties: Sequence[TypeProperties] = (),
        key: str | None = None,
    ) -> Outcome:
        command = CreateOntology(
            name=self.ontology,
            node_types=tuple(node_types),
            connection_types=tuple(connection_types),
            enforcement=enforcement,
            properties=tuple(properties),
        )
        return await self.do(command, key)

    async def add_node_type(
        self, type_name: str, *, properties: Sequence[PropertyDefinition] = (), key: str | None = None
    ) -> Outcome:
        command = AddNodeType(type_name=type_name, ontology=self.ontology, properties=tuple(properties))
        return await self.do(command, key)

    async def add_connection_type(
        self,
        connection_type: ConnectionType,
        *,
        properties: Sequence[PropertyDefinition] = (),
        key: str | None = None,
    ) -> Outcome:
        command = AddConnectionType(
            connection_type=connection_type, ontology=self.ontology, properties=tuple(properties)
        )
        return await self.do(command, key)

    async def add_properties(
        self, owner: Owner, type_name: str, definitions: Sequence[PropertyDefinition], *, key: str | None = None
    ) -> Outcome:
        command = AddProperties(
            owner=owner, type_name=type_name, definitions=tuple(definitions), ontology=self.ontology
        )
        return await self.do(command, key)

    async def set_enforcement(self, enforcement: Enforcement, *, key: str | None = None) -> Outcome:
        return await self.do(SetEnforcement(enforcement=enforcement, ontology=self.ontology), key)

    async def get_ontology(self, at: At | None = None) -> Ontology:
        async with self.system.session_at(at) as session:
            return await get_ontology(session, self.ontology)

    async def ontologies(self, at: At | None = None) -> list[Ontology]:
        async with self.system.session_at(at) as session:
            return await list_ontologies(session)
