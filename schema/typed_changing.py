"""Mutations of a generated schema: create, update and delete nodes of each type, and connect them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLString,
)
from msgspec import Struct

from schema.inputs import MUTATION_ID, RETRY
from schema.typed_names import Kind, Link
from schema.typed_scalars import ENCODING, JSON, KINDS, nth
from ugs.feature import Command, Warned
from ugs.graph.content import BASE64, MARKDOWN, UTF8
from ugs.identity import Context
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.properties import PropertyDefinition
from ugs.ontology.remembering import CreateConnection, CreateNode, DeleteConnection, DeleteNode, UpdateNode
from ugs.writer import Outcome

if TYPE_CHECKING:
    from schema.typed_schema import TypedSchema

ENCODINGS = {"UTF8": UTF8, "BASE64": BASE64}
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
            GraphQLNonNull(GraphQLID), resolve=lambda done, info: done.id, description="What is gone"
        ),
        "deletedConnectionIds": GraphQLField(
            nth(GraphQLID), resolve=lambda done, info: done.connections, description="Connections that went with it"
        ),
    },
    description="What was deleted",
)


class Done(Struct, frozen=True):
    """What a mutation did."""

    id: str
    warnings: list[Warned]
    mutation_id: str | None
    connections: list[str] = []


def changes_of(schema: TypedSchema) -> dict[str, GraphQLField]:
    """All mutations of a generated schema."""
    found: dict[str, GraphQLField] = {}
    for kind in schema.naming.kinds.values():
        found |= _Nodes(schema, kind).fields()
    for link in schema.naming.links.values():
        found[f"connect{link.name}"] = _connecting(schema, link)
    found["deleteConnection"] = GraphQLField(
        GraphQLNonNull(DELETED),
        ID_ARGUMENT | KEY_ARGUMENT,
        _disconnect,
        description="Delete a connection; its nodes stay",
    )
    return found


class _Nodes:
    """The mutations of one node type."""

    def __init__(self, schema: TypedSchema, kind: Kind) -> None:
        self.schema, self.kind = schema, kind
        name, type = kind.name, schema.objects[kind.type]
        self.payload = GraphQLObjectType(
            f"{name}Payload",
            {"node": self._shown(type), **PAYLOAD},
            description=f"A {kind.type} that was made or changed",
        )

    def fields(self) -> dict[str, GraphQLField]:
        name, type = self.kind.name, self.kind.type
        answers = GraphQLNonNull(self.payload)
        gone = GraphQLNonNull(DELETED)
        return {
            f"create{name}": GraphQLField(
                answers, _input(self._creating()), self._create, description=f"Remember a new {type}"
            ),
            f"update{name}": GraphQLField(
                answers, _input(self._updating()), self._update, description=f"Change a {type}; the rest stays"
            ),
            f"delete{name}": GraphQLField(
                gone, ID_ARGUMENT | KEY_ARGUMENT, self._delete, description=f"Delete a {type} and its connections"
            ),
        }

    def _shown(self, type: GraphQLObjectType) -> GraphQLField:
        async def resolve(done: Done, info: GraphQLResolveInfo[Any]) -> Any:
            return await self.schema.found(info, self.kind, done.id)

        return GraphQLField(type, resolve=resolve, description="The node as it is now")

    def _creating(self) -> GraphQLInputObjectType:
        fields = {
            "content": GraphQLInputField(GraphQLString, default_value="", description="What it says"),
            "format": GraphQLInputField(
                GraphQLString, default_value=MARKDOWN, description="What kind of content it is"
            ),
            "encoding": GraphQLInputField(ENCODING, default_value="UTF8", description="How the content is written"),
            **_properties(self.kind.properties, creating=True),
            **COMMON,
        }
        return GraphQLInputObjectType(f"Create{self.kind.name}Input", fields, description=f"A new {self.kind.type}")

    def _updating(self) -> GraphQLInputObjectType:
        fields = {
            "id": GraphQLInputField(GraphQLNonNull(GraphQLID), description="Which one"),
            "content": GraphQLInputField(GraphQLString, description="Replaces the content"),
            "format": GraphQLInputField(GraphQLString, description="What kind of content it is"),
            "encoding": GraphQLInputField(ENCODING, default_value="UTF8", description="How the content is written"),
            **_properties(self.kind.properties, creating=False),
            **COMMON,
        }
        told = f"Changes of a {self.kind.type}; what is left out stays as it is"
        return GraphQLInputObjectType(f"Update{self.kind.name}Input", fields, description=told)

    async def _create(self, source: Any, info: GraphQLResolveInfo[Any], input: dict[str, Any]) -> Done:
        command = CreateNode(
            type=self.kind.type,
            content=input.get("content") or "",
            format=input.get("format") or MARKDOWN,
            encoding=ENCODINGS[input.get("encoding") or "UTF8"],
            properties=given_properties(self.kind.properties, input),
            ontology=self.schema.name,
        )
        return await _done(info, command, input)

    async def _update(self, source: Any, info: GraphQLResolveInfo[Any], input: dict[str, Any]) -> Done:
        command = UpdateNode(
            node_id=input["id"],
            properties=given_properties(self.kind.properties, input) or None,
            content=input.get("content"),
            encoding=ENCODINGS[input.get("encoding") or "UTF8"],
            format=input.get("format"),
            ontology=self.schema.name,
            type=self.kind.type,
        )
        return await _done(info, command, input)

    async def _delete(self, source: Any, info: GraphQLResolveInfo[Any], id: str, **more: Any) -> Done:
        return await _gone(info, DeleteNode(node_id=id, type=self.kind.type), id, more.get("idempotencyKey"))


def _connecting(schema: TypedSchema, link: Link) -> GraphQLField:
    type, name = link.type, link.name
    fields = {
        "from": GraphQLInputField(GraphQLNonNull(GraphQLID), description=f"One of: {', '.join(type.from_types[:20])}"),
        "to": GraphQLInputField(GraphQLNonNull(GraphQLID), description=f"One of: {', '.join(type.to_types[:20])}"),
        "content": GraphQLInputField(GraphQLString, description="Notes in markdown"),
        **_properties(link.properties, creating=True),
        **COMMON,
    }
    payload = GraphQLObjectType(
        f"Connect{name}Payload",
        {"id": GraphQLField(GraphQLNonNull(GraphQLID), description="The id of the connection"), **PAYLOAD},
        description="A connection that was made",
    )

    async def connect(source: Any, info: GraphQLResolveInfo[Any], input: dict[str, Any]) -> Done:
        command = CreateConnection(
            type=type.name,
            from_node_id=input["from"],
            to_node_id=input["to"],
            properties=given_properties(link.properties, input),
            content=input.get("content"),
            ontology=schema.name,
        )
        return await _done(info, command, input)

    asked = GraphQLInputObjectType(f"Connect{name}Input", fields, description=f"A new {type.name}")
    return GraphQLField(
        GraphQLNonNull(payload), _input(asked), connect, description=f"Connect two nodes with {type.name}"
    )


async def _disconnect(source: Any, info: GraphQLResolveInfo[Any], id: str, **more: Any) -> Done:
    return await _gone(info, DeleteConnection(connection_id=id), id, more.get("idempotencyKey"))


def given_properties(defined: Mapping[str, PropertyDefinition], input: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of an input: those that have fields of their own, and the others."""
    others = input.get("properties")
    if others is not None and not isinstance(others, dict):
        raise InvalidArgument("properties must be an object", argument="properties")
    own = {one.name: input[name] for name, one in defined.items() if name in input}
    return {**(others or {}), **own}


async def _executed(info: GraphQLResolveInfo[Any], command: Command, key: str | None) -> Outcome:
    outcome: Outcome = await info.context.system.execute(command, Context(info.context.principal, key))
    return outcome


async def _done(info: GraphQLResolveInfo[Any], command: Command, input: Mapping[str, Any]) -> Done:
    outcome = await _executed(info, command, input.get("idempotencyKey"))
    return Done(outcome.events[0].element or "", outcome.warnings, input.get("clientMutationId"))


async def _gone(info: GraphQLResolveInfo[Any], command: Command, id: str, key: str | None) -> Done:
    outcome = await _executed(info, command, key)
    ids = [event.element for event in outcome.events if event.type == "EdgeDeleted" and event.element]
    return Done(id, outcome.warnings, None, [one for one in ids if one != id])


def _input(type: GraphQLInputObjectType) -> dict[str, GraphQLArgument]:
    return {"input": GraphQLArgument(GraphQLNonNull(type), description="What is given")}


def _properties(defined: Mapping[str, PropertyDefinition], creating: bool) -> dict[str, GraphQLInputField]:
    """A field for each defined property; what a new element must have and gets from nowhere else must be given."""
    found = {"properties": GraphQLInputField(JSON, description=OTHERS)}
    for name, one in defined.items():
        type, told = KINDS[one.kind], one.description or f"The property {one.name}"
        needed = creating and one.required and one.default is None
        found[name] = GraphQLInputField(GraphQLNonNull(type) if needed else type, description=told)
    return found


COMMON = {
    "idempotencyKey": GraphQLInputField(GraphQLString, description=RETRY),
    "clientMutationId": GraphQLInputField(GraphQLString, description=MUTATION_ID),
}
ID_ARGUMENT = {"id": GraphQLArgument(GraphQLNonNull(GraphQLID), description="Which one")}
KEY_ARGUMENT = {"idempotencyKey": GraphQLArgument(GraphQLString, description=RETRY)}
PAYLOAD = {
    "warnings": GraphQLField(nth(WARNING), description="What to know although it was done"),
    "clientMutationId": GraphQLField(
        GraphQLString, resolve=lambda done, info: done.mutation_id, description="As it was given"
    ),
}
