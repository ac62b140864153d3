"""Ontologies and typed memory: what may be remembered, remembering it, and finding it again."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry

from schema.changing import Key
from schema.contents import Encoding
from schema.context import Info
from schema.direct import EdgePayload, Left, NodePayload
from schema.elements import Direction, GraphNode, Identified, shown_node
from schema.inputs import MUTATION_ID, RETRY
from schema.moments import At, moment_of
from schema.ontology_types import (
    ConnectionCheck,
    ConnectionTypeInput,
    Enforcement,
    Ontology,
    PropertyDefinitionInput,
    TypePropertiesInput,
    kernel_definitions,
    kernel_properties,
    kernel_type,
    shown_ontology,
)
from schema.reading import IDENTIFIED
from schema.scalars import Json
from schema.warnings import Warning, shown_warnings
from ugs.errors import LimitExceeded, UgsError
from ugs.feature import Command, Warned
from ugs.ontology import model, queries
from ugs.ontology.api import Memory
from ugs.ontology.defining import AddConnectionType, AddNodeType, AddProperties, CreateOntology, SetEnforcement
from ugs.ontology.definition import find_ontologies, find_ontology, get_ontology, list_ontologies
from ugs.ontology.errors import DEFAULT, InvalidArgument
from ugs.ontology.json_schema import from_json_schema
from ugs.ontology.remembering import CreateConnection, CreateNode
from ugs.ontology.yaml_text import Document, from_yaml
from ugs.reads.plan import Found, Page

MOST_FOUND = 500
WAYS = {Direction.OUTGOING: "out", Direction.INCOMING: "in", Direction.BOTH: "both"}


@strawberry.type(description="An ontology that was made or has grown")
class OntologyPayload:
    ontology: Ontology = strawberry.field(description="The ontology as it is now")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.input(description="A new ontology: types one by one, or all of them as YAML or JSON Schema")
class CreateOntologyInput:
    name: str = strawberry.field(default=DEFAULT, description="How it is called")
    node_types: list[str] = strawberry.field(default_factory=list, description="Its node types")
    connection_types: list[ConnectionTypeInput] = strawberry.field(
        default_factory=list, description="Its connection types"
    )
    properties: list[TypePropertiesInput] = strawberry.field(
        default_factory=list, description="What it says about the properties of its types"
    )
    yaml: str | None = strawberry.field(default=None, description="All its types in YAML, instead")
    json_schema: Json | None = strawberry.field(default=None, description="All its types as JSON Schema, instead")
    enforcement: Enforcement = strawberry.field(default=Enforcement.OFF, description="Whether the plain graph obeys")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.input(description="Something to remember")
class MemoryNodeInput:
    type: str = strawberry.field(description="A node type of the ontology")
    content: str = strawberry.field(description="What it says")
    format: str = strawberry.field(description="What kind of content it is, such as markdown")
    encoding: Encoding = strawberry.field(default=Encoding.UTF8, description="How the content is written")
    properties: Json | None = strawberry.field(default=None, description="Keys with text, numbers or booleans")
    ontology: str = strawberry.field(default=DEFAULT, description="The ontology that must allow it")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.input(description="A connection between two nodes that exist")
class ConnectionInput:
    type: str = strawberry.field(description="A connection type of the ontology")
    from_node_id: strawberry.ID = strawberry.field(description="Where it starts")
    to_node_id: strawberry.ID = strawberry.field(description="Where it ends")
    properties: Json | None = strawberry.field(default=None, description="Keys with text, numbers or booleans")
    content: str | None = strawberry.field(default=None, description="Notes in markdown")
    ontology: str = strawberry.field(default=DEFAULT, description="The ontology that must allow it")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.type
class OntologyQuery:
    @strawberry.field(description="The ontology with this name; null without one")
    async def ontology(self, info: Info, name: str = DEFAULT, at: At | None = None) -> Ontology | None:
        async with info.context.system.session_at(moment_of(at)) as session:
            found = await find_ontology(session, name)
        return None if found is None else shown_ontology(found)

    @strawberry.field(description="All ontologies, by name")
    async def ontologies(self, info: Info, at: At | None = None) -> list[Ontology]:
        async with info.context.system.session_at(moment_of(at)) as session:
            return [shown_ontology(found) for found in await list_ontologies(session)]

    @strawberry.field(description="Whether a connection type may lead from the one node type to the other, and why not")
    async def validate_connection(
        self,
        info: Info,
        connection_type: str,
        from_node_type: str,
        to_node_type: str,
        ontology: str = DEFAULT,
        at: At | None = None,
    ) -> ConnectionCheck:
        async with info.context.system.session_at(moment_of(at)) as session:
            found = await get_ontology(session, ontology)
        try:
            found.check_node_type(from_node_type)
            found.check_node_type(to_node_type)
            found.connection_type(connection_type).check_ends(from_node_type, to_node_type)
        except UgsError as error:
            return ConnectionCheck(valid=False, code=error.code, message=error.message)
        return ConnectionCheck(valid=True, code=None, message=None)

    @strawberry.field(description="Nodes that a node is connected with, each once, by the age of the connection")
    async def connected_nodes(
        self,
        info: Info,
        node_id: strawberry.ID,
        connection_type: str | None = None,
        direction: Direction = Direction.BOTH,
        at: At | None = None,
    ) -> list[GraphNode]:
        async with info.context.system.session_at(moment_of(at)) as session:
            rows = await queries.connected_nodes(session, node_id, connection_type, WAYS[direction])
        return [shown_node(Found(row, {}), at=moment_of(at)) for row in rows]

    @strawberry.field(description="Nodes whose text content contains the query; capitals do not matter")
    async def search_content(
        self, info: Info, query: str, node_type: str | None = None, limit: int = 50, at: At | None = None
    ) -> list[GraphNode]:
        if limit > MOST_FOUND:
            raise LimitExceeded(f"limit is at most {MOST_FOUND}", limit=MOST_FOUND)
        queries.check_limit(limit)
        async with info.context.system.session_at(moment_of(at)) as session:
            rows = await queries.nodes_saying(query, node_type).rows(session, Page(limit=limit))
        return [shown_node(Found(row, {}), at=moment_of(at)) for row in rows]


@strawberry.type
class OntologyMutation:
    @strawberry.mutation(description="Make an ontology; ONTOLOGY_ALREADY_EXISTS when its name is taken")
    async def create_ontology(self, info: Info, input: CreateOntologyInput) -> OntologyPayload:
        document = defined(input)
        command = CreateOntology(
            name=input.name,
            node_types=tuple(document.node_types),
            connection_types=tuple(document.connection_types),
            properties=tuple(document.properties),
            enforcement=model.Enforcement(str(input.enforcement.value)),
        )
        return await grown(info, command, input.name, input.idempotency_key, input.client_mutation_id)

    @strawberry.mutation(description="Add a node type to an ontology")
    async def add_node_type(
        self,
        info: Info,
        type_name: str,
        ontology: str = DEFAULT,
        properties: list[PropertyDefinitionInput] | None = None,
        idempotency_key: Key = None,
    ) -> OntologyPayload:
        definitions = kernel_definitions(properties)
        command = AddNodeType(type_name=type_name, ontology=ontology, properties=definitions)
        return await grown(info, command, ontology, idempotency_key)

    @strawberry.mutation(description="Add a connection type to an ontology")
    async def add_connection_type(
        self,
        info: Info,
        type: ConnectionTypeInput,
        ontology: str = DEFAULT,
        properties: list[PropertyDefinitionInput] | None = None,
        idempotency_key: Key = None,
    ) -> OntologyPayload:
        definitions = kernel_definitions(properties)
        command = AddConnectionType(connection_type=kernel_type(type), ontology=ontology, properties=definitions)
        return await grown(info, command, ontology, idempotency_key)

    @strawberry.mutation(description="Say more about the properties of a type; what is said is never changed")
    async def add_property_definitions(
        self, info: Info, input: TypePropertiesInput, ontology: str = DEFAULT, idempotency_key: Key = None
    ) -> OntologyPayload:
        told = kernel_properties(input)
        command = AddProperties(owner=told.owner, type_name=told.type, definitions=told.definitions, ontology=ontology)
        return await grown(info, command, ontology, idempotency_key)

    @strawberry.mutation(description="Decide whether the plain graph obeys an ontology")
    async def set_ontology_enforcement(
        self, info: Info, enforcement: Enforcement, ontology: str = DEFAULT, idempotency_key: Key = None
    ) -> OntologyPayload:
        command = SetEnforcement(enforcement=model.Enforcement(str(enforcement.value)), ontology=ontology)
        return await grown(info, command, ontology, idempotency_key)

    @strawberry.mutation(description="Remember something of a type that the ontology knows")
    async def create_memory_node(self, info: Info, input: MemoryNodeInput) -> NodePayload:
        command = CreateNode(
            type=input.type,
            content=input.content,
            format=input.format,
            encoding=str(input.encoding.value),
            properties=plain(input.properties),
            ontology=input.ontology,
        )
        done = await info.context.graph.do(command, input.idempotency_key)
        return NodePayload(left=Left(done.node, done, input.client_mutation_id))

    @strawberry.mutation(description="Connect two nodes as the ontology allows")
    async def create_connection(self, info: Info, input: ConnectionInput) -> EdgePayload:
        command = CreateConnection(
            type=input.type,
            from_node_id=input.from_node_id,
            to_node_id=input.to_node_id,
            properties=plain(input.properties),
            content=input.content,
            ontology=input.ontology,
        )
        done = await info.context.graph.do(command, input.idempotency_key)
        return EdgePayload(left=Left(done.edge, done, input.client_mutation_id))


def defined(input: CreateOntologyInput) -> Document:
    """The types that an input gives, in one of the three ways."""
    single = bool(input.node_types or input.connection_types or input.properties)
    if single + (input.yaml is not None) + (input.json_schema is not None) > 1:
        raise InvalidArgument("give the types, yaml or jsonSchema, only one of them", argument="yaml")
    if input.yaml is not None:
        return from_yaml(input.yaml)
    if input.json_schema is not None:
        return from_json_schema(input.json_schema)
    types = [kernel_type(type) for type in input.connection_types]
    return Document(input.node_types, types, [kernel_properties(one) for one in input.properties])


def plain(properties: Json | None) -> dict[str, object]:
    if properties is None:
        return {}
    if not isinstance(properties, dict):
        raise InvalidArgument("properties must be an object", argument="properties")
    return properties


async def grown(
    info: Info, command: Command, name: str, key: str | None, mutation_id: str | None = None
) -> OntologyPayload:
    """Do what was asked about an ontology, and show what became of it."""
    memory = Memory(info.context.system, info.context.principal, name)
    warnings: list[Warned] = (await memory.do(command, key)).warnings
    return OntologyPayload(
        ontology=shown_ontology(await memory.get_ontology()),
        warnings=shown_warnings(warnings),
        client_mutation_id=mutation_id,
    )


async def ontologies_by_name(info: Info, names: Sequence[str]) -> dict[str, Identified]:
    async with info.context.system.session() as session:
        found = await find_ontologies(session, names)
    return {name: shown_ontology(ontology) for name, ontology in found.items()}


IDENTIFIED["ontology"] = ontologies_by_name
