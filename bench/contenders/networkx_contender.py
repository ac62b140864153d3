"""networkx, as a Python user would use it: a MultiDiGraph with attribute dicts, answers by orjson."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import orjson

from bench import data
from bench.contenders import Job
from bench.contenders.by_hand import LookUps
from bench.questions import DEPTH, FIRST_EDGES, SECOND_EDGES


class NetworkX:
    """The graph in networkx, with dicts for what networkx cannot look up."""

    name = "networkx"

    def __init__(self, size: int, look_ups: LookUps) -> None:
        self.graph = load(size)
        self.look_ups = look_ups
        self.jobs: Mapping[str, Job] = {
            "point": self.point,
            "point_plan": self.point,
            "listing": self.listing,
            "two_hop": self.two_hop,
            "search": look_ups.search,
            "search_common": look_ups.search,
            "traverse": self.traverse,
            "path": self.path,
        }

    async def close(self) -> None:
        self.graph.clear()

    def point(self, id: str) -> bytes:
        return orjson.dumps(self.graph.nodes[id])

    def listing(self, type: str, after: str) -> bytes:
        nodes = self.graph.nodes
        return orjson.dumps([nodes[id] for id in self.look_ups.page(type, after)])

    def two_hop(self, id: str) -> bytes:
        return orjson.dumps(self._node(id, (FIRST_EDGES, SECOND_EDGES)))

    def _node(self, id: str, limits: tuple[int, ...]) -> dict[str, Any]:
        node = self.graph.nodes[id]
        shown = {"id": id, "type": node["type"], "properties": node["properties"]}
        if limits:
            shown["edges"] = [self._edge(target, edge, limits[1:]) for target, edge in self._edges(id, limits[0])]
        return shown

    def _edges(self, id: str, limit: int) -> Iterator[tuple[str, dict[str, Any]]]:
        # networkx groups parallel edges by target, so their age has to be sorted out.
        edges = sorted(self.graph.out_edges(id, data=True), key=lambda edge: edge[2]["seq"])
        return ((target, edge) for _, target, edge in edges[:limit])

    def _edge(self, target: str, edge: dict[str, Any], limits: tuple[int, ...]) -> dict[str, Any]:
        return {
            "id": edge["id"],
            "type": edge["type"],
            "weight": edge["weight"],
            "properties": edge["properties"],
            "target": self._node(target, limits),
        }

    def traverse(self, id: str) -> bytes:
        nodes = self.graph.nodes
        depths = {id: 0}
        for source, target in nx.bfs_edges(self.graph, id, depth_limit=DEPTH):
            depths[target] = depths[source] + 1
        return orjson.dumps([{"id": n, "type": nodes[n]["type"], "depth": depth} for n, depth in depths.items()])

    def path(self, start: str, goal: str) -> bytes:
        try:
            return orjson.dumps(nx.shortest_path(self.graph, start, goal, weight="weight"))
        except nx.NetworkXNoPath:
            return b"null"


def load(size: int) -> nx.MultiDiGraph:
    """The graph that is measured."""
    graph: nx.MultiDiGraph = nx.MultiDiGraph()
    for node in data.nodes(size):
        graph.add_node(node.id, **attributes(node))
    for edge in data.edges(size):
        graph.add_edge(edge.source, edge.target, key=edge.id, **edge_attributes(edge))
    return graph


def attributes(node: data.NodeMade) -> dict[str, Any]:
    return {
        "id": node.id,
        "type": node.type,
        "properties": node.properties,
        "data": node.data,
        "created": node.created,
        "modified": node.created,
    }


def edge_attributes(edge: data.EdgeMade) -> dict[str, Any]:
    return {
        "id": edge.id,
        "type": edge.type,
        "weight": edge.weight,
        "properties": edge.properties,
        "seq": edge.seq,
    }
