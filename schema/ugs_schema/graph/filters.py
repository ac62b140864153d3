"""Filter inputs of lists of nodes and edges; `ugs_schema.graph.list_arguments` translates them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import strawberry
from strawberry import UNSET

from ugs.identity import Scope
from ugs_schema.graph.key_enums import make_key_enum
from ugs_schema.graph.row_types import EDGE, NODE
from ugs_schema.scalars import Json, Millis


@strawberry.enum(description="How a property is compared")
class PropertyOp(Enum):
    EQ = strawberry.enum_value("EQ", description="Is exactly this value; numbers by value, 1 equals 1.0")
    NE = strawberry.enum_value("NE", description="Is anything else, or is missing")
    LT = strawberry.enum_value("LT", description="Is a smaller number, or a text that sorts before")
    LTE = strawberry.enum_value("LTE", description="LT or EQ")
    GT = strawberry.enum_value("GT", description="Is a greater number, or a text that sorts behind")
    GTE = strawberry.enum_value("GTE", description="GT or EQ")
    IN = strawberry.enum_value("IN", description="Is one of a list of values")
    CONTAINS = strawberry.enum_value("CONTAINS", description="Is a text that contains this one")
    STARTS_WITH = strawberry.enum_value("STARTS_WITH", description="Is a text that begins with this one")
    ENDS_WITH = strawberry.enum_value("ENDS_WITH", description="Is a text that ends with this one")
    EXISTS = strawberry.enum_value("EXISTS", description="Is there at all; with value false: is missing")
    IS_NULL = strawberry.enum_value("IS_NULL", description="Is missing or null; with value false: is neither")


@strawberry.input(description="A condition on one property")
class PropertyFilter:
    key: str = strawberry.field(description="The property's name")
    op: PropertyOp = strawberry.field(default=PropertyOp.EQ, description="How to compare")
    value: Json | None = strawberry.field(default=UNSET, description="What to compare with; a list for IN")


if TYPE_CHECKING:

    class NodeField(Enum): ...

    class EdgeField(Enum): ...
else:
    NodeField = make_key_enum("NodeField", "What is compared of a node", NODE.filters)
    EdgeField = make_key_enum("EdgeField", "What is compared of an edge", EDGE.filters)


@strawberry.input(description="A condition on a field of nodes")
class NodeFieldFilter:
    field: NodeField = strawberry.field(description="What to compare")
    op: PropertyOp = strawberry.field(default=PropertyOp.EQ, description="How to compare")
    value: Json | None = strawberry.field(default=UNSET, description="What to compare with; a list for IN")


@strawberry.input(description="A condition on a field of edges")
class EdgeFieldFilter:
    field: EdgeField = strawberry.field(description="What to compare")
    op: PropertyOp = strawberry.field(default=PropertyOp.EQ, description="How to compare")
    value: Json | None = strawberry.field(default=UNSET, description="What to compare with; a list for IN")


@strawberry.input(description="Which edges a node has on one side; all conditions that are given must hold")
class RelatedEdgesFilter:
    some: EdgeFilter | None = strawberry.field(default=UNSET, description="At least one edge meets this")
    none: EdgeFilter | None = strawberry.field(default=UNSET, description="No edge meets this")
    every: EdgeFilter | None = strawberry.field(default=UNSET, description="No edge fails to meet this")


@strawberry.input(description="Which nodes; all conditions that are given must hold")
class NodeFilter:
    ids: list[strawberry.ID] | None = strawberry.field(default=UNSET, description="One of these ids")
    type: str | None = strawberry.field(default=UNSET, description="Of this type; null for nodes without one")
    types: list[str] | None = strawberry.field(default=UNSET, description="Of one of these types")
    scope: Scope | None = strawberry.field(default=UNSET, description="In this scope")
    properties: list[PropertyFilter] | None = strawberry.field(default=UNSET, description="All of these hold")
    match: Json | None = strawberry.field(default=UNSET, description="An object: each of its properties is equal")
    text: str | None = strawberry.field(default=UNSET, description="Contains all of these words")
    created_after: Millis | None = strawberry.field(default=UNSET, description="Created later than this")
    created_before: Millis | None = strawberry.field(default=UNSET, description="Created earlier than this")
    modified_after: Millis | None = strawberry.field(default=UNSET, description="Changed later than this")
    has_content: bool | None = strawberry.field(default=UNSET, description="Has content, or with false: has none")
    fields: list[NodeFieldFilter] | None = strawberry.field(default=UNSET, description="All of these hold")
    outgoing: RelatedEdgesFilter | None = strawberry.field(default=UNSET, description="Of the edges that leave from it")
    incoming: RelatedEdgesFilter | None = strawberry.field(default=UNSET, description="Of the edges that arrive at it")
    and_: list[NodeFilter] | None = strawberry.field(default=UNSET, name="and", description="All of these hold")
    or_: list[NodeFilter] | None = strawberry.field(default=UNSET, name="or", description="One of these holds")
    not_: NodeFilter | None = strawberry.field(default=UNSET, name="not", description="This does not hold")


@strawberry.input(description="Which edges; all conditions that are given must hold")
class EdgeFilter:
    ids: list[strawberry.ID] | None = strawberry.field(default=UNSET, description="One of these ids")
    from_: strawberry.ID | None = strawberry.field(default=UNSET, name="from", description="Leaves from this node")
    to: strawberry.ID | None = strawberry.field(default=UNSET, description="Arrives at this node")
    touching: strawberry.ID | None = strawberry.field(default=UNSET, description="Leaves from or arrives at it")
    type: str | None = strawberry.field(default=UNSET, description="Of this type; null for edges without one")
    types: list[str] | None = strawberry.field(default=UNSET, description="Of one of these types")
    scope: Scope | None = strawberry.field(default=UNSET, description="Its own id is in this scope")
    properties: list[PropertyFilter] | None = strawberry.field(default=UNSET, description="All of these hold")
    match: Json | None = strawberry.field(default=UNSET, description="An object: each of its properties is equal")
    dangling: bool | None = strawberry.field(default=UNSET, description="One of its nodes does not exist")
    min_weight: float | None = strawberry.field(default=UNSET, description="At least this weight")
    max_weight: float | None = strawberry.field(default=UNSET, description="At most this weight")
    fields: list[EdgeFieldFilter] | None = strawberry.field(default=UNSET, description="All of these hold")
    from_node: NodeFilter | None = strawberry.field(
        default=UNSET, description="The node it leaves from exists and meets this"
    )
    to_node: NodeFilter | None = strawberry.field(
        default=UNSET, description="The node it arrives at exists and meets this"
    )
    and_: list[EdgeFilter] | None = strawberry.field(default=UNSET, name="and", description="All of these hold")
    or_: list[EdgeFilter] | None = strawberry.field(default=UNSET, name="or", description="One of these holds")
    not_: EdgeFilter | None = strawberry.field(default=UNSET, name="not", description="This does not hold")
