"""From a selection to a plan: which related rows each chosen field needs, all in one read.

A shape says, for a GraphQL type that shows rows of a table, which of its fields reach into other tables. The related
rows of a row are kept under names: the response key of the field, behind the path that leads from the row to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from schema.filters import edge_where
from schema.orders import EDGE_COLUMNS, order_asked
from schema.paging import page_asked
from schema.selection import Choice, Selection
from ugs.catalog import Table
from ugs.graph.model import EDGES, NODES
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.reads.where import EVERYTHING, Where, all_of, eq

Nests = dict[str, Nested]
Builder = Callable[[Selection, Choice, str], Nests]
"""Given a field and the path to it, the related rows it needs."""

COUNT_ONLY = Page(limit=0)
BY_SEQUENCE = (Order("seq"),)


class Shape(Struct, frozen=True):
    """A GraphQL type that shows rows of a table."""

    table: Table
    type_name: str
    related: Mapping[str, Builder]


def nests_below(selection: Selection, choice: Choice, shape: Shape, path: str = "") -> Nests:
    """What a row must bring along for the fields chosen below a field that shows it."""
    return nests_for(selection, selection.below(choice, shape.type_name), shape, path)


def nests_for(selection: Selection, fields: Mapping[str, Choice], shape: Shape, path: str = "") -> Nests:
    """What a row must bring along for these fields."""
    found: Nests = {}
    for field in fields.values():
        build = shape.related.get(field.name)
        if build is not None:
            found |= build(selection, field, path)
    return found


def connection_read(
    selection: Selection, choice: Choice, shape: Shape, where: Where = EVERYTHING, order: tuple[Order, ...] = ()
) -> Read:
    """The read behind a connection field: its page, its total when chosen, and what its rows need."""
    page = page_asked(selection.arguments(choice), shape.table, order)
    fields = selection.below(choice)
    total = any(field.name == "totalCount" for field in fields.values())
    return Read(shape.table, where, order, page, connection_nests(selection, fields, shape), total)


def connection_nests(selection: Selection, fields: Mapping[str, Choice], shape: Shape) -> Nests:
    """What the rows of a connection need, whether they are shown under `nodes` or under `edges { node }`."""
    found: Nests = {}
    for field in fields.values():
        if field.name == "nodes":
            found |= nests_below(selection, field, shape, f"{field.key}/")
        elif field.name == "edges":
            for inner in selection.below(field).values():
                if inner.name == "node":
                    found |= nests_below(selection, inner, shape, f"{field.key}/{inner.key}/")
    return found


def edges_of(relation: str) -> Builder:
    """A connection of the edges at one side of a node."""

    def build(selection: Selection, choice: Choice, path: str) -> Nests:
        where, order = edge_choice(selection.arguments(choice))
        return {path + choice.key: Nested(relation, connection_read(selection, choice, EDGE, where, order))}

    return build


def edge_choice(arguments: Mapping[str, object]) -> tuple[Where, tuple[Order, ...]]:
    """Which edges a connection field asks for, and their order (by sequence unless told)."""
    type, given, wanted = arguments.get("type"), arguments.get("filter"), arguments.get("orderBy")
    where = edge_where(given)  # type: ignore[arg-type]
    if isinstance(type, str):
        where = all_of(eq("type", type), where)
    return where, order_asked(wanted, EDGE_COLUMNS) or BY_SEQUENCE  # type: ignore[arg-type]


def end_of(relation: str) -> Builder:
    """The node at one end of an edge."""

    def build(selection: Selection, choice: Choice, path: str) -> Nests:
        return {path + choice.key: Nested(relation, Read(NODES, nest=nests_below(selection, choice, NODE)))}

    return build


def count_of_edges(selection: Selection, choice: Choice, path: str) -> Nests:
    """Both sides of a node, counted and not listed."""
    return {
        f"{path}{choice.key}/{side}": Nested(side, Read(EDGES, page=COUNT_ONLY, total=True))
        for side in ("outgoing", "incoming")
    }


def both_ends(selection: Selection, choice: Choice, path: str) -> Nests:
    """Both nodes of an edge, to see whether they exist."""
    return {f"{path}{choice.key}/{end}": Nested(end, Read(NODES)) for end in ("source_node", "target_node")}


NODE = Shape(
    NODES,
    "GraphNode",
    {"outgoing": edges_of("outgoing"), "incoming": edges_of("incoming"), "degree": count_of_edges},
)
EDGE = Shape(
    EDGES,
    "GraphEdge",
    {"fromNode": end_of("source_node"), "toNode": end_of("target_node"), "dangling": both_ends},
)
