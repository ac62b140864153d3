"""Queries on typed memory: nodes and connections by type, property and content, and their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.text.content_bodies import CONTENT_BODIES, ContentBody
from ugs.graph.traversal import Direction, adjacent
from ugs.ontology.errors import ConnectionNotFound, InvalidArgument, MemoryNodeNotFound
from ugs.ontology.model import CONTENTS, Content
from ugs.reads.filters import EVERYTHING, NOTHING, Compare, Linked, Op, Property, Where, all_of, eq
from ugs.reads.plan import WHOLE, Order, Page
from ugs.storage import Session
from ugs.tables import Table
from ugs.values import MAX_INT, MIN_INT

BY_SEQUENCE = (Order("seq"),)
BY_CREATION = (Order("created"), Order("id"))
WALKED = {"out": Direction.OUTGOING, "in": Direction.INCOMING, "both": Direction.BOTH}


class RowQuery(Struct, frozen=True):
    """A query for rows: table, condition and order. Built without a session, so that callers can count, page or render
    it.
    """

    table: Table
    where: Where
    order: tuple[Order, ...]
    countable: bool = True
    """Whether an index gives the number of rows; a text search would have to read them all."""

    async def rows(self, session: Session, page: Page = WHOLE) -> list[Any]:
        """Execute the query."""
        return await session.fetch(self.table, self.where, self.order, page)


def same_properties(properties: Mapping[str, Any]) -> Where:
    """The condition that every given property has exactly this value."""
    return all_of(*(Property("properties_text", key, Op.EQ, value) for key, value in properties.items()))


def can_match(properties: Mapping[str, Any] | None) -> bool:
    """Whether any element could have these properties; a value that cannot be stored matches nothing."""
    return all(_storable(key) and _storable(value) for key, value in (properties or {}).items())


def _storable(value: object) -> bool:
    if isinstance(value, str):
        return "\x00" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, int):
        return MIN_INT <= value <= MAX_INT
    return isinstance(value, float) and value == value and abs(value) != float("inf")


async def get_node(session: Session, id: str) -> Node:
    """The node with this id; refused with NODE_NOT_FOUND if there is none."""
    node: Node | None = await session.find(NODES, id) if _storable(id) else None
    if node is None:
        raise MemoryNodeNotFound(id)
    return node


async def get_connection(session: Session, id: str) -> Edge:
    """The connection with this id; refused with CONNECTION_NOT_FOUND if there is none."""
    edge: Edge | None = await session.find(EDGES, id) if _storable(id) else None
    if edge is None:
        raise ConnectionNotFound(id)
    return edge


async def find_content(session: Session, id: str) -> Content | None:
    """The content metadata of an element, without the body; None if it has no content."""
    content: Content | None = await session.find(CONTENTS, id)
    return content


async def contents_of(session: Session, ids: Iterable[str]) -> dict[str, Content]:
    """Content metadata of many elements in one read, by id."""
    wanted = sorted(set(ids))
    return {content.id: content for content in await session.find_many(CONTENTS, wanted)} if wanted else {}


async def body_of(session: Session, id: str) -> str:
    """The content body; empty text if there is none (C-132)."""
    body: ContentBody | None = await session.find(CONTENT_BODIES, id)
    return "" if body is None else body.body


async def bodies_in(session: Session, where: Where = EVERYTHING) -> dict[str, dict[str, str]]:
    """All content of the elements whose ids meet a condition, in the shape that commands take."""
    known: list[Content] = await session.fetch(CONTENTS, where)
    bodies = {body.id: body.body for body in await session.fetch(CONTENT_BODIES, where)} if known else {}
    return {
        one.id: {"format": one.format, "encoding": one.encoding, "body": bodies[one.id]}
        for one in known
        if one.id in bodies
    }


def nodes_with(type: str | None = None, properties: Mapping[str, Any] | None = None) -> RowQuery:
    """Nodes of a type with all of these properties, oldest first."""
    if not can_match(properties) or not _storable(type or ""):
        return RowQuery(NODES, NOTHING, BY_CREATION)
    return RowQuery(NODES, all_of(_is("type", type), same_properties(properties or {})), BY_CREATION)


def connections_with(
    from_node_id: str | None = None,
    to_node_id: str | None = None,
    type: str | None = None,
    properties: Mapping[str, Any] | None = None,
) -> RowQuery:
    """Connections that meet all given conditions, oldest first."""
    named = {"source": from_node_id, "target": to_node_id, "type": type}
    if not can_match(properties) or not all(_storable(value or "") for value in named.values()):
        return RowQuery(EDGES, NOTHING, BY_SEQUENCE)
    where = all_of(*(_is(field, value) for field, value in named.items()), same_properties(properties or {}))
    return RowQuery(EDGES, where, BY_SEQUENCE)


def _is(field: str, value: str | None) -> Where:
    return EVERYTHING if value is None else eq(field, value)


async def connected_nodes(
    session: Session,
    id: str,
    connection_type: str | None = None,
    direction: str = "both",
    first: int | None = None,
    after: str | None = None,
) -> list[Node]:
    """Nodes at the other ends of a node's connections, each once, by the age of the connection (C-129)."""
    if direction not in WALKED:
        raise InvalidArgument(f"direction is out, in or both, not {str(direction)[:80]!r}", argument="direction")
    await get_node(session, id)
    if not _storable(connection_type or ""):
        return []
    types = None if connection_type is None else [connection_type]
    return await adjacent(session, id, WALKED[direction], types, first, after)


def nodes_containing(query: str, node_type: str | None = None) -> RowQuery:
    """Nodes whose text contains the query as a substring, case-insensitively. No content is loaded."""
    if not _storable(query) or not _storable(node_type or ""):
        return RowQuery(NODES, NOTHING, BY_CREATION)
    says = Linked("content_body", Compare("folded", Op.CONTAINS, query.casefold()))
    return RowQuery(NODES, all_of(_is("type", node_type), says), BY_CREATION, countable=False)


def check_limit(limit: int | None) -> None:
    """Refuse a limit below 1."""
    if limit is not None and limit < 1:
        raise InvalidArgument("limit must be at least 1", argument="limit")
