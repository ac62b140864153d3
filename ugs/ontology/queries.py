"""Questions about typed memory: what is there, what it says, and what it is connected with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ugs.catalog import Table
from ugs.graph.bodies import CONTENT_BODIES, ContentBody
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.ontology.errors import ConnectionNotFound, InvalidArgument, MemoryNodeNotFound
from ugs.ontology.model import CONTENTS, Content
from ugs.reads.plan import WHOLE, Order, Page
from ugs.reads.where import EVERYTHING, NOTHING, Compare, Linked, Op, Property, Where, all_of, any_of, eq
from ugs.storage import Session
from ugs.values import MAX_INT, MIN_INT

BY_SEQUENCE = (Order("seq"),)
BY_CREATION = (Order("created"), Order("id"))
DIRECTIONS = ("out", "in", "both")


class Asked(Struct, frozen=True):
    """Which rows a question means, and in which order."""

    table: Table
    where: Where
    order: tuple[Order, ...]
    countable: bool = True
    """Whether an index tells how many rows there are; texts would have to be looked at one by one."""

    async def rows(self, session: Session, page: Page = WHOLE) -> list[Any]:
        """The rows themselves."""
        return await session.fetch(self.table, self.where, self.order, page)


def same_properties(properties: Mapping[str, Any]) -> Where:
    """Every given property is there with exactly this value."""
    return all_of(*(Property("properties_text", key, Op.EQ, value) for key, value in properties.items()))


def can_match(properties: Mapping[str, Any] | None) -> bool:
    """Whether anything could have these properties: what cannot be stored cannot be found."""
    return all(_storable(key) and _storable(value) for key, value in (properties or {}).items())


def _storable(value: object) -> bool:
    if isinstance(value, str):
        return "\x00" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, int):
        return MIN_INT <= value <= MAX_INT
    return isinstance(value, float) and value == value and abs(value) != float("inf")


async def get_node(session: Session, id: str) -> Node:
    node: Node | None = await session.find(NODES, id) if _storable(id) else None
    if node is None:
        raise MemoryNodeNotFound(id)
    return node


async def get_connection(session: Session, id: str) -> Edge:
    edge: Edge | None = await session.find(EDGES, id) if _storable(id) else None
    if edge is None:
        raise ConnectionNotFound(id)
    return edge


async def find_content(session: Session, id: str) -> Content | None:
    """What is known about an element's content, without the content."""
    content: Content | None = await session.find(CONTENTS, id)
    return content


async def contents_of(session: Session, ids: Iterable[str]) -> dict[str, Content]:
    """The same for many elements at once."""
    wanted = sorted(set(ids))
    return {content.id: content for content in await session.find_many(CONTENTS, wanted)} if wanted else {}


async def body_of(session: Session, id: str) -> str:
    """The content itself; nothing was said where there is none (C-132)."""
    body: ContentBody | None = await session.find(CONTENT_BODIES, id)
    return "" if body is None else body.body


async def bodies_in(session: Session, where: Where = EVERYTHING) -> dict[str, dict[str, str]]:
    """All content of elements whose ids meet a condition, as a new element would be given it."""
    known: list[Content] = await session.fetch(CONTENTS, where)
    bodies = {body.id: body.body for body in await session.fetch(CONTENT_BODIES, where)} if known else {}
    return {
        one.id: {"format": one.format, "encoding": one.encoding, "body": bodies[one.id]}
        for one in known
        if one.id in bodies
    }


def nodes_with(type: str | None = None, properties: Mapping[str, Any] | None = None) -> Asked:
    """Nodes of a type with all of these properties, oldest first."""
    if not can_match(properties) or not _storable(type or ""):
        return Asked(NODES, NOTHING, BY_CREATION)
    return Asked(NODES, all_of(_is("type", type), same_properties(properties or {})), BY_CREATION)


def connections_with(
    from_node_id: str | None = None,
    to_node_id: str | None = None,
    type: str | None = None,
    properties: Mapping[str, Any] | None = None,
) -> Asked:
    """Connections that meet all that is given, oldest first."""
    named = {"source": from_node_id, "target": to_node_id, "type": type}
    if not can_match(properties) or not all(_storable(value or "") for value in named.values()):
        return Asked(EDGES, NOTHING, BY_SEQUENCE)
    where = all_of(*(_is(field, value) for field, value in named.items()), same_properties(properties or {}))
    return Asked(EDGES, where, BY_SEQUENCE)


def _is(field: str, value: str | None) -> Where:
    return EVERYTHING if value is None else eq(field, value)


async def connected_nodes(
    session: Session, id: str, connection_type: str | None = None, direction: str = "both"
) -> list[Node]:
    """Nodes at the other ends of a node's connections, each once, by the age of the connection (C-129)."""
    if direction not in DIRECTIONS:
        raise InvalidArgument(f"direction is out, in or both, not {str(direction)[:80]!r}", argument="direction")
    await get_node(session, id)
    ends = {"out": [eq("source", id)], "in": [eq("target", id)]}
    wanted = any_of(*ends.get(direction, [*ends["out"], *ends["in"]]))
    edges = await session.fetch(EDGES, all_of(wanted, _is("type", connection_type)), BY_SEQUENCE)
    others = dict.fromkeys(other for edge in edges for other in _other_ends(edge, id, direction))
    found = {node.id: node for node in await session.find_many(NODES, sorted(others))} if others else {}
    return [found[other] for other in others if other in found]


def _other_ends(edge: Edge, id: str, direction: str) -> Sequence[str]:
    ends = []
    if direction != "in" and edge.source == id:
        ends.append(edge.target)
    if direction != "out" and edge.target == id:
        ends.append(edge.source)
    return ends


def nodes_saying(query: str, node_type: str | None = None) -> Asked:
    """Nodes whose text contains the words as they stand, in capitals or not. No content is loaded."""
    if not _storable(query) or not _storable(node_type or ""):
        return Asked(NODES, NOTHING, BY_CREATION)
    says = Linked("content_body", Compare("folded", Op.CONTAINS, query.casefold()))
    return Asked(NODES, all_of(_is("type", node_type), says), BY_CREATION, countable=False)


def check_limit(limit: int | None) -> None:
    """A search for nothing at all is a mistake."""
    if limit is not None and limit < 1:
        raise InvalidArgument("limit must be at least 1", argument="limit")
