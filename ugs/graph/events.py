"""The events of the graph and their reducers.

Reducers read nothing: they turn one event into changes. Payloads are the seed's; decoding fills in what older or
foreign logs leave out (type null, properties {}, times from the event, weight 1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from sys import intern
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ugs.catalog import BulkReducer, Columns, FindRow
from ugs.changes import Change, Drop, Patch, Put, Raise
from ugs.events import Event
from ugs.graph.model import COUNTERS, EDGES, NODES, TOMBSTONES, Counter, Edge, Node, Tombstone
from ugs.reads.filters import Where, any_of, eq, in_
from ugs.tables import Row, Table
from ugs.values import JsonText, to_text

EDGE_COUNTER = "edge"
NODE_COUNTER = "node"
GENERATED = re.compile(r"(edge|node)_([1-9][0-9]{0,17})")
EMPTY_RAW = Raw(b"{}")
NULL_RAW = Raw(b"null")


class _NodeAdded(Struct, gc=False):
    id: str
    type: str | None = None
    properties: Raw = EMPTY_RAW
    data: Raw = NULL_RAW
    created: int | None = None
    modified: int | None = None


class _EdgeAdded(Struct, gc=False):
    id: str
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    type: str | None = None
    weight: int | float = 1
    properties: Raw = EMPTY_RAW
    created: int | None = None
    modified: int | None = None


class _OnlyNode(_NodeAdded, gc=False, forbid_unknown_fields=True):
    """A NodeAdded without fields of other features (content, for example)."""


class _OnlyEdge(_EdgeAdded, gc=False, forbid_unknown_fields=True):
    """An EdgeAdded without fields of other features."""


class _Updated(Struct):
    id: str
    properties: dict[str, Any] = {}
    removed: tuple[str, ...] = ()
    type: str | UnsetType | None = UNSET
    data: Any = UNSET
    weight: int | float | UnsetType = UNSET


_decode_node = msgspec.json.Decoder(_NodeAdded).decode
_decode_edge = msgspec.json.Decoder(_EdgeAdded).decode
_decode_update = msgspec.json.Decoder(_Updated).decode


def node_of(event: Event) -> Node:
    """The node a NodeAdded describes."""
    data = _decode_node(event.data)
    created = event.timestamp if data.created is None else data.created
    modified = created if data.modified is None or data.modified == created else data.modified
    properties, payload = str(data.properties, "utf-8"), str(data.data, "utf-8")
    return _node_row(data.id, data.type, properties, payload, created, modified, event.version or 1)


def build_node_added(
    id: str, type: str | None, label: str, properties: str, data: str, now: int
) -> tuple[JsonText, Node]:
    """The payload of a NodeAdded, and its row; all but the id and the type are JSON texts, `label` is that of the
    type."""
    text = f'{{"created":{now},"data":{data},"id":"{id}","modified":{now},"properties":{properties},"type":{label}}}'
    return JsonText(text), _node_row(id, type, properties, data, now, now, 1)


def _node_row(id: str, type: str | None, properties: str, data: str, created: int, modified: int, version: int) -> Node:
    # Thousands of rows share a type: intern it to keep one string in memory.
    kind, payload = None if type is None else intern(type), None if data == "null" else JsonText(data)
    return Node(id, kind, JsonText(properties), payload, created, modified, version)


def edge_of(event: Event) -> Edge:
    """The edge an EdgeAdded describes."""
    data = _decode_edge(event.data)
    created = event.timestamp if data.created is None else data.created
    modified = created if data.modified is None or data.modified == created else data.modified
    kind, properties = None if data.type is None else intern(data.type), JsonText(str(data.properties, "utf-8"))
    version = event.version or 1
    return Edge(
        data.id, data.source, data.target, kind, data.weight, properties, created, modified, version, event.position
    )


def build_edge_added(
    id: str,
    ends: tuple[str, str],
    type: str | None,
    label: str,
    weight: int | float,
    properties: str,
    now: int,
    position: int,
) -> tuple[JsonText, Edge]:
    """The payload of an EdgeAdded, and its row; `label` is the type as JSON, `ends` are source and target."""
    source, target = ends
    text = (
        f'{{"created":{now},"from":"{source}","id":"{id}","modified":{now},"properties":{properties},'
        f'"to":"{target}","type":{label},"weight":{to_text(weight)}}}'
    )
    kind = None if type is None else intern(type)
    return JsonText(text), Edge(id, source, target, kind, weight, JsonText(properties), now, now, 1, position)


def node_columns(events: Sequence[Any]) -> Columns:
    """As `node_of`, for many events with decoded data, as columns."""
    told = [event.data for event in events]
    return [
        [data.id for data in told],
        [data.type if data.type is None else intern(data.type) for data in told],
        [str(data.properties, "utf-8") for data in told],
        [None if (payload := str(data.data, "utf-8")) == "null" else payload for data in told],
        *_times(events),
    ]


def edge_columns(events: Sequence[Any]) -> Columns:
    """As `edge_of`, for many events with decoded data, as columns."""
    told = [event.data for event in events]
    return [
        [data.id for data in told],
        [data.source for data in told],
        [data.target for data in told],
        [data.type if data.type is None else intern(data.type) for data in told],
        [data.weight for data in told],
        [str(data.properties, "utf-8") for data in told],
        *_times(events),
        [event.position for event in events],
    ]


def _times(events: Sequence[Any]) -> Columns:
    """The columns created, modified and version."""
    created = [event.timestamp if (at := event.data.created) is None else at for event in events]
    modified = [event.data.modified for event in events]
    if None in modified:
        modified = [since if at is None else at for since, at in zip(created, modified, strict=True)]
    return [created, modified, [event.version or 1 for event in events]]


def store_node(event: Event) -> list[Change]:
    node = node_of(event)
    return [Put(NODES, node), *node_side_changes((node,))]


def store_edge(event: Event) -> list[Change]:
    edge = edge_of(event)
    return [Put(EDGES, edge), *edge_side_changes((edge,))]


def node_side_changes(nodes: Sequence[Node]) -> Sequence[Change]:
    """Additional changes, which only some nodes need: see `_side_changes`."""
    unusual = [node for node in nodes if node.version > 1 or node.id.startswith(NODE_COUNTER)]
    return _side_changes(unusual, NODE_COUNTER) if unusual else ()


def edge_side_changes(edges: Sequence[Edge]) -> Sequence[Change]:
    """Additional changes, which only some edges need: see `_side_changes`."""
    unusual = [edge for edge in edges if edge.version > 1 or edge.id.startswith(EDGE_COUNTER)]
    return _side_changes(unusual, EDGE_COUNTER) if unusual else ()


def _side_changes(rows: Sequence[Node | Edge], counter: str) -> list[Change]:
    """A re-created element removes its tombstone; a generated id raises its counter."""
    cleared: list[Change] = [Drop(TOMBSTONES, eq("id", row.id)) for row in rows if row.version > 1]
    numbers = [int(generated[2]) for row in rows if (generated := GENERATED.fullmatch(row.id))]
    return [*cleared, Raise(COUNTERS, Counter(counter, max(numbers)))] if numbers else cleared


def update_node(event: Event) -> list[Change]:
    data = _decode_update(event.data)
    changed = _common_changes(event, data)
    if data.data is not UNSET:
        changed["data_text"] = None if data.data is None else to_text(data.data)
    return [_patch(NODES, data, changed)]


def update_edge(event: Event) -> list[Change]:
    data = _decode_update(event.data)
    changed = _common_changes(event, data)
    if data.weight is not UNSET:
        changed["weight"] = data.weight
    return [_patch(EDGES, data, changed)]


def _common_changes(event: Event, data: _Updated) -> dict[str, Any]:
    changed: dict[str, Any] = {"modified": event.timestamp, "version": event.version}
    if data.type is not UNSET:
        changed["type"] = data.type
    return changed


def _patch(table: Any, data: _Updated, changed: dict[str, Any]) -> Patch:
    merge = {"properties_text": data.properties} if data.properties else {}
    unset = {"properties_text": data.removed} if data.removed else {}
    return Patch(table, data.id, changed, merge, unset)


def delete_node(event: Event) -> list[Change]:
    """Delete the node, and any edge still attached in a foreign log (own logs delete the edges first)."""
    id = event.element or ""
    return [Drop(EDGES, edges_of(id), into=TOMBSTONES), Drop(NODES, eq("id", id), into=TOMBSTONES)]


def edges_of(id: str) -> Where:
    """The condition for edges that leave from or arrive at a node."""
    return any_of(eq("source", id), eq("target", id))


def delete_edge(event: Event) -> list[Change]:
    return [Drop(EDGES, eq("id", event.element), into=TOMBSTONES)]


def set_counter(event: Event) -> list[Change]:
    return [Raise(COUNTERS, Counter(EDGE_COUNTER, int(event.payload["value"])))]


REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {
    "NodeAdded": store_node,
    "NodeUpdated": update_node,
    "NodeDeleted": delete_node,
    "EdgeAdded": store_edge,
    "EdgeUpdated": update_edge,
    "EdgeDeleted": delete_edge,
    "EdgeCounterSet": set_counter,
}
BULK_REPLAY = {
    "NodeAdded": BulkReducer(NODES, _OnlyNode, node_columns, node_side_changes),
    "EdgeAdded": BulkReducer(EDGES, _OnlyEdge, edge_columns, edge_side_changes),
}
ELEMENTS: Mapping[str, str] = {
    name: "id" for name in REDUCERS if name.startswith(("Node", "Edge")) and name != "EdgeCounterSet"
}
VERSIONED = frozenset({"NodeAdded", "NodeUpdated", "EdgeAdded", "EdgeUpdated"})


def version_of(find: FindRow, id: str) -> int:
    """The last version of an id, deleted or not; 0 if it was never used."""
    for table in (NODES, EDGES, TOMBSTONES):
        row: Node | Edge | Tombstone | None = find(table, id)
        if row is not None:
            return row.version
    return 0


class Preparing(Protocol):
    """The methods of a unit of work that `prepare` needs."""

    session: Any

    async def prefetch(self, wanted: Iterable[tuple[Table, Any]]) -> None: ...

    def cache_rows(self, table: Table, where: Where, rows: Sequence[Row]) -> None: ...


async def prepare(uow: Preparing, ids: Iterable[str], dying: Iterable[str]) -> None:
    """Prefetch in a few statements what a group will read: these ids, and the edges of nodes to be deleted."""
    await uow.prefetch((table, id) for id in dict.fromkeys(ids) for table in (NODES, EDGES, TOMBSTONES))
    ends = sorted(set(dying))
    if not ends:
        return
    attached: dict[str, dict[str, Edge]] = {id: {} for id in ends}
    for edge in await uow.session.fetch(EDGES, any_of(in_("source", ends), in_("target", ends))):
        for end in {edge.source, edge.target} & attached.keys():
            attached[end][edge.id] = edge
    for id, edges in attached.items():
        uow.cache_rows(EDGES, edges_of(id), list(edges.values()))


async def prepare_replay(uow: Preparing, events: Sequence[Event]) -> None:
    """Prefetch the rows that a range of events will change."""
    ours = [event for event in events if event.element is not None and event.type in ELEMENTS]
    dying = [event.element for event in ours if event.type == "NodeDeleted" and event.element]
    await prepare(uow, [event.element for event in ours if event.element], dying)
