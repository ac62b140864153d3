"""Root query fields of the graph: elements, lists, addresses and versions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import strawberry

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.graph.queries import Resolution as KernelResolution
from ugs.graph.queries import at_version, get, get_many, resolve, resolve_all, versions
from ugs.identity import is_identifier
from ugs.log.at import At as KernelAt
from ugs.reads.plan import Read, ResultRow
from ugs.storage import EventQuery
from ugs_schema.compiler.plan_templates import ReadCriteria, ReadTemplate
from ugs_schema.compiler.row_types import RowType, build_connection_template, build_nests_below, restrict_to_ids
from ugs_schema.compiler.selection import Selection, get_selected_field
from ugs_schema.context import Info
from ugs_schema.graph.events import ElementVersion, to_graphql_event, to_graphql_version
from ugs_schema.graph.filters import EdgeFilter, NodeFilter
from ugs_schema.graph.list_arguments import (
    parse_edge_list,
    parse_node_list,
    parse_nodes_by_property,
    parse_root_nodes,
)
from ugs_schema.graph.order_by import EdgeOrder, NodeOrder
from ugs_schema.graph.result_types import Resolution
from ugs_schema.graph.row_types import EDGE, NODE
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.graph.types import (
    GraphEdge,
    GraphEdgeConnection,
    GraphElement,
    GraphNode,
    GraphNodeConnection,
    Identified,
    build_page,
    to_graphql_edge,
    to_graphql_element,
    to_graphql_if_found,
    to_graphql_node,
)
from ugs_schema.scalars import Json

MAX_ADDRESSES = 200
MAX_GAP_EVENTS = 50
"""Gaps up to this many events are read along, which costs less than another query."""


@strawberry.type
class ReadingQuery:
    @strawberry.field(description="The node with this id, now, at a version, or at a place in time; null without one")
    async def graph_node(
        self, info: Info, id: strawberry.ID, version: int | None = None, at: At | None = None
    ) -> GraphNode | None:
        resolved = await read_row(info, NODE, id, version, parse_at(at))
        return None if resolved is None else to_graphql_node(resolved, at=parse_at(at))

    @strawberry.field(description="The edge with this id, now, at a version, or at a place in time; null without one")
    async def graph_edge(
        self, info: Info, id: strawberry.ID, version: int | None = None, at: At | None = None
    ) -> GraphEdge | None:
        resolved = await read_row(info, EDGE, id, version, parse_at(at))
        return None if resolved is None else to_graphql_edge(resolved, at=parse_at(at))

    @strawberry.field(description="The node or edge with this id; null without one")
    async def element(self, info: Info, id: strawberry.ID, at: At | None = None) -> GraphElement | None:
        return to_graphql_if_found(await info.context.graph.get(id, parse_at(at)), parse_at(at))

    @strawberry.field(description="Anything by its global id, now or at a place in time; null without one")
    async def node(self, info: Info, id: strawberry.ID, at: At | None = None) -> Identified | None:
        return await find_identified(info, id, parse_at(at))

    @strawberry.field(
        description="Anything by its global ids, now or at a place in time, in their order, null where there is none"
    )
    async def nodes(self, info: Info, ids: list[strawberry.ID], at: At | None = None) -> list[Identified | None]:
        check_count(ids, "ids")
        resolved = await find_all_identified(info, ids, parse_at(at))
        return [resolved.get(id) for id in ids]

    @strawberry.field(description="Nodes that meet a filter, a page at a time, by id unless told")
    async def graph_nodes(
        self,
        info: Info,
        filter: NodeFilter | None = None,
        order_by: list[NodeOrder] | None = None,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
        at: At | None = None,
    ) -> GraphNodeConnection:
        return await read_node_page(info, parse_node_list, parse_at(at))

    @strawberry.field(description="Edges that meet a filter, a page at a time, by id unless told")
    async def graph_edges(
        self,
        info: Info,
        filter: EdgeFilter | None = None,
        order_by: list[EdgeOrder] | None = None,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
        at: At | None = None,
    ) -> GraphEdgeConnection:
        plan = build_page_plan(info, EDGE, parse_edge_list)
        rows = await info.context.system.read(plan, parse_at(at))
        return GraphEdgeConnection(paged=build_page(rows, plan.page, plan.order, parse_at(at), edges=True))

    @strawberry.field(
        description="Nodes whose property has exactly this value, or null; numbers by value, 1 equals 1.0"
    )
    async def find_by_property(
        self,
        info: Info,
        key: str,
        value: Json | None = None,
        first: int | None = None,
        after: str | None = None,
        at: At | None = None,
    ) -> GraphNodeConnection:
        return await read_node_page(info, parse_nodes_by_property, parse_at(at))

    @strawberry.field(description="Nodes at which no edge arrives")
    async def roots(
        self, info: Info, first: int | None = None, after: str | None = None, at: At | None = None
    ) -> GraphNodeConnection:
        return await read_node_page(info, parse_root_nodes, parse_at(at))

    @strawberry.field(description="What an address such as @(alice) or @(alice:3) leads to")
    async def resolve(self, info: Info, address: str, at: At | None = None) -> Resolution:
        return await resolve_address(info, address, parse_at(at))

    @strawberry.field(description="What several addresses lead to, in their order")
    async def resolve_all(self, info: Info, addresses: list[str], at: At | None = None) -> list[Resolution]:
        check_count(addresses, "addresses")
        async with info.context.system.session_at(parse_at(at)) as session:
            resolved = await resolve_all(session, addresses)
        return [to_graphql_resolution(one, parse_at(at)) for one in resolved]

    @strawberry.field(description="Every state an element has had, oldest first; also of deleted ones")
    async def versions(self, info: Info, id: strawberry.ID, last: int | None = 20) -> list[ElementVersion]:
        if last is not None and not 0 <= last <= 500:
            raise LimitExceeded("last lies between 0 and 500", limit=500)
        async with info.context.system.session() as session:
            element_versions = await versions(session, id)
        return [
            to_graphql_version(state)
            for state in (
                element_versions if last is None else element_versions[max(len(element_versions) - last, 0) :]
            )
        ]


def check_count(parse_criteria: list[Any], name: str) -> None:
    if len(parse_criteria) > MAX_ADDRESSES:
        raise LimitExceeded(f"{name}: at most {MAX_ADDRESSES} at once", limit=MAX_ADDRESSES)


def get_arguments(info: Info) -> dict[str, Any]:
    """The arguments of the field being resolved, by their names in the schema."""
    raw = info._raw_info
    return Selection.from_info(raw).arguments(get_selected_field(raw))


def build_page_plan(info: Info, row_type: RowType, parse_criteria: Callable[[dict[str, Any]], ReadCriteria]) -> Read:
    """The read of a root connection field with the request's variables."""
    raw = info._raw_info
    selection = Selection.from_info(raw)
    return build_connection_template(selection, get_selected_field(raw), row_type, parse_criteria).bind(
        selection.variables
    )


async def read_node_page(
    info: Info, parse_criteria: Callable[[dict[str, Any]], ReadCriteria], at: KernelAt | None
) -> GraphNodeConnection:
    """A page of nodes with everything selected below them, in one read."""
    plan = build_page_plan(info, NODE, parse_criteria)
    rows = await info.context.system.read(plan, at)
    return GraphNodeConnection(paged=build_page(rows, plan.page, plan.order, at))


async def read_row(
    info: Info, row_type: RowType, id: str, version: int | None, at: KernelAt | None
) -> ResultRow | None:
    """A row with everything selected below it, in one read; an old version is rebuilt from the element's events."""
    if not is_identifier(id):
        return None
    if version is not None:
        return await read_old_row(info, row_type, id, version, at)
    raw = info._raw_info
    selection = Selection.from_info(raw)
    template = ReadTemplate(row_type.table, build_nests_below(selection, get_selected_field(raw), row_type))
    rows = await info.context.system.read(restrict_to_ids(template.bind(selection.variables), id), at)
    return rows.items[0] if rows.items else None


async def read_old_row(info: Info, row_type: RowType, id: str, version: int, at: KernelAt | None) -> ResultRow | None:
    if at is not None:
        raise InvalidSyntax("ask for a version or for a place in time, not for both")
    async with info.context.system.session() as session:
        row = await at_version(session, id, version)
    return ResultRow(row, {}) if isinstance(row, row_type.table.row) else None


async def find_identified(info: Info, id: str, at: KernelAt | None) -> Identified | None:
    """The object with a global id."""
    if "/" in id:
        return (await find_all_identified(info, [id], at)).get(id)
    async with info.context.system.session_at(at) as session:
        row = await get(session, id)
    return None if row is None else to_graphql_element(row, at)


async def find_all_identified(info: Info, ids: Iterable[str], at: KernelAt | None) -> dict[str, Identified]:
    """The objects with these global ids; one look-up per kind."""
    resolved: dict[str, Identified] = {}
    by_kind: dict[str | None, list[str]] = {}
    for id in dict.fromkeys(ids):
        kind, slash, rest = id.partition("/")
        by_kind.setdefault(kind if slash else None, []).append(rest if slash else id)
    for name, own in by_kind.items():
        if name is None:
            resolved |= await find_elements(info, own, at)
        elif name in IDENTIFIED_LOOKUPS:
            resolved |= {f"{name}/{id}": one for id, one in (await IDENTIFIED_LOOKUPS[name](info, own, at)).items()}
    return resolved


async def find_elements(info: Info, ids: Sequence[str], at: KernelAt | None) -> dict[str, Identified]:
    async with info.context.system.session_at(at) as session:
        return {id: to_graphql_element(row, at) for id, row in (await get_many(session, ids)).items()}


async def find_events(info: Info, ids: Sequence[str], at: KernelAt | None) -> dict[str, Identified]:
    """Events by their ids; events close to each other are read in one query."""
    resolved: dict[str, Identified] = {}
    end = None if at is None else await info.context.system.moments.position_at(at)
    positions = (position for id in ids if (position := parse_position(id)) is not None)
    for first, last in merge_positions(place for place in positions if end is None or place <= end):
        page = await info.context.log.page(EventQuery(after=first - 1, until=last))
        resolved |= {event.id: to_graphql_event(event) for event in page.events}
    return {id: resolved[id] for id in ids if id in resolved}


def parse_position(id: str) -> int | None:
    """The log position in an event's id."""
    position = id.rpartition("_")[2]
    return int(position) if position.isascii() and position.isdecimal() and len(position) < 19 else None


def merge_positions(positions: Iterable[int]) -> list[tuple[int, int]]:
    """Ranges of the log that cover these positions without long gaps."""
    resolved: list[tuple[int, int]] = []
    for position in sorted(positions):
        if resolved and position - resolved[-1][1] <= MAX_GAP_EVENTS:
            resolved[-1] = (resolved[-1][0], position)
        else:
            resolved.append((position, position))
    return resolved


FindAll = Callable[[Info, Sequence[str], KernelAt | None], Awaitable[Mapping[str, Identified]]]
"""Looks up objects by the part of their global ids behind the slash, in a batch, now or in the past; missing ones are
left out."""

IDENTIFIED_LOOKUPS: dict[str, FindAll] = {"event": find_events}
"""The look-ups of kinds other than graph elements; features add theirs."""


async def resolve_address(info: Info, address: str, at: KernelAt | None) -> Resolution:
    """Resolve one address."""
    async with info.context.system.session_at(at) as session:
        return to_graphql_resolution(await resolve(session, address), at)


def to_graphql_resolution(resolved: KernelResolution, at: KernelAt | None) -> Resolution:
    """The GraphQL object of a resolution."""
    element = resolved.element
    return Resolution(
        address=resolved.text,
        element=to_graphql_if_found(element, at),
        version=None if element is None else element.version,
        value=Json(resolved.value),
    )
