"""Reading the graph: elements, lists, addresses, and the past of each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import strawberry

from schema.context import Info
from schema.elements import (
    GraphEdge,
    GraphEdgeConnection,
    GraphElement,
    GraphNode,
    GraphNodeConnection,
    Identified,
    paged_rows,
    shown,
    shown_edge,
    shown_node,
    shown_row,
)
from schema.events import ElementVersion, shown_event, shown_version
from schema.filters import EdgeFilter, NodeFilter
from schema.moments import At, moment_of
from schema.orders import EdgeOrder, NodeOrder
from schema.scalars import Json
from schema.selection import Selection, own_choice
from schema.shapes import (
    EDGE,
    NODE,
    Shape,
    connection_template,
    listed_edges,
    listed_nodes,
    nests_below,
    nodes_by_property,
    only,
    root_nodes,
)
from schema.steps import Resolution
from schema.templates import Asked, ReadTemplate
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.graph.queries import Resolution as KernelResolution
from ugs.graph.queries import at_version, get, get_many, resolve, resolve_all, versions
from ugs.identity import is_identifier
from ugs.moments import At as KernelAt
from ugs.reads.plan import Found, Read
from ugs.storage import EventQuery

MOST_ADDRESSES = 200
SHORT_GAP = 50
"""So many events in between cost less than another question."""


@strawberry.type
class ReadingQuery:
    @strawberry.field(description="The node with this id, now, at a version, or at a place in time; null without one")
    async def graph_node(
        self, info: Info, id: strawberry.ID, version: int | None = None, at: At | None = None
    ) -> GraphNode | None:
        found = await one_row(info, NODE, id, version, moment_of(at))
        return None if found is None else shown_node(found, at=moment_of(at))

    @strawberry.field(description="The edge with this id, now, at a version, or at a place in time; null without one")
    async def graph_edge(
        self, info: Info, id: strawberry.ID, version: int | None = None, at: At | None = None
    ) -> GraphEdge | None:
        found = await one_row(info, EDGE, id, version, moment_of(at))
        return None if found is None else shown_edge(found, at=moment_of(at))

    @strawberry.field(description="The node or edge with this id; null without one")
    async def element(self, info: Info, id: strawberry.ID, at: At | None = None) -> GraphElement | None:
        return shown(await info.context.graph.get(id, moment_of(at)), moment_of(at))

    @strawberry.field(description="Anything by its global id; null without one")
    async def node(self, info: Info, id: strawberry.ID) -> Identified | None:
        return await identified(info, id)

    @strawberry.field(description="Anything by its global ids, in their order, null where there is none")
    async def nodes(self, info: Info, ids: list[strawberry.ID]) -> list[Identified | None]:
        check_count(ids, "ids")
        found = await all_identified(info, ids)
        return [found.get(id) for id in ids]

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
        return await node_page(info, listed_nodes, moment_of(at))

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
        plan = page_plan(info, EDGE, listed_edges)
        rows = await info.context.system.read(plan, moment_of(at))
        return GraphEdgeConnection(paged=paged_rows(rows, plan.page, plan.order, moment_of(at), edges=True))

    @strawberry.field(description="Nodes whose property has exactly this value; numbers by value, 1 equals 1.0")
    async def find_by_property(
        self,
        info: Info,
        key: str,
        value: Json,
        first: int | None = None,
        after: str | None = None,
        at: At | None = None,
    ) -> GraphNodeConnection:
        return await node_page(info, nodes_by_property, moment_of(at))

    @strawberry.field(description="Nodes at which no edge arrives")
    async def roots(
        self, info: Info, first: int | None = None, after: str | None = None, at: At | None = None
    ) -> GraphNodeConnection:
        return await node_page(info, root_nodes, moment_of(at))

    @strawberry.field(description="What an address such as @(alice) or @(alice:3) leads to")
    async def resolve(self, info: Info, address: str, at: At | None = None) -> Resolution:
        return await resolution(info, address, moment_of(at))

    @strawberry.field(description="What several addresses lead to, in their order")
    async def resolve_all(self, info: Info, addresses: list[str], at: At | None = None) -> list[Resolution]:
        check_count(addresses, "addresses")
        async with info.context.system.session_at(moment_of(at)) as session:
            found = await resolve_all(session, addresses)
        return [shown_resolution(one, moment_of(at)) for one in found]

    @strawberry.field(description="Every state an element has had, oldest first; also of deleted ones")
    async def versions(self, info: Info, id: strawberry.ID, last: int | None = 20) -> list[ElementVersion]:
        if last is not None and not 0 <= last <= 500:
            raise LimitExceeded("last lies between 0 and 500", limit=500)
        async with info.context.system.session() as session:
            life = await versions(session, id)
        return [shown_version(state) for state in (life if last is None else life[max(len(life) - last, 0) :])]


def check_count(asked: list[Any], what: str) -> None:
    if len(asked) > MOST_ADDRESSES:
        raise LimitExceeded(f"{what}: at most {MOST_ADDRESSES} at once", limit=MOST_ADDRESSES)


def own_arguments(info: Info) -> dict[str, Any]:
    """The arguments of the running field by the schema's names."""
    raw = info._raw_info
    return Selection.of(raw).arguments(own_choice(raw))


def page_plan(info: Info, shape: Shape, asked: Callable[[dict[str, Any]], Asked]) -> Read:
    """The read behind a connection field of a root, for the variables at hand."""
    raw = info._raw_info
    selection = Selection.of(raw)
    return connection_template(selection, own_choice(raw), shape, asked).bind(selection.variables)


async def node_page(info: Info, asked: Callable[[dict[str, Any]], Asked], at: KernelAt | None) -> GraphNodeConnection:
    """A page of nodes with everything that is chosen below them, in one read."""
    plan = page_plan(info, NODE, asked)
    rows = await info.context.system.read(plan, at)
    return GraphNodeConnection(paged=paged_rows(rows, plan.page, plan.order, at))


async def one_row(info: Info, shape: Shape, id: str, version: int | None, at: KernelAt | None) -> Found | None:
    """A row with everything that is chosen below it, in one read; an old version comes from its own events."""
    if not is_identifier(id):
        return None
    if version is not None:
        return await old_row(info, shape, id, version, at)
    raw = info._raw_info
    selection = Selection.of(raw)
    template = ReadTemplate(shape.table, nests_below(selection, own_choice(raw), shape))
    rows = await info.context.system.read(only(template.bind(selection.variables), id), at)
    return rows.items[0] if rows.items else None


async def old_row(info: Info, shape: Shape, id: str, version: int, at: KernelAt | None) -> Found | None:
    if at is not None:
        raise InvalidSyntax("ask for a version or for a place in time, not for both")
    async with info.context.system.session() as session:
        row = await at_version(session, id, version)
    return Found(row, {}) if isinstance(row, shape.table.row) else None


async def identified(info: Info, id: str) -> Identified | None:
    """Whatever carries a global id."""
    if "/" in id:
        return (await all_identified(info, [id])).get(id)
    async with info.context.system.session() as session:
        row = await get(session, id)
    return None if row is None else shown_row(row)


async def all_identified(info: Info, ids: Iterable[str]) -> dict[str, Identified]:
    """Whatever carries these global ids; each kind is asked for together."""
    found: dict[str, Identified] = {}
    by_kind: dict[str | None, list[str]] = {}
    for id in dict.fromkeys(ids):
        kind, slash, rest = id.partition("/")
        by_kind.setdefault(kind if slash else None, []).append(rest if slash else id)
    for name, own in by_kind.items():
        if name is None:
            found |= await elements_by_id(info, own)
        elif name in IDENTIFIED:
            found |= {f"{name}/{id}": one for id, one in (await IDENTIFIED[name](info, own)).items()}
    return found


async def elements_by_id(info: Info, ids: Sequence[str]) -> dict[str, Identified]:
    async with info.context.system.session() as session:
        return {id: shown_row(row) for id, row in (await get_many(session, ids)).items()}


async def events_by_id(info: Info, ids: Sequence[str]) -> dict[str, Identified]:
    """Events by the ids they have in the log; neighbours are read together."""
    found: dict[str, Identified] = {}
    async with info.context.system.session() as session:
        for first, last in stretches(position for id in ids if (position := position_in(id)) is not None):
            events = await session.events(EventQuery(after=first - 1, until=last))
            found |= {event.id: shown_event(event) for event in events}
    return {id: found[id] for id in ids if id in found}


def position_in(id: str) -> int | None:
    """The position that an event's id tells."""
    position = id.rpartition("_")[2]
    return int(position) if position.isascii() and position.isdecimal() and len(position) < 19 else None


def stretches(positions: Iterable[int]) -> list[tuple[int, int]]:
    """Stretches of the log that hold these positions, without long gaps."""
    found: list[tuple[int, int]] = []
    for position in sorted(positions):
        if found and position - found[-1][1] <= SHORT_GAP:
            found[-1] = (found[-1][0], position)
        else:
            found.append((position, position))
    return found


FindAll = Callable[[Info, Sequence[str]], Awaitable[Mapping[str, Identified]]]
"""Finds those that exist by the part of their ids behind the slash, all of them in the same few questions."""

IDENTIFIED: dict[str, FindAll] = {"event": events_by_id}
"""How things that are not graph elements are found; features add theirs."""


async def resolution(info: Info, address: str, at: KernelAt | None) -> Resolution:
    """What one address leads to."""
    async with info.context.system.session_at(at) as session:
        return shown_resolution(await resolve(session, address), at)


def shown_resolution(found: KernelResolution, at: KernelAt | None) -> Resolution:
    """A resolution as GraphQL shows it."""
    element = found.element
    return Resolution(
        address=found.text,
        element=shown(element, at),
        version=None if element is None else element.version,
        value=Json(found.value),
    )
