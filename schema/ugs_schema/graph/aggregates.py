"""GraphQL types of aggregates over nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strawberry
from strawberry import UNSET

from ugs.reads.aggregation import Group
from ugs.reads.plan import ResultPage
from ugs_schema.compiler.aggregates import DEFAULT_GROUPS, MAX_GROUPS, ParseValue, get_aggregate
from ugs_schema.compiler.selection import Selection, get_selected_field
from ugs_schema.context import Info
from ugs_schema.graph.filters import EdgeField, NodeField
from ugs_schema.scalars import Json

FIELD, PROPERTY = "A field of the row,", "or a property"


@strawberry.input(description="What nodes are grouped by: a field or a property")
class NodeGroupKey:
    field: NodeField | None = strawberry.field(default=UNSET, description=FIELD)
    property: str | None = strawberry.field(default=UNSET, description=PROPERTY)


@strawberry.input(description="What edges are grouped by: a field or a property")
class EdgeGroupKey:
    field: EdgeField | None = strawberry.field(default=UNSET, description=FIELD)
    property: str | None = strawberry.field(default=UNSET, description=PROPERTY)


class ShownGroup:
    """A group with the page that it belongs to."""

    def __init__(self, group: Group, rows: ResultPage, path: str, parse: ParseValue) -> None:
        self.group, self.rows, self.path, self.parse = group, rows, path, parse


def pick_aggregate(shown: ShownGroup, info: Info) -> Any:
    """The value of the field being resolved."""
    raw = info._raw_info
    arguments = Selection.from_info(raw).arguments(get_selected_field(raw))
    return get_aggregate(shown.group, raw.field_name, shown.parse(arguments))


SUM = "The sum of the numbers, exactly added and then rounded; null without any, or beyond the range of Float"
AVG = "The average of the numbers; null without any"
MIN = "The smallest value: booleans before numbers before texts; null without any"
MAX = "The greatest value: booleans before numbers before texts; null without any"


@strawberry.type(description="Aggregates")
class Aggregated:
    """Common fields of all aggregates; not a type of the schema."""

    shown: strawberry.Private[ShownGroup]

    @strawberry.field(description="How many rows there are")
    def count(self) -> int:
        return self.shown.group.count


@strawberry.type(description="Aggregates of nodes")
class AggregatedNodes(Aggregated):
    """Fields of all aggregates of nodes; not a type of the schema."""

    @strawberry.field(description=SUM)
    def sum(self, info: Info, field: NodeField | None = None, property: str | None = None) -> float | None:
        return pick_aggregate(self.shown, info)  # type: ignore[no-any-return]

    @strawberry.field(description=AVG)
    def avg(self, info: Info, field: NodeField | None = None, property: str | None = None) -> float | None:
        return pick_aggregate(self.shown, info)  # type: ignore[no-any-return]

    @strawberry.field(description=MIN)
    def min(self, info: Info, field: NodeField | None = None, property: str | None = None) -> Json | None:
        return pick_aggregate(self.shown, info)  # type: ignore[no-any-return]

    @strawberry.field(description=MAX)
    def max(self, info: Info, field: NodeField | None = None, property: str | None = None) -> Json | None:
        return pick_aggregate(self.shown, info)  # type: ignore[no-any-return]


@strawberry.type(description="Aggregates of edges")
class AggregatedEdges(Aggregated):
    """Fields of all aggregates of edges; not a type of the schema."""

    @strawberry.field(description=SUM)
    def sum(self, info: Info, field: EdgeField | None = None, property: str | None = None) -> float | None:
        return pick_aggregate(self.shown, info)  # type: ignore[no-any-return]

    @strawberry.field(description=AVG)
    def avg(self, info: Info, field: EdgeField | None = None, property: str | None = None) -> float | None:
        return pick_aggregate(self.shown, info)  # type: ignore[no-any-return]

    @strawberry.field(description=MIN)
    def min(self, info: Info, field: EdgeField | None = None, property: str | None = None) -> Json | None:
        return pick_aggregate(self.shown, info)  # type: ignore[no-any-return]

    @strawberry.field(description=MAX)
    def max(self, info: Info, field: EdgeField | None = None, property: str | None = None) -> Json | None:
        return pick_aggregate(self.shown, info)  # type: ignore[no-any-return]


KEYS = "The values that its rows have in common, in the order of `by`; null for what is missing, a list or an object"
GROUPS = (
    "The rows in groups, those with the most rows first: booleans, numbers and texts make groups, anything else is one "
    f"group. {DEFAULT_GROUPS} groups unless told, at most {MAX_GROUPS}"
)


@strawberry.type(description="Nodes that have some values in common")
class GraphNodeGroup(AggregatedNodes):
    @strawberry.field(description=KEYS)
    def keys(self) -> list[Json | None]:
        return list_keys(self.shown)


@strawberry.type(description="Edges that have some values in common")
class GraphEdgeGroup(AggregatedEdges):
    @strawberry.field(description=KEYS)
    def keys(self) -> list[Json | None]:
        return list_keys(self.shown)


@strawberry.type(description="All nodes of a list in short, whatever page is shown")
class GraphNodeAggregate(AggregatedNodes):
    @strawberry.field(description=GROUPS)
    def group_by(self, info: Info, by: list[NodeGroupKey], first: int | None = DEFAULT_GROUPS) -> list[GraphNodeGroup]:
        return [GraphNodeGroup(shown=shown) for shown in list_groups(self.shown, info)]


@strawberry.type(description="All edges of a list in short, whatever page is shown")
class GraphEdgeAggregate(AggregatedEdges):
    @strawberry.field(description=GROUPS)
    def group_by(self, info: Info, by: list[EdgeGroupKey], first: int | None = DEFAULT_GROUPS) -> list[GraphEdgeGroup]:
        return [GraphEdgeGroup(shown=shown) for shown in list_groups(self.shown, info)]


def list_keys(shown: ShownGroup) -> list[Json | None]:
    return [None if key is None else Json(key) for key in shown.group.keys]


def list_groups(shown: ShownGroup, info: Info) -> Sequence[ShownGroup]:
    """The groups of the `groupBy` being resolved."""
    path = f"{shown.path}/{info.path.key}"
    return [ShownGroup(group, shown.rows, path, shown.parse) for group in shown.rows.aggregates[path]]


def show_aggregate(rows: ResultPage, info: Info, parse: ParseValue) -> ShownGroup:
    """The whole of a connection, for the `aggregate` being resolved."""
    path = str(info.path.key)
    return ShownGroup(rows.aggregates[path][0], rows, path, parse)
