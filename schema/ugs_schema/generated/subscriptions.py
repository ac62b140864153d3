"""Subscriptions of a generated schema: nodes of each type that are added, changed or deleted, resumable by position."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLID,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
)
from msgspec import Struct

from ugs.graph.model import Node
from ugs.reads.filters import all_of, eq
from ugs_schema.generated.filters import build_where
from ugs_schema.generated.names import Kind
from ugs_schema.generated.scalars import CHANGE_KIND, POSITION
from ugs_schema.graph.subscriptions import follow_matching

if TYPE_CHECKING:
    from ugs_schema.generated.schema import TypedSchema

CHANGE_KINDS = {"NodeAdded": "ADDED", "NodeUpdated": "CHANGED", "NodeDeleted": "DELETED"}


class NodeChange(Struct, frozen=True):
    """A change of a node."""

    id: str
    seq: int
    change: str


def build_subscription_type(schema: TypedSchema) -> GraphQLObjectType | None:
    """The subscription root type; None if the ontology has no node types yet."""
    kinds = schema.naming.kinds.values()
    if not kinds:
        return None
    fields = {f"{kind.singular}Changed": _make_field(schema, kind) for kind in kinds}
    return GraphQLObjectType("Subscription", fields, description=f"What happens under {schema.name}")


def _make_field(schema: TypedSchema, kind: Kind) -> GraphQLField:
    async def watch(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> AsyncIterator[NodeChange]:
        where = all_of(eq("type", kind.type), build_where(schema.naming, kind, arguments.get("where")))
        async for event in follow_matching(info.context.log, "Node", Node, where, arguments.get("afterSeq")):
            yield NodeChange(event.element or "", event.position, CHANGE_KINDS[event.type])

    return GraphQLField(
        GraphQLNonNull(_make_change_type(schema, kind)),
        {
            "where": GraphQLArgument(schema.wheres[kind.type], description="Which of them"),
            "afterSeq": GraphQLArgument(POSITION, description="First everything since this place in the log"),
        },
        resolve=lambda change, info, **arguments: change,
        subscribe=watch,
        description=f"Nodes of the type {kind.type} that come, change or go",
    )


def _make_change_type(schema: TypedSchema, kind: Kind) -> GraphQLObjectType:
    async def node(change: NodeChange, info: GraphQLResolveInfo[Any]) -> Any:
        return await schema.find_node(info, kind, change.id)

    return GraphQLObjectType(
        f"{kind.name}Change",
        {
            "id": GraphQLField(GraphQLNonNull(GraphQLID), description="Which one"),
            "seq": GraphQLField(GraphQLNonNull(POSITION), description="Place in the log; resume from here"),
            "change": GraphQLField(GraphQLNonNull(CHANGE_KIND), description="What happened to it"),
            "node": GraphQLField(
                schema.objects[kind.type], resolve=node, description="The node as it is now; null when it is gone"
            ),
        },
        description=f"Something happened to a node of the type {kind.type}",
    )
