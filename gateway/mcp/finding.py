"""Further tools of the profile `extended` that read the graph: pages of whole nodes, words, addresses, history."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gateway.mcp import inputs, outputs
from gateway.mcp.tool import READS, Json, MemoryTool
from ugs.api import Graph
from ugs.catalog import Row, Table
from ugs.errors import UgsError
from ugs.events import Event
from ugs.graph.feature import GRAPH
from ugs.graph.model import EDGES, NODES
from ugs.identity import is_identifier
from ugs.ontology import queries
from ugs.ontology.api import Memory, iso, shown_connection, shown_node
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.feature import ONTOLOGY
from ugs.reads.plan import Order, Page, full_order, place_of
from ugs.storage import EventQuery
from ugs.values import MAX_INT, MIN_INT

MOST = 500
Limit = Annotated[int, Meta(ge=1, le=MOST, description=f"At most so many, up to {MOST}")]
Cursor = Annotated[str, Meta(max_length=4_096, description="next_cursor of the page before")]
COUNT: Json = {"type": "integer"}
SHARED = frozenset({*GRAPH.reducers, *ONTOLOGY.reducers})
ITEMS: Json = {"type": "array", "items": {"type": "object"}}


class ListNodes(inputs.QueryNodes, frozen=True):
    limit: Limit = 50
    cursor: Cursor | None = None


class ListConnections(inputs.QueryConnections, frozen=True):
    limit: Limit = 50
    cursor: Cursor | None = None


class ReadContent(inputs.Arguments, frozen=True):
    node_id: Annotated[str, Meta(description="The id of a node or a connection")]
    offset: Annotated[int, Meta(ge=0, description="Where to begin, in characters")] = 0
    length: Annotated[int, Meta(ge=1, le=1_000_000, description="At most so many characters")] = 20_000


class Search(inputs.Arguments, frozen=True):
    query: Annotated[str, Meta(description="Words; a node must have them all, in its id, type, properties or data")]
    type: inputs.NodeType | None = None
    limit: Limit = 20
    cursor: Cursor | None = None


class Resolve(inputs.Arguments, frozen=True):
    address: Annotated[str, Meta(description="An address such as @(alice) or @(alice:3)")]


class History(inputs.Arguments, frozen=True):
    element_id: Annotated[str, Meta(description="Only events about this node or connection")] | None = None
    limit: Limit = 20
    before: Annotated[int, Meta(ge=1, description="Only events before this position")] | None = None


def to_cursor(values: tuple[Any, ...]) -> str:
    """Where a page ended, as text."""
    return msgspec.json.encode(values).decode()


def from_cursor(text: str | None, kind: type[float]) -> tuple[Any, str] | None:
    """The place a cursor stands for; what no page gave is refused."""
    if text is None:
        return None
    try:
        number, id = msgspec.json.decode(text, type=tuple[kind, str])  # type: ignore[valid-type]
        if is_identifier(id) and MIN_INT <= number <= MAX_INT:
            return number, id
    except (msgspec.DecodeError, ValueError):
        pass
    raise InvalidArgument("cursor is not one that a page gave", argument="cursor")


def page_of(rows: list[Row], limit: int, table: Table, order: tuple[Order, ...], shown: list[Json], name: str) -> Json:
    """A page as a tool answers it; one row more than asked for says that there is more."""
    answer: Json = {name: shown[:limit]}
    if len(rows) > limit:
        answer["next_cursor"] = to_cursor(place_of(rows[limit - 1], full_order(table, order)))
    return answer


async def list_nodes(memory: Memory, given: ListNodes) -> Json:
    after = from_cursor(given.cursor, int)
    async with memory.system.session() as session:
        page = Page(limit=given.limit + 1, after=after)
        rows = await queries.nodes_with(given.type, given.properties).rows(session, page)
        contents = await queries.contents_of(session, [row.id for row in rows])
    shown = [shown_node(row, contents.get(row.id)) for row in rows]
    return page_of(rows, given.limit, NODES, queries.BY_CREATION, shown, "nodes")


async def list_connections(memory: Memory, given: ListConnections) -> Json:
    after = from_cursor(given.cursor, int)
    async with memory.system.session() as session:
        page = Page(limit=given.limit + 1, after=after)
        asked = queries.connections_with(given.from_node_id, given.to_node_id, given.type, given.properties)
        rows = await asked.rows(session, page)
        contents = await queries.contents_of(session, [row.id for row in rows])
    shown = [shown_connection(row, contents.get(row.id)) for row in rows]
    return page_of(rows, given.limit, EDGES, queries.BY_SEQUENCE, shown, "connections")


async def read_content(memory: Memory, given: ReadContent) -> Json:
    async with memory.system.session() as session:
        try:
            await queries.get_node(session, given.node_id)
        except UgsError:
            await queries.get_connection(session, given.node_id)
        body = await queries.body_of(session, given.node_id)
    end = given.offset + given.length
    answer: Json = {"content": body[given.offset : end], "offset": given.offset, "total": len(body)}
    return {**answer, "next_offset": end} if end < len(body) else answer


async def search(memory: Memory, given: Search) -> Json:
    after = from_cursor(given.cursor, float)
    hits = await Graph(memory.system, memory.principal).search(
        given.query, type=given.type, limit=given.limit + 1, after=after
    )
    shown = [{"score": round(hit.score, 6), "node": hit.node.as_json()} for hit in hits[: given.limit]]
    answer: Json = {"hits": shown}
    if len(hits) > given.limit:
        last = hits[given.limit - 1]
        answer["next_cursor"] = to_cursor((last.score, last.node.id))
    return answer


async def resolve(memory: Memory, given: Resolve) -> Json:
    found = await Graph(memory.system, memory.principal).resolve(given.address)
    element = found.element
    version = {} if element is None else {"version": element.version}
    return {"address": given.address, "resolved": element is not None, **version, "value": found.value}


async def history(memory: Memory, given: History) -> Json:
    until = None if given.before is None else given.before - 1
    # Facts may be private to other tenants and agents; only administrators see the whole log.
    types = None if "admin" in memory.principal.roles else SHARED
    query = EventQuery(until=until, limit=given.limit + 1, element=given.element_id, types=types, newest=True)
    async with memory.system.session() as session:
        events = await session.events(query)
    answer: Json = {"events": [told(event) for event in events[: given.limit]]}
    if len(events) > given.limit:
        answer["next_before"] = events[given.limit - 1].position
    return answer


def told(event: Event) -> Json:
    """An event as a model reads it."""
    return {
        "position": event.position,
        "time": iso(event.timestamp),
        "type": event.type,
        "element_id": event.element,
        "data": event.payload,
    }


FINDING = (
    MemoryTool(
        "list_nodes",
        "List nodes",
        "Nodes by type and properties with all that is known about them, a page at a time.",
        ListNodes,
        outputs.record({"nodes": {"type": "array", "items": outputs.NODE}}, {"next_cursor": outputs.TEXT}),
        READS,
        list_nodes,
    ),
    MemoryTool(
        "list_connections",
        "List connections",
        "Connections by ends, type and properties with all that is known about them, a page at a time.",
        ListConnections,
        outputs.record({"connections": {"type": "array", "items": outputs.CONNECTION}}, {"next_cursor": outputs.TEXT}),
        READS,
        list_connections,
    ),
    MemoryTool(
        "read_content",
        "Read part of a content",
        "A part of the content of a node or connection, for content that is long.",
        ReadContent,
        outputs.record({"content": outputs.TEXT, "offset": COUNT, "total": COUNT}, {"next_offset": COUNT}),
        READS,
        read_content,
    ),
    MemoryTool(
        "search",
        "Search words",
        "Nodes that have all the words in id, type, properties or data, best first.",
        Search,
        outputs.record({"hits": ITEMS}, {"next_cursor": outputs.TEXT}),
        READS,
        search,
    ),
    MemoryTool(
        "resolve",
        "Follow an address",
        "The node or connection behind an address such as @(alice), also at an earlier version: @(alice:3).",
        Resolve,
        outputs.record({"address": outputs.TEXT, "resolved": outputs.FLAG, "value": {}}, {"version": COUNT}),
        READS,
        resolve,
    ),
    MemoryTool(
        "history",
        "Look back",
        "What happened, newest first: all events, or those about one node or connection.",
        History,
        outputs.record({"events": ITEMS}, {"next_before": COUNT}),
        READS,
        history,
    ),
)
