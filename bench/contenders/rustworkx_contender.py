"""rustworkx, as a Python user would use it: a PyDiGraph of dicts with an index from id to place, answers by orjson."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import orjson
import rustworkx as rx

from bench import data
from bench.contenders import Job
from bench.contenders.by_hand import LookUps
from bench.contenders.networkx_contender import attributes, edge_attributes
from bench.questions import DEPTH, FIRST_EDGES, SECOND_EDGES

by_age = itemgetter("seq")
weight_of = itemgetter("weight")


class RustworkX:
    """The graph in rustworkx, with dicts for what rustworkx cannot look up."""

    name = "rustworkx"

    def __init__(self, size: int, look_ups: LookUps) -> None:
        self.graph, self.places = load(size)
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
        return orjson.dumps(self.graph[self.places[id]])

    def listing(self, type: str, after: str) -> bytes:
        graph, places = self.graph, self.places
        return orjson.dumps([graph[places[id]] for id in self.look_ups.page(type, after)])

    def two_hop(self, id: str) -> bytes:
        return orjson.dumps(self._node(self.places[id], (FIRST_EDGES, SECOND_EDGES)))

    def _node(self, place: int, limits: tuple[int, ...]) -> dict[str, Any]:
        node = self.graph[place]
        shown = {"id": node["id"], "type": node["type"], "properties": node["properties"]}
        if limits:
            edges = sorted(self.graph.out_edges(place), key=lambda edge: by_age(edge[2]))[: limits[0]]
            shown["edges"] = [self._edge(target, edge, limits[1:]) for _, target, edge in edges]
        return shown

    def _edge(self, target: int, edge: dict[str, Any], limits: tuple[int, ...]) -> dict[str, Any]:
        return {
            "id": edge["id"],
            "type": edge["type"],
            "weight": edge["weight"],
            "properties": edge["properties"],
            "target": self._node(target, limits),
        }

    def traverse(self, id: str) -> bytes:
        graph = self.graph
        depths = {self.places[id]: 0}
        frontier = [*depths]
        for depth in range(1, DEPTH + 1):
            reached: list[int] = []
            for place in frontier:
                # The newest edge comes first in rustworkx; the answer goes by age.
                for target in reversed(graph.successor_indices(place)):
                    if target not in depths:
                        depths[target] = depth
                        reached.append(target)
            frontier = reached
        nodes = ((graph[place], depth) for place, depth in depths.items())
        return orjson.dumps([{"id": node["id"], "type": node["type"], "depth": depth} for node, depth in nodes])

    def path(self, start: str, goal: str) -> bytes:
        source, target = self.places[start], self.places[goal]
        found = rx.dijkstra_shortest_paths(self.graph, source, target=target, weight_fn=weight_of)
        if target not in found:
            return b"null"
        return orjson.dumps([self.graph[place]["id"] for place in found[target]])


def load(size: int) -> tuple[rx.PyDiGraph[Any, Any], dict[str, int]]:
    """The graph that is measured, and where each node lies in it."""
    graph: rx.PyDiGraph[Any, Any] = rx.PyDiGraph()
    places = {node.id: graph.add_node(attributes(node)) for node in data.nodes(size)}
    graph.add_edges_from(
        [(places[edge.source], places[edge.target], edge_attributes(edge)) for edge in data.edges(size)]
    )
    return graph, places
