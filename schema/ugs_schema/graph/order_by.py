"""Order inputs, and their translation to the kernel's orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import strawberry
from strawberry import UNSET

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.reads.plan import Order
from ugs.reads.sort_keys import FIRST, LAST, SortKey
from ugs.values import check_key


@strawberry.enum(description="Which way to sort")
class SortDirection(Enum):
    ASC = strawberry.enum_value("ASC", description="Smallest first; nothing before something")
    DESC = strawberry.enum_value("DESC", description="Greatest first")


@strawberry.enum(description="Where rows without a value stand; they are smallest unless told")
class NullsOrder(Enum):
    FIRST = strawberry.enum_value("FIRST", description="Before all values")
    LAST = strawberry.enum_value("LAST", description="Behind all values")


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


NODE_COLUMNS = {"ID": "id", "CREATED": "created", "MODIFIED": "modified", "TYPE": "type", "DEGREE": "degree"}
PROPERTIES_FIELD = "properties_text"
MAX_SORT_KEYS = 8
EDGE_COLUMNS = {"ID": "id", "CREATED": "seq", "TYPE": "type", "WEIGHT": "weight"}


def parse_order(parts: Iterable[Mapping[str, Any]] | None, columns: Mapping[str, str]) -> tuple[Order, ...]:
    """Translate `orderBy`."""
    order = tuple(_parse_sort_key(part, columns) for part in parts or ())
    if len(order) > MAX_SORT_KEYS:
        raise LimitExceeded(f"orderBy has at most {MAX_SORT_KEYS} keys", limit=MAX_SORT_KEYS)
    if len({part.field for part in order}) < len(order):
        raise InvalidSyntax("orderBy names a field twice")
    return order


def _parse_sort_key(part: Mapping[str, Any], columns: Mapping[str, str]) -> Order:
    field, key, nulls = part.get("field"), part.get("property"), part.get("nulls")
    descending = _to_enum_value(part.get("direction") or "ASC") == "DESC"
    if (field is None) == (key is None):
        raise InvalidSyntax("a sort key names either a field or a property")
    if key is None:
        if nulls is not None:
            raise InvalidSyntax("nulls goes with a property: fields have their own place for nothing")
        return Order(columns[_to_enum_value(field)], descending)
    first = (not descending) if nulls is None else _to_enum_value(nulls) == "FIRST"
    missing = FIRST if first is not descending else LAST
    return Order(SortKey(PROPERTIES_FIELD, check_key(key), missing).name, descending)


def _to_enum_value(value: Any) -> str:
    return str(getattr(value, "value", value))
