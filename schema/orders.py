"""Orders as clients write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import strawberry

from ugs.errors import InvalidSyntax
from ugs.reads.plan import Order


@strawberry.enum(description="Which way to sort")
class SortDirection(Enum):
    ASC = strawberry.enum_value("ASC", description="Smallest first; nothing before something")
    DESC = strawberry.enum_value("DESC", description="Greatest first")


@strawberry.enum(description="What nodes are sorted by")
class NodeOrderField(Enum):
    ID = strawberry.enum_value("ID", description="The id, by code point")
    CREATED = strawberry.enum_value("CREATED", description="When the node was created")
    MODIFIED = strawberry.enum_value("MODIFIED", description="When the node was last changed")
    TYPE = strawberry.enum_value("TYPE", description="The type; nodes without one first")
    DEGREE = strawberry.enum_value("DEGREE", description="How many edges touch the node; a loop counts on both sides")


@strawberry.enum(description="What edges are sorted by")
class EdgeOrderField(Enum):
    ID = strawberry.enum_value("ID", description="The id, by code point")
    CREATED = strawberry.enum_value("CREATED", description="The sequence in which edges were added")
    TYPE = strawberry.enum_value("TYPE", description="The type; edges without one first")
    WEIGHT = strawberry.enum_value("WEIGHT", description="The weight")


@strawberry.input(description="One sort key for nodes")
class NodeOrder:
    field: NodeOrderField = strawberry.field(description="What to sort by")
    direction: SortDirection = strawberry.field(default=SortDirection.ASC, description="Which way")


@strawberry.input(description="One sort key for edges")
class EdgeOrder:
    field: EdgeOrderField = strawberry.field(description="What to sort by")
    direction: SortDirection = strawberry.field(default=SortDirection.ASC, description="Which way")


NODE_COLUMNS = {"ID": "id", "CREATED": "created", "MODIFIED": "modified", "TYPE": "type", "DEGREE": "degree"}
EDGE_COLUMNS = {"ID": "id", "CREATED": "seq", "TYPE": "type", "WEIGHT": "weight"}


def order_asked(given: Iterable[Mapping[str, Any]] | None, columns: Mapping[str, str]) -> tuple[Order, ...]:
    """The kernel's order for what a client asked."""
    order = tuple(
        Order(columns[_name(part["field"])], _name(part.get("direction", "ASC")) == "DESC") for part in given or ()
    )
    if len({part.field for part in order}) < len(order):
        raise InvalidSyntax("orderBy names a field twice")
    return order


def _name(value: Any) -> str:
    return str(getattr(value, "value", value))
