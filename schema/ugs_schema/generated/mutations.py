"""Mutations of a generated schema: create, update and delete nodes of each type, and connect them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLString,
)
from msgspec import Struct

from ugs.feature import Command, CommandWarning
from ugs.graph.content import BASE64, MARKDOWN, UTF8
from ugs.identity import Context
from ugs.ontology.commands.memory import CreateConnection, CreateNode, DeleteConnection, DeleteNode, UpdateNode
from ugs.ontology.commands.node_tree import CreateNodes, NewLink, NewNode, UpdateNodes, UpsertNodes
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.properties import PropertyDefinition
from ugs.writer import Outcome
from ugs_schema.generated.names import Kind, Link, Naming, Side
from ugs_schema.generated.scalars import ENCODING, JSON, KINDS, non_null_list
from ugs_schema.graph.inputs import MUTATION_ID_DESCRIPTION, RETRY_DESCRIPTION

if TYPE_CHECKING:
    from ugs_schema.generated.schema import TypedSchema

ENCODINGS = {"UTF8": UTF8, "BASE64": BASE64}
EXPECTED_VERSION = "Refuse with VERSION_CONFLICT unless it is at this version"
OTHERS = "Properties beside those that are defined: text, numbers or booleans"

WARNING = GraphQLObjectType(
    "Warning",
    {
        "code": GraphQLField(GraphQLNonNull(GraphQLString), description="W010 and so on"),
        "message": GraphQLField(GraphQLNonNull(GraphQLString), description="In words"),
        "id": GraphQLField(GraphQLID, description="What it is about"),
    },
    description="Something to know although the request was done",
)
DELETED = GraphQLObjectType(
    "DeletePayload",
    {
        "deletedId": GraphQLField(
            GraphQLNonNull(GraphQLID), resolve=lambda outcome, info: outcome.id, description="What is gone"
        ),
        "deletedConnectionIds": GraphQLField(
            non_null_list(GraphQLID),
            resolve=lambda outcome, info: outcome.connections,
            description="Connections that went with it",
        ),
    },
    description="What was deleted",
)


class MutationOutcome(Struct, frozen=True):
    """The result of a mutation."""

    id: str
    warnings: list[CommandWarning]
    mutation_id: str | None
    connections: list[str] = []


def build_mutations(schema: TypedSchema) -> dict[str, GraphQLField]:
    """All mutations of a generated schema."""
    found: dict[str, GraphQLField] = {}
    nested = _NestedInputs(schema.naming)
    for kind in schema.naming.kinds.values():
        found |= _Nodes(schema, kind, nested).fields()
    for link in schema.naming.links.values():
        found[f"connect{link.name}"] = _make_connect_field(schema, link)
    found["deleteConnection"] = GraphQLField(
        GraphQLNonNull(DELETED),
        ID_ARGUMENT | VERSION_ARGUMENT | KEY_ARGUMENT,
        _delete_connection,
        description="Delete a connection; its nodes stay",
    )
    return found


class _Nodes:
    """The mutations of one node type."""

    def __init__(self, schema: TypedSchema, kind: Kind, nested: _NestedInputs) -> None:
        self.schema, self.kind, self.nested = schema, kind, nested
        name, type = kind.name, schema.objects[kind.type]
        self.payload = GraphQLObjectType(
            f"{name}Payload",
            {"node": self._make_node_field(type), **PAYLOAD},
            description=f"A {kind.type} that was made or changed",
        )

    def fields(self) -> dict[str, GraphQLField]:
        name, type = self.kind.name, self.kind.type
        answers = GraphQLNonNull(self.payload)
        delete_payload = GraphQLNonNull(DELETED)
        return {
            f"create{name}": GraphQLField(
                answers,
                _make_input_argument(self._make_create_input()),
                self._create,
                description=f"Remember a new {type}",
            ),
            f"update{name}": GraphQLField(
                answers,
                _make_input_argument(self._make_update_input()),
                self._update,
                description=f"Change a {type}; the rest stays",
            ),
            f"upsert{name}": GraphQLField(
                answers,
                _make_input_argument(self._make_upsert_input()) | BY_ARGUMENT,
                self._upsert,
                description=f"Create a {type}, or change the one there is; the rest stays",
            ),
            f"delete{name}": GraphQLField(
                delete_payload,
                ID_ARGUMENT | VERSION_ARGUMENT | KEY_ARGUMENT,
                self._delete,
                description=f"Delete a {type} and its connections",
            ),
        }

    def _make_node_field(self, type: GraphQLObjectType) -> GraphQLField:
        async def resolve(outcome: MutationOutcome, info: GraphQLResolveInfo[Any]) -> Any:
            return await self.schema.find_node(info, self.kind, outcome.id)

        return GraphQLField(type, resolve=resolve, description="The node as it is now")

    def _make_create_input(self) -> GraphQLInputObjectType:
        return GraphQLInputObjectType(
            f"Create{self.kind.name}Input",
            lambda: {**self.nested.make_new_fields(self.kind), **COMMON},
            description=f"A new {self.kind.type}",
        )

    def _make_update_input(self) -> GraphQLInputObjectType:
        name = f"Update{self.kind.name}Input"
        description = f"Changes of a {self.kind.type}; what is left out stays as it is"
        which = GraphQLInputField(GraphQLNonNull(GraphQLID), description="Which one")
        return GraphQLInputObjectType(name, lambda: self._make_change_fields(which), description=description)

    def _make_upsert_input(self) -> GraphQLInputObjectType:
        name = self.schema.naming.take_type_name(f"Upsert{self.kind.name}Input")
        description = f"A {self.kind.type} to create, or to change where it is there; what is left out stays as it is"
        which = GraphQLInputField(GraphQLID, description="Which one; a new one gets this id")
        return GraphQLInputObjectType(name, lambda: self._make_change_fields(which), description=description)

    def _make_change_fields(self, which: GraphQLInputField) -> dict[str, GraphQLInputField]:
        return {
            "id": which,
            "expectedVersion": GraphQLInputField(GraphQLInt, description=EXPECTED_VERSION),
            "content": GraphQLInputField(GraphQLString, description="Replaces the content"),
            "format": GraphQLInputField(GraphQLString, description="What kind of content it is"),
            "encoding": GraphQLInputField(ENCODING, default_value="UTF8", description="How the content is written"),
            **_make_property_fields(self.kind.properties, creating=False),
            **self.nested.make_link_fields(self.kind),
            **COMMON,
        }

    async def _create(self, source: Any, info: GraphQLResolveInfo[Any], input: dict[str, Any]) -> MutationOutcome:
        if any(input.get(name) for name in self.kind.sides):
            node = self.nested.read_new_node(self.kind, input)
            return await _execute_change(info, CreateNodes(node=node, ontology=self.schema.name), input)
        command = CreateNode(
            type=self.kind.type,
            content=input.get("content") or "",
            format=input.get("format") or MARKDOWN,
            encoding=ENCODINGS[input.get("encoding") or "UTF8"],
            properties=collect_properties(self.kind.properties, input),
            ontology=self.schema.name,
        )
        return await _execute_change(info, command, input)

    async def _update(self, source: Any, info: GraphQLResolveInfo[Any], input: dict[str, Any]) -> MutationOutcome:
        command = UpdateNode(
            node_id=input["id"],
            properties=collect_properties(self.kind.properties, input) or None,
            content=input.get("content"),
            encoding=ENCODINGS[input.get("encoding") or "UTF8"],
            format=input.get("format"),
            ontology=self.schema.name,
            type=self.kind.type,
            expected_version=input.get("expectedVersion"),
        )
        links = self.nested.read_links(self.kind, input)
        return await _execute_change(info, UpdateNodes(change=command, links=links) if links else command, input)

    async def _upsert(
        self, source: Any, info: GraphQLResolveInfo[Any], input: dict[str, Any], by: list[str] | None = None
    ) -> MutationOutcome:
        defined = self.kind.properties
        command = UpsertNodes(
            type=self.kind.type,
            id=input.get("id"),
            by=tuple(dict.fromkeys(defined[name].name if name in defined else name for name in by or ())),
            properties=collect_properties(defined, input),
            content=input.get("content"),
            format=input.get("format"),
            encoding=ENCODINGS[input.get("encoding") or "UTF8"],
            links=self.nested.read_links(self.kind, input),
            ontology=self.schema.name,
            expected_version=input.get("expectedVersion"),
        )
        return await _execute_change(info, command, input)

    async def _delete(self, source: Any, info: GraphQLResolveInfo[Any], id: str, **arguments: Any) -> MutationOutcome:
        command = DeleteNode(node_id=id, type=self.kind.type, expected_version=arguments.get("expectedVersion"))
        return await _execute_delete(info, command, id, arguments.get("idempotencyKey"))


class _NestedInputs:
    """The inputs that create or connect nodes below a node, and their translation to links."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        self._types: dict[str, GraphQLInputObjectType] = {}

    def make_new_fields(self, kind: Kind) -> dict[str, GraphQLInputField]:
        """The fields of a new node."""
        return {
            "content": GraphQLInputField(GraphQLString, default_value="", description="What it says"),
            "format": GraphQLInputField(
                GraphQLString, default_value=MARKDOWN, description="What kind of content it is"
            ),
            "encoding": GraphQLInputField(ENCODING, default_value="UTF8", description="How the content is written"),
            **_make_property_fields(kind.properties, creating=True),
            **self.make_link_fields(kind),
        }

    def make_link_fields(self, kind: Kind) -> dict[str, GraphQLInputField]:
        """A field for each connection type: the connections to make."""
        return {
            name: GraphQLInputField(
                GraphQLList(GraphQLNonNull(self._get_link_input(side))),
                description=f"Nodes to be connected by {side.link.type.name}, there or new; all in one change",
            )
            for name, side in kind.sides.items()
            if self.naming.ends(side)
        }

    def _get_link_input(self, side: Side) -> GraphQLInputObjectType:
        base = f"{side.link.name}{'Target' if side.outgoing else 'Source'}Input"

        def fields() -> dict[str, GraphQLInputField]:
            found = {"connect": GraphQLInputField(GraphQLID, description="The id of a node there is")}
            for name, kind in self._list_ends(side).items():
                found[name] = GraphQLInputField(self._get_new_node(kind), description=f"Or a new {kind.type}")
            found["connection"] = GraphQLInputField(
                self._get_connection_values(side.link), description="What the connection itself says"
            )
            return found

        description = f"A connection {side.link.type.name} to make, to a node there is or to a new one"
        return self._get_or_make(base, fields, description)

    def _list_ends(self, side: Side) -> dict[str, Kind]:
        """The node types that may be created at the other end, by the field for them."""
        ends = self.naming.ends(side)
        if self.naming.has_one_end(side):
            return {"create": ends[0]}
        return {f"create{kind.name}": kind for kind in ends}

    def _get_new_node(self, kind: Kind) -> GraphQLInputObjectType:
        return self._get_or_make(f"New{kind.name}Input", lambda: self.make_new_fields(kind), f"A new {kind.type}")

    def _get_connection_values(self, link: Link) -> GraphQLInputObjectType:
        fields = {
            "content": GraphQLInputField(GraphQLString, description="Notes in markdown"),
            **_make_property_fields(link.properties, creating=True),
        }
        return self._get_or_make(f"New{link.name}Input", lambda: fields, f"What a new {link.type.name} says")

    def _get_or_make(
        self, base: str, fields: Callable[[], dict[str, GraphQLInputField]], description: str
    ) -> GraphQLInputObjectType:
        found = self._types.get(base)
        if found is None:
            name = self.naming.take_type_name(base)
            found = self._types[base] = GraphQLInputObjectType(name, fields, description=description)
        return found

    def read_new_node(self, kind: Kind, input: Mapping[str, Any]) -> NewNode:
        """The node that an input describes."""
        return NewNode(
            kind.type,
            input.get("content") or "",
            input.get("format") or MARKDOWN,
            ENCODINGS[input.get("encoding") or "UTF8"],
            collect_properties(kind.properties, input),
            self.read_links(kind, input),
        )

    def read_links(self, kind: Kind, input: Mapping[str, Any]) -> tuple[NewLink, ...]:
        """The connections that an input describes."""
        return tuple(
            self._read_link(side, given) for name, side in kind.sides.items() for given in input.get(name) or ()
        )

    def _read_link(self, side: Side, given: Mapping[str, Any]) -> NewLink:
        new = [(kind, given[name]) for name, kind in self._list_ends(side).items() if given.get(name) is not None]
        if len(new) + (given.get("connect") is not None) != 1:
            reason = f"{side.link.type.name} leads to one node each: connect one there is, or create one"
            raise InvalidArgument(reason, argument=side.link.type.name)
        values = given.get("connection") or {}
        return NewLink(
            side.link.type.name,
            side.outgoing,
            given.get("connect"),
            self.read_new_node(*new[0]) if new else None,
            collect_properties(side.link.properties, values),
            values.get("content"),
        )


def _make_connect_field(schema: TypedSchema, link: Link) -> GraphQLField:
    type, name = link.type, link.name
    fields = {
        "from": GraphQLInputField(GraphQLNonNull(GraphQLID), description=f"One of: {', '.join(type.from_types[:20])}"),
        "to": GraphQLInputField(GraphQLNonNull(GraphQLID), description=f"One of: {', '.join(type.to_types[:20])}"),
        "content": GraphQLInputField(GraphQLString, description="Notes in markdown"),
        **_make_property_fields(link.properties, creating=True),
        **COMMON,
    }
    payload = GraphQLObjectType(
        f"Connect{name}Payload",
        {"id": GraphQLField(GraphQLNonNull(GraphQLID), description="The id of the connection"), **PAYLOAD},
        description="A connection that was made",
    )

    async def connect(source: Any, info: GraphQLResolveInfo[Any], input: dict[str, Any]) -> MutationOutcome:
        command = CreateConnection(
            type=type.name,
            from_node_id=input["from"],
            to_node_id=input["to"],
            properties=collect_properties(link.properties, input),
            content=input.get("content"),
            ontology=schema.name,
        )
        return await _execute_change(info, command, input)

    input_type = GraphQLInputObjectType(f"Connect{name}Input", fields, description=f"A new {type.name}")
    return GraphQLField(
        GraphQLNonNull(payload),
        _make_input_argument(input_type),
        connect,
        description=f"Connect two nodes with {type.name}",
    )


async def _delete_connection(source: Any, info: GraphQLResolveInfo[Any], id: str, **arguments: Any) -> MutationOutcome:
    command = DeleteConnection(connection_id=id, expected_version=arguments.get("expectedVersion"))
    return await _execute_delete(info, command, id, arguments.get("idempotencyKey"))


def collect_properties(defined: Mapping[str, PropertyDefinition], input: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of an input: those with fields of their own, and those in `properties`."""
    others = input.get("properties")
    if others is not None and not isinstance(others, dict):
        raise InvalidArgument("properties must be an object", argument="properties")
    own = {one.name: input[name] for name, one in defined.items() if name in input}
    return {**(others or {}), **own}


async def _execute(info: GraphQLResolveInfo[Any], command: Command, key: str | None) -> Outcome:
    outcome: Outcome = await info.context.system.execute(command, Context(info.context.principal, key))
    return outcome


async def _execute_change(info: GraphQLResolveInfo[Any], command: Command, input: Mapping[str, Any]) -> MutationOutcome:
    outcome = await _execute(info, command, input.get("idempotencyKey"))
    return MutationOutcome(outcome.events[0].element or "", outcome.warnings, input.get("clientMutationId"))


async def _execute_delete(info: GraphQLResolveInfo[Any], command: Command, id: str, key: str | None) -> MutationOutcome:
    outcome = await _execute(info, command, key)
    ids = [event.element for event in outcome.events if event.type == "EdgeDeleted" and event.element]
    return MutationOutcome(id, outcome.warnings, None, [one for one in ids if one != id])


def _make_input_argument(type: GraphQLInputObjectType) -> dict[str, GraphQLArgument]:
    return {"input": GraphQLArgument(GraphQLNonNull(type), description="What is given")}


def _make_property_fields(defined: Mapping[str, PropertyDefinition], creating: bool) -> dict[str, GraphQLInputField]:
    """An input field for each defined property; on creation, required properties without a default are non-null."""
    found = {"properties": GraphQLInputField(JSON, description=OTHERS)}
    for name, one in defined.items():
        type, description = KINDS[one.kind], one.description or f"The property {one.name}"
        needed = creating and one.required and one.default is None
        found[name] = GraphQLInputField(GraphQLNonNull(type) if needed else type, description=description)
    return found


COMMON = {
    "idempotencyKey": GraphQLInputField(GraphQLString, description=RETRY_DESCRIPTION),
    "clientMutationId": GraphQLInputField(GraphQLString, description=MUTATION_ID_DESCRIPTION),
}
BY_ARGUMENT = {
    "by": GraphQLArgument(
        GraphQLList(GraphQLNonNull(GraphQLString)),
        description="Instead of an id: the properties whose values tell which one is meant, of which there may be one",
    )
}
VERSION_ARGUMENT = {"expectedVersion": GraphQLArgument(GraphQLInt, description=EXPECTED_VERSION)}
ID_ARGUMENT = {"id": GraphQLArgument(GraphQLNonNull(GraphQLID), description="Which one")}
KEY_ARGUMENT = {"idempotencyKey": GraphQLArgument(GraphQLString, description=RETRY_DESCRIPTION)}
PAYLOAD = {
    "warnings": GraphQLField(non_null_list(WARNING), description="What to know although it was done"),
    "clientMutationId": GraphQLField(
        GraphQLString, resolve=lambda outcome, info: outcome.mutation_id, description="As it was given"
    ),
}
