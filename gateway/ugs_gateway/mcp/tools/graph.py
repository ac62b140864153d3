"""Tools of the profile `extended` that read the graph: pages of nodes, search, addresses, history."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ugs.clock import iso
from ugs.errors import UgsError
from ugs.events import Event
from ugs.graph.api import Graph
from ugs.graph.changes import ChangeFilter, State
from ugs.graph.model import EDGES, NODES
from ugs.identity import is_identifier
from ugs.log.at import At
from ugs.log.log_reader import HIDDEN, LogReader
from ugs.ontology import queries
from ugs.ontology.api import Memory, connection_to_json, node_to_json
from ugs.ontology.errors import InvalidArgument
from ugs.reads.plan import Order, Page, full_order, place_of
from ugs.storage import EventQuery
from ugs.tables import Row, Table
from ugs.values import MAX_INT, MIN_INT
from ugs_gateway.mcp import inputs, outputs
from ugs_gateway.mcp.tools.base import READS, Json, MemoryTool

MAX_LISTED = 500
Limit = Annotated[int, Meta(ge=1, le=MAX_LISTED, description=f"At most so many, up to {MAX_LISTED}")]
Cursor = Annotated[str, Meta(max_length=4_096, description="next_cursor of the page before")]
COUNT: Json = {"type": "integer"}
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


class Changes(inputs.Arguments, frozen=True):
    after: Annotated[int, Meta(ge=0, description="The earlier position of the log: `position` of an event, 0: empty")]
    until: Annotated[int, Meta(ge=0, description="The later position; now when left out")] | None = None
    element_id: Annotated[str, Meta(description="Only this node or connection")] | None = None
    limit: Limit = 20
    cursor: Annotated[str, Meta(max_length=4_096, description="next_cursor of the page before")] | None = None


def to_cursor(values: tuple[Any, ...]) -> str:
    """The end of a page as an opaque text."""
    return msgspec.json.encode(values).decode()


def from_cursor(text: str | None, kind: type[float]) -> tuple[Any, str] | None:
    """The position of a cursor; refused if no page has issued it."""
    if text is None:
        return None
    try:
        number, id = msgspec.json.decode(text, type=tuple[kind, str])  # type: ignore[valid-type]
        if is_identifier(id) and MIN_INT <= number <= MAX_INT:
            return number, id
    except (msgspec.DecodeError, ValueError):
        pass
    raise InvalidArgument("cursor is not one that a page gave", argument="cursor")


def page_of(
    rows: list[Row], limit: int, table: Table, order: tuple[Order, ...], to_json: list[Json], name: str
) -> Json:
    """A page as a result; one row more than the limit was read to know whether there is more."""
    answer: Json = {name: to_json[:limit]}
    if len(rows) > limit:
        answer["next_cursor"] = to_cursor(place_of(rows[limit - 1], full_order(table, order)))
    return answer


async def list_nodes(memory: Memory, arguments: ListNodes) -> Json:
    after = from_cursor(arguments.cursor, int)
    async with memory.system.session() as session:
        page = Page(limit=arguments.limit + 1, after=after)
        rows = await queries.nodes_with(arguments.type, arguments.properties).rows(session, page)
        contents = await queries.contents_of(session, [row.id for row in rows])
    shown = [node_to_json(row, contents.get(row.id)) for row in rows]
    return page_of(rows, arguments.limit, NODES, queries.BY_CREATION, shown, "nodes")


async def list_connections(memory: Memory, arguments: ListConnections) -> Json:
    after = from_cursor(arguments.cursor, int)
    async with memory.system.session() as session:
        page = Page(limit=arguments.limit + 1, after=after)
        asked = queries.connections_with(
            arguments.from_node_id, arguments.to_node_id, arguments.type, arguments.properties
        )
        rows = await asked.rows(session, page)
        contents = await queries.contents_of(session, [row.id for row in rows])
    shown = [connection_to_json(row, contents.get(row.id)) for row in rows]
    return page_of(rows, arguments.limit, EDGES, queries.BY_SEQUENCE, shown, "connections")


async def read_content(memory: Memory, arguments: ReadContent) -> Json:
    async with memory.system.session() as session:
        try:
            await queries.get_node(session, arguments.node_id)
        except UgsError:
            await queries.get_connection(session, arguments.node_id)
        body = await queries.body_of(session, arguments.node_id)
    end = arguments.offset + arguments.length
    answer: Json = {"content": body[arguments.offset : end], "offset": arguments.offset, "total": len(body)}
    return {**answer, "next_offset": end} if end < len(body) else answer


async def search(memory: Memory, arguments: Search) -> Json:
    after = from_cursor(arguments.cursor, float)
    hits = await Graph(memory.system, memory.principal).search(
        arguments.query, type=arguments.type, limit=arguments.limit + 1, after=after
    )
    shown = [{"score": round(hit.score, 6), "node": hit.node.as_json()} for hit in hits[: arguments.limit]]
    answer: Json = {"hits": shown}
    if len(hits) > arguments.limit:
        last = hits[arguments.limit - 1]
        answer["next_cursor"] = to_cursor((last.score, last.node.id))
    return answer


async def resolve(memory: Memory, arguments: Resolve) -> Json:
    found = await Graph(memory.system, memory.principal).resolve(arguments.address)
    element = found.element
    version = {} if element is None else {"version": element.version}
    return {"address": arguments.address, "resolved": element is not None, **version, "value": found.value}


async def history(memory: Memory, arguments: History) -> Json:
    until = None if arguments.before is None else arguments.before - 1
    query = EventQuery(until=until, limit=arguments.limit, element=arguments.element_id, newest=True)
    page = await LogReader(memory.system, memory.principal).page(query)
    answer: Json = {"events": [event_to_json(event) for event in page.events]}
    return {**answer, "next_before": page.reached} if page.has_more else answer


async def changes(memory: Memory, arguments: Changes) -> Json:
    wanted = ChangeFilter() if arguments.element_id is None else ChangeFilter(ids=frozenset({arguments.element_id}))
    until = None if arguments.until is None else At(position=arguments.until)
    page = await Graph(memory.system, memory.principal).changes(
        At(position=arguments.after), until, wanted, arguments.limit, arguments.cursor
    )
    shown = [
        {
            "id": change.id,
            "element": "connection" if change.element_kind == "edge" else change.element_kind,
            "change": change.kind.value.lower(),
            "fields": change.fields,
            "before": None if change.before is None else without_content(change.before),
            "after": None if change.after is None else without_content(change.after),
        }
        for change in page.changes
    ]
    answer: Json = {"changes": shown, "until": page.end}
    return {**answer, "next_cursor": page.changes[-1].cursor} if page.has_more else answer


def without_content(state: State) -> Json:
    """A state as JSON, without content: that may be large, and `read_content` pages it."""
    return {name: value for name, value in state.as_json().items() if name != "content"}


def event_to_json(event: Event) -> Json:
    """An event as JSON for a model; a hidden one has only its position."""
    if event.type == HIDDEN:
        return {"position": event.position}
    return {
        "position": event.position,
        "time": iso(event.timestamp),
        "type": event.type,
        "element_id": event.element,
        "data": event.payload,
    }


GRAPH_TOOLS = (
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
    MemoryTool(
        "changes",
        "Compare two moments",
        "Nodes and connections added, changed or removed between two positions of the log, as they were and are.",
        Changes,
        outputs.record({"changes": ITEMS, "until": COUNT}, {"next_cursor": outputs.TEXT}),
        READS,
        changes,
    ),
)
