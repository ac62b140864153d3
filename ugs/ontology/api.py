"""Typed memory in Python: the eighteen operations of seed 004 as awaitable calls, with the seed's JSON shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ugs.clock import iso
from ugs.feature import Command
from ugs.graph.model import Edge, Node
from ugs.identity import LOCAL, Context, Principal
from ugs.ontology import queries
from ugs.ontology.commands.memory import (
    CreateConnection,
    CreateNode,
    DeleteConnection,
    DeleteNode,
    UpdateConnection,
    UpdateNode,
)
from ugs.ontology.commands.ontologies import (
    AddConnectionType,
    AddNodeType,
    AddProperties,
    CreateOntology,
    SetEnforcement,
)
from ugs.ontology.definition import ConnectionType, Ontology, TypeProperties, get_ontology, list_ontologies
from ugs.ontology.errors import DEFAULT
from ugs.ontology.id_lists import Ids, read_ids
from ugs.ontology.model import Content, Enforcement
from ugs.ontology.properties import Owner, PropertyDefinition

if TYPE_CHECKING:
    from ugs.log.at import At
    from ugs.system import System
    from ugs.writer import Outcome


def node_to_json(node: Node, content: Content | None) -> dict[str, Any]:
    """Node metadata as JSON in the seed's shape; content is described, not included."""
    return {
        "id": node.id,
        "type": node.type or "",
        "created": iso(node.created),
        "modified": iso(node.modified),
        "properties": node.properties,
        "content_format": "" if content is None else content.format,
    }


def connection_to_json(edge: Edge, content: Content | None) -> dict[str, Any]:
    """Connection metadata as JSON in the seed's shape; content is described, not included."""
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
        """Execute a command; with an idempotency key a retry returns the first result."""
        return await self.system.execute(command, Context(self.principal, key))

    async def _create(self, command: Command, key: str | None) -> str:
        """Execute a command that creates one element and return the element's id."""
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
        """Create a node of a known type, with optional content; returns its id."""
        command = CreateNode(
            type=type,
            content=content,
            format=format,
            encoding=encoding,
            properties=dict(properties or {}),
            ontology=self.ontology,
        )
        return await self._create(command, key)

    async def get_node(self, node_id: str, at: At | None = None) -> dict[str, Any]:
        """Metadata of a node, without its content."""
        async with self.system.session_at(at) as session:
            node = await queries.get_node(session, node_id)
            content = await queries.find_content(session, node_id)
        return node_to_json(node, content)

    async def get_node_content(self, node_id: str, at: At | None = None) -> str:
        """The content of a node, byte for byte as it was stored."""
        async with self.system.session_at(at) as session:
            await queries.get_node(session, node_id)
            return await queries.body_of(session, node_id)

    async def get_connection_content(self, connection_id: str, at: At | None = None) -> str:
        """The content of a connection, byte for byte as it was stored."""
        async with self.system.session_at(at) as session:
            await queries.get_connection(session, connection_id)
            return await queries.body_of(session, connection_id)

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
        """Merge properties, replace the content, or change its format; other properties stay."""
        given = None if properties is None else dict(properties)
        command = UpdateNode(
            node_id=node_id, properties=given, content=content, encoding=encoding, format=format, ontology=self.ontology
        )
        await self.do(command, key)

    async def delete_node(self, node_id: str, *, key: str | None = None) -> None:
        """Delete a node together with its content and its connections."""
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
        """Connect two nodes as the ontology allows; returns the connection's id."""
        command = CreateConnection(
            type=type,
            from_node_id=from_node_id,
            to_node_id=to_node_id,
            properties=dict(properties or {}),
            content=content,
            ontology=self.ontology,
        )
        return await self._create(command, key)

    async def get_connection(self, connection_id: str, at: At | None = None) -> dict[str, Any]:
        """Metadata of a connection, without its content."""
        async with self.system.session_at(at) as session:
            edge = await queries.get_connection(session, connection_id)
            content = await queries.find_content(session, connection_id)
        return connection_to_json(edge, content)

    async def update_connection(
        self,
        connection_id: str,
        properties: Mapping[str, Any] | None = None,
        content: str | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Merge properties or replace the content of a connection."""
        given = None if properties is None else dict(properties)
        command = UpdateConnection(
            connection_id=connection_id, properties=given, content=content, ontology=self.ontology
        )
        await self.do(command, key)

    async def delete_connection(self, connection_id: str, *, key: str | None = None) -> None:
        """Delete a connection; its nodes stay."""
        await self.do(DeleteConnection(connection_id=connection_id), key)

    # ── questions ────────────────────────────────────────────────────────────

    # Each may be given `most`: then the answer says how many there are in all, and holds no more than that.

    async def query_nodes(
        self,
        type: str | None = None,
        properties: Mapping[str, Any] | None = None,
        at: At | None = None,
        *,
        max_ids: int | None = None,
    ) -> Ids:
        """Ids of the nodes of a type with all of these properties, oldest first; at most `max_ids` are returned."""
        return await read_ids(self.system, queries.nodes_with(type, properties), max_ids=max_ids, at=at)

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
        """Ids of the connections that meet all given conditions, oldest first; at most `max_ids` are returned."""
        asked = queries.connections_with(from_node_id, to_node_id, type, properties)
        return await read_ids(self.system, asked, max_ids=max_ids, at=at)

    async def search_content(
        self,
        query: str,
        node_type: str | None = None,
        limit: int | None = None,
        at: At | None = None,
        *,
        max_ids: int | None = None,
    ) -> Ids:
        """Ids of the nodes whose text contains the query, case-insensitively."""
        queries.check_limit(limit)
        return await read_ids(self.system, queries.nodes_containing(query, node_type), limit, max_ids, at)

    async def get_connected_nodes(
        self, node_id: str, direction: str, connection_type: str | None = None, at: At | None = None
    ) -> list[str]:
        """Ids of the nodes at the other ends of a node's connections, by the age of the connection."""
        async with self.system.session_at(at) as session:
            return [node.id for node in await queries.connected_nodes(session, node_id, connection_type, direction)]

    # ── ontologies ───────────────────────────────────────────────────────────

    async def validate_connection(
        self, connection_type: str, from_node_type: str, to_node_type: str, at: At | None = None
    ) -> bool:
        """Whether the ontology allows this connection; unknown types are not an error, they give False."""
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
        """Create the ontology with its first types; refused if it exists."""
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
        """Add a node type to the ontology; types are never changed or removed."""
        command = AddNodeType(type_name=type_name, ontology=self.ontology, properties=tuple(properties))
        return await self.do(command, key)

    async def add_connection_type(
        self,
        connection_type: ConnectionType,
        *,
        properties: Sequence[PropertyDefinition] = (),
        key: str | None = None,
    ) -> Outcome:
        """Add a connection type to the ontology; types are never changed or removed."""
        command = AddConnectionType(
            connection_type=connection_type, ontology=self.ontology, properties=tuple(properties)
        )
        return await self.do(command, key)

    async def add_properties(
        self, owner: Owner, type_name: str, definitions: Sequence[PropertyDefinition], *, key: str | None = None
    ) -> Outcome:
        """Add property definitions to an existing type; existing elements must stay valid."""
        command = AddProperties(
            owner=owner, type_name=type_name, definitions=tuple(definitions), ontology=self.ontology
        )
        return await self.do(command, key)

    async def set_enforcement(self, enforcement: Enforcement, *, key: str | None = None) -> Outcome:
        """Set what plain graph commands do about types that the ontology does not have."""
        return await self.do(SetEnforcement(enforcement=enforcement, ontology=self.ontology), key)

    async def get_ontology(self, at: At | None = None) -> Ontology:
        """The ontology of this memory; refused with ONTOLOGY_NOT_FOUND if there is none."""
        async with self.system.session_at(at) as session:
            return await get_ontology(session, self.ontology)

    async def ontologies(self, at: At | None = None) -> list[Ontology]:
        """All ontologies by name."""
        async with self.system.session_at(at) as session:
            return await list_ontologies(session)
