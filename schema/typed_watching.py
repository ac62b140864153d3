"""Subscriptions of a generated schema: nodes of each type as they come, change and go, resumable by position."""

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

from schema.typed_filters import where_of
from schema.typed_names import Kind
from schema.typed_scalars import CHANGE_KIND, POSITION
from schema.watching import matching
from ugs.graph.model import Node
from ugs.reads.where import all_of, eq

if TYPE_CHECKING:
    from schema.typed_schema import TypedSchema

WAYS = {"NodeAdded": "ADDED", "NodeUpdated": "CHANGED", "NodeDeleted": "DELETED"}


class Changed(Struct, frozen=True):
    """What happened to a node."""

    id: str
    seq: int
    change: str


def subscriptions_of(schema: TypedSchema) -> GraphQLObjectType | None:
    """The subscription root; an ontology without node types has none yet."""
    kinds = schema.naming.kinds.values()
    if not kinds:
        return None
    fields = {f"{kind.singular}Changed": _watching(schema, kind) for kind in kinds}
    return GraphQLObjectType("Subscription", fields, description=f"What happens under {schema.name}")


def _watching(schema: TypedSchema, kind: Kind) -> GraphQLField:
    async def watch(source: Any, info: GraphQLResolveInfo[Any], **given: Any) -> AsyncIterator[Changed]:
        where = all_of(eq("type", kind.type), where_of(kind, given.get("where")))
        async for event in matching(info.context.system, "Node", Node, where, given.get("afterSeq")):
            yield Changed(event.element or "", event.position, WAYS[event.type])

    return GraphQLField(
        GraphQLNonNull(_change(schema, kind)),
        {
            "where": GraphQLArgument(schema.wheres[kind.type], description="Which of them"),
            "afterSeq": GraphQLArgument(POSITION, description="First everything since this place in the log"),
        },
        resolve=lambda changed, info, **given: changed,
        subscribe=watch,
        description=f"Nodes of the type {kind.type} that come, change or go",
    )


def _change(schema: TypedSchema, kind: Kind) -> GraphQLObjectType:
    async def node(changed: Changed, info: GraphQLResolveInfo[Any]) -> Any:
        return await schema.found(info, kind, changed.id)

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
