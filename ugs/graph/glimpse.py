"""The graph that a glance shows: nodes and edges as plain records, and the few answers that need no more.

What events do to rows is told by `ugs.graph.events`; this is the same for plain records, without anything that takes
long to load. A test lets both see the same logs.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to load than everything here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ugs.glances import Glance

    Record = dict[str, Any]


CONFIG_NODE = "_system_config"
"""The node whose properties override what is built in (INV-5)."""


class Glimpse:
    """Nodes and edges by id, as the store's snapshot writes them."""

    def __init__(self, glance: Glance) -> None:
        self.nodes: dict[str, Record] = {row["id"]: row for row in glance.rows.get("nodes", ())}
        self.edges: dict[str, Record] = {row["id"]: row for row in glance.rows.get("edges", ())}
        for event in glance.events:
            # A type that is not known here raises KeyError: whoever looks then opens the store.
            EFFECTS[event["type"]](self, event, event["data"])

    def stats(self) -> dict[str, int]:
        """The four counts."""
        types = {node["type"] for node in self.nodes.values()} - {None}
        return {
            "nodes": len(self.nodes),
            "edges": len(self.edges),
            "types": len(types),
            "properties": len(self.property_keys()),
        }

    def property_keys(self) -> list[str]:
        """All property keys of nodes, sorted."""
        return sorted({key for node in self.nodes.values() for key in node["properties"]})

    def properties_of(self, id: str) -> Record:
        """The properties of a node, or of an edge where no node has the id."""
        found = self.nodes.get(id) or self.edges.get(id)
        properties: Record = {} if found is None else found["properties"]
        return properties


def _added(event: Record, data: Record) -> Record:
    """What nodes and edges have in common."""
    created = event["timestamp"] if data.get("created") is None else data["created"]
    return {
        "id": data["id"],
        "type": data.get("type"),
        "properties": data.get("properties", {}),
        "created": created,
        "modified": created if data.get("modified") is None else data["modified"],
        "version": event["ver"],
    }


def _add_node(graph: Glimpse, event: Record, data: Record) -> None:
    graph.nodes[data["id"]] = {**_added(event, data), "data": data.get("data")}


def _add_edge(graph: Glimpse, event: Record, data: Record) -> None:
    ends = {"from": data["from"], "to": data["to"], "weight": data.get("weight", 1), "seq": event["seq"]}
    graph.edges[data["id"]] = {**_added(event, data), **ends}


def _updated(row: Record, event: Record, data: Record, *names: str) -> Record:
    """A record after a change of its properties, its type, and the values with these names."""
    properties = {**row["properties"], **data.get("properties", {})}
    kept = {key: properties[key] for key in sorted(properties) if key not in data.get("removed", ())}
    told = {name: data[name] for name in ("type", *names) if name in data}
    return {**row, **told, "properties": kept, "modified": event["timestamp"], "version": event["ver"]}


def _update_node(graph: Glimpse, event: Record, data: Record) -> None:
    if data["id"] in graph.nodes:
        graph.nodes[data["id"]] = _updated(graph.nodes[data["id"]], event, data, "data")


def _update_edge(graph: Glimpse, event: Record, data: Record) -> None:
    if data["id"] in graph.edges:
        graph.edges[data["id"]] = _updated(graph.edges[data["id"]], event, data, "weight")


def _delete_node(graph: Glimpse, event: Record, data: Record) -> None:
    id = data["id"]
    graph.nodes.pop(id, None)
    for edge in [edge for edge in graph.edges.values() if id in (edge["from"], edge["to"])]:
        del graph.edges[edge["id"]]


def _delete_edge(graph: Glimpse, event: Record, data: Record) -> None:
    graph.edges.pop(data["id"], None)


def _nothing(graph: Glimpse, event: Record, data: Record) -> None:
    """For events that change neither nodes nor edges."""


EFFECTS: dict[str, Callable[[Glimpse, Record, Record], None]] = {
    "NodeAdded": _add_node,
    "NodeUpdated": _update_node,
    "NodeDeleted": _delete_node,
    "EdgeAdded": _add_edge,
    "EdgeUpdated": _update_edge,
    "EdgeDeleted": _delete_edge,
    "EdgeCounterSet": _nothing,
}
