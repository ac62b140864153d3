"""Root fields of ontologies and typed memory."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry

from ugs.errors import LimitExceeded, UgsError
from ugs.feature import Command, CommandWarning
from ugs.log.at import At as KernelAt
from ugs.ontology import model, queries
from ugs.ontology.api import Memory
from ugs.ontology.commands.memory import CreateConnection, CreateNode
from ugs.ontology.commands.ontologies import (
    AddConnectionType,
    AddNodeType,
    AddProperties,
    CreateOntology,
    SetEnforcement,
)
from ugs.ontology.definition import find_ontologies, find_ontology, get_ontology, list_ontologies
from ugs.ontology.errors import DEFAULT, InvalidArgument
from ugs.ontology.json_schema import from_json_schema
from ugs.ontology.yaml_format import Document, from_yaml
from ugs.reads.plan import Page, ResultRow
from ugs_schema.compiler.command_mutations import EdgePayload, MutationResult, NodePayload
from ugs_schema.context import Info
from ugs_schema.graph.command_warnings import Warning, to_graphql_warnings
from ugs_schema.graph.content import Encoding
from ugs_schema.graph.inputs import MUTATION_ID_DESCRIPTION, RETRY_DESCRIPTION
from ugs_schema.graph.mutations import Key
from ugs_schema.graph.queries import IDENTIFIED_LOOKUPS
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.graph.types import Direction, GraphNode, Identified, to_graphql_node
from ugs_schema.list_page import PAGING_DESCRIPTION, check_page, count_rows_to_read, cut_page
from ugs_schema.ontologies.types import (
    ConnectionCheck,
    ConnectionTypeInput,
    Enforcement,
    Ontology,
    PropertyDefinitionInput,
    TypePropertiesInput,
    to_graphql_ontology,
    to_kernel_definitions,
    to_kernel_properties,
    to_kernel_type,
)
from ugs_schema.scalars import Json

MAX_FOUND = 500
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
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="Something to remember")
class MemoryNodeInput:
    type: str = strawberry.field(description="A node type of the ontology")
    content: str = strawberry.field(description="What it says")
    format: str = strawberry.field(description="What kind of content it is, such as markdown")
    encoding: Encoding = strawberry.field(default=Encoding.UTF8, description="How the content is written")
    properties: Json | None = strawberry.field(default=None, description="Keys with text, numbers or booleans")
    ontology: str = strawberry.field(default=DEFAULT, description="The ontology that must allow it")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="A connection between two nodes that exist")
class ConnectionInput:
    type: str = strawberry.field(description="A connection type of the ontology")
    from_node_id: strawberry.ID = strawberry.field(description="Where it starts")
    to_node_id: strawberry.ID = strawberry.field(description="Where it ends")
    properties: Json | None = strawberry.field(default=None, description="Keys with text, numbers or booleans")
    content: str | None = strawberry.field(default=None, description="Notes in markdown")
    ontology: str = strawberry.field(default=DEFAULT, description="The ontology that must allow it")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.type
class OntologyQuery:
    @strawberry.field(description="The ontology with this name; null without one")
    async def ontology(self, info: Info, name: str = DEFAULT, at: At | None = None) -> Ontology | None:
        async with info.context.system.session_at(parse_at(at)) as session:
            found = await find_ontology(session, name)
        return None if found is None else to_graphql_ontology(found)

    @strawberry.field(
        description="All ontologies, by name; more than 200 with `first` and `after` (the name of the last one)"
    )
    async def ontologies(
        self, info: Info, at: At | None = None, first: int | None = None, after: str | None = None
    ) -> list[Ontology]:
        async with info.context.system.session_at(parse_at(at)) as session:
            found = cut_page(await list_ontologies(session), first, after, lambda one: one.name)
        return [to_graphql_ontology(one) for one in found]

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
        async with info.context.system.session_at(parse_at(at)) as session:
            found = await get_ontology(session, ontology)
        try:
            found.check_node_type(from_node_type)
            found.check_node_type(to_node_type)
            found.connection_type(connection_type).check_ends(from_node_type, to_node_type)
        except UgsError as error:
            return ConnectionCheck(valid=False, code=error.code, message=error.message)
        return ConnectionCheck(valid=True, code=None, message=None)

    @strawberry.field(
        description="Nodes that a node is connected with, each once, by the age of the connection" + PAGING_DESCRIPTION
    )
    async def connected_nodes(
        self,
        info: Info,
        node_id: strawberry.ID,
        connection_type: str | None = None,
        direction: Direction = Direction.BOTH,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[GraphNode]:
        most, way = count_rows_to_read(first), WAYS[direction]
        async with info.context.system.session_at(parse_at(at)) as session:
            rows = await queries.connected_nodes(session, node_id, connection_type, way, most, after)
        return [to_graphql_node(ResultRow(row, {}), at=parse_at(at)) for row in check_page(rows, first)]

    @strawberry.field(description="Nodes whose text content contains the query; capitals do not matter")
    async def search_content(
        self, info: Info, query: str, node_type: str | None = None, limit: int = 50, at: At | None = None
    ) -> list[GraphNode]:
        if limit > MAX_FOUND:
            raise LimitExceeded(f"limit is at most {MAX_FOUND}", limit=MAX_FOUND)
        queries.check_limit(limit)
        async with info.context.system.session_at(parse_at(at)) as session:
            rows = await queries.nodes_containing(query, node_type).rows(session, Page(limit=limit))
        return [to_graphql_node(ResultRow(row, {}), at=parse_at(at)) for row in rows]


@strawberry.type
class OntologyMutation:
    @strawberry.mutation(description="Make an ontology; ONTOLOGY_ALREADY_EXISTS when its name is taken")
    async def create_ontology(self, info: Info, input: CreateOntologyInput) -> OntologyPayload:
        document = parse_document(input)
        command = CreateOntology(
            name=input.name,
            node_types=tuple(document.node_types),
            connection_types=tuple(document.connection_types),
            properties=tuple(document.properties),
            enforcement=model.Enforcement(str(input.enforcement.value)),
        )
        return await execute_on_ontology(info, command, input.name, input.idempotency_key, input.client_mutation_id)

    @strawberry.mutation(description="Add a node type to an ontology")
    async def add_node_type(
        self,
        info: Info,
        type_name: str,
        ontology: str = DEFAULT,
        properties: list[PropertyDefinitionInput] | None = None,
        idempotency_key: Key = None,
    ) -> OntologyPayload:
        definitions = to_kernel_definitions(properties)
        command = AddNodeType(type_name=type_name, ontology=ontology, properties=definitions)
        return await execute_on_ontology(info, command, ontology, idempotency_key)

    @strawberry.mutation(description="Add a connection type to an ontology")
    async def add_connection_type(
        self,
        info: Info,
        type: ConnectionTypeInput,
        ontology: str = DEFAULT,
        properties: list[PropertyDefinitionInput] | None = None,
        idempotency_key: Key = None,
    ) -> OntologyPayload:
        definitions = to_kernel_definitions(properties)
        command = AddConnectionType(connection_type=to_kernel_type(type), ontology=ontology, properties=definitions)
        return await execute_on_ontology(info, command, ontology, idempotency_key)

    @strawberry.mutation(description="Say more about the properties of a type; what is said is never changed")
    async def add_property_definitions(
        self, info: Info, input: TypePropertiesInput, ontology: str = DEFAULT, idempotency_key: Key = None
    ) -> OntologyPayload:
        told = to_kernel_properties(input)
        command = AddProperties(owner=told.owner, type_name=told.type, definitions=told.definitions, ontology=ontology)
        return await execute_on_ontology(info, command, ontology, idempotency_key)

    @strawberry.mutation(description="Decide whether the plain graph obeys an ontology")
    async def set_ontology_enforcement(
        self, info: Info, enforcement: Enforcement, ontology: str = DEFAULT, idempotency_key: Key = None
    ) -> OntologyPayload:
        command = SetEnforcement(enforcement=model.Enforcement(str(enforcement.value)), ontology=ontology)
        return await execute_on_ontology(info, command, ontology, idempotency_key)

    @strawberry.mutation(description="Remember something of a type that the ontology knows")
    async def create_memory_node(self, info: Info, input: MemoryNodeInput) -> NodePayload:
        command = CreateNode(
            type=input.type,
            content=input.content,
            format=input.format,
            encoding=str(input.encoding.value),
            properties=check_properties(input.properties),
            ontology=input.ontology,
        )
        done = await info.context.graph.do(command, input.idempotency_key)
        return NodePayload(result=MutationResult(done.node, done, input.client_mutation_id))

    @strawberry.mutation(description="Connect two nodes as the ontology allows")
    async def create_connection(self, info: Info, input: ConnectionInput) -> EdgePayload:
        command = CreateConnection(
            type=input.type,
            from_node_id=input.from_node_id,
            to_node_id=input.to_node_id,
            properties=check_properties(input.properties),
            content=input.content,
            ontology=input.ontology,
        )
        done = await info.context.graph.do(command, input.idempotency_key)
        return EdgePayload(result=MutationResult(done.edge, done, input.client_mutation_id))


def parse_document(input: CreateOntologyInput) -> Document:
    """The types of an input, given in one of three formats."""
    single = bool(input.node_types or input.connection_types or input.properties)
    if single + (input.yaml is not None) + (input.json_schema is not None) > 1:
        raise InvalidArgument("give the types, yaml or jsonSchema, only one of them", argument="yaml")
    if input.yaml is not None:
        return from_yaml(input.yaml)
    if input.json_schema is not None:
        return from_json_schema(input.json_schema)
    types = [to_kernel_type(type) for type in input.connection_types]
    return Document(input.node_types, types, [to_kernel_properties(one) for one in input.properties])


def check_properties(properties: Json | None) -> dict[str, object]:
    if properties is None:
        return {}
    if not isinstance(properties, dict):
        raise InvalidArgument("properties must be an object", argument="properties")
    return properties


async def execute_on_ontology(
    info: Info, command: Command, name: str, key: str | None, mutation_id: str | None = None
) -> OntologyPayload:
    """Execute a command on an ontology, and make the payload."""
    memory = Memory(info.context.system, info.context.principal, name)
    warnings: list[CommandWarning] = (await memory.do(command, key)).warnings
    return OntologyPayload(
        ontology=to_graphql_ontology(await memory.get_ontology()),
        warnings=to_graphql_warnings(warnings),
        client_mutation_id=mutation_id,
    )


async def find_ontologies_by_name(info: Info, names: Sequence[str], at: KernelAt | None) -> dict[str, Identified]:
    async with info.context.system.session_at(at) as session:
        found = await find_ontologies(session, names)
    return {name: to_graphql_ontology(ontology) for name, ontology in found.items()}


IDENTIFIED_LOOKUPS["ontology"] = find_ontologies_by_name
