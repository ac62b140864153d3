"""Order inputs of lists of nodes and edges; `ugs_schema.graph.list_arguments` translates them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import strawberry
from strawberry import UNSET

from ugs_schema.graph.key_enums import make_key_enum
from ugs_schema.graph.row_types import EDGE, NODE


@strawberry.enum(description="Which way to sort")
class SortDirection(Enum):
    ASC = strawberry.enum_value("ASC", description="Smallest first; nothing before something")
    DESC = strawberry.enum_value("DESC", description="Greatest first")


@strawberry.enum(description="Where rows without a value stand; they are smallest unless told")
class NullsOrder(Enum):
    FIRST = strawberry.enum_value("FIRST", description="Before all values")
    LAST = strawberry.enum_value("LAST", description="Behind all values")


if TYPE_CHECKING:

    class NodeOrderField(Enum): ...

    class EdgeOrderField(Enum): ...
else:
    NodeOrderField = make_key_enum("NodeOrderField", "What nodes are sorted by", NODE.orders)
    EdgeOrderField = make_key_enum("EdgeOrderField", "What edges are sorted by", EDGE.orders)


BY_PROPERTY = (
    "or the property to sort by: booleans, then numbers, then texts by code point, of which the first 99 characters "
    "count; nothing, null, lists and objects have no value"
)
NULLS = "Where rows without a value stand; goes with `property`"


@strawberry.input(description="One sort key for nodes: a field or a property")
class NodeOrder:
    field: NodeOrderField | None = strawberry.field(default=UNSET, description="What to sort by,")
    property: str | None = strawberry.field(default=UNSET, description=BY_PROPERTY)
    direction: SortDirection = strawberry.field(default=SortDirection.ASC, description="Which way")
    nulls: NullsOrder | None = strawberry.field(default=UNSET, description=NULLS)


@strawberry.input(description="One sort key for edges: a field or a property")
class EdgeOrder:
    field: EdgeOrderField | None = strawberry.field(default=UNSET, description="What to sort by,")
    property: str | None = strawberry.field(default=UNSET, description=BY_PROPERTY)
    direction: SortDirection = strawberry.field(default=SortDirection.ASC, description="Which way")
    nulls: NullsOrder | None = strawberry.field(default=UNSET, description=NULLS)
