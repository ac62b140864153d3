"""Hybrid search: where words and likeness say the same of several nodes, the distance in the graph decides."""

from __future__ import annotations

from ugs.graph.api import Graph
from ugs.system import System


async def test_the_nearer_node_comes_first_in_either_direction() -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        for id in ("p1", "p2", "p3", "p4", "start"):
            await graph.add_node(id, properties={} if id == "start" else {"name": "pear"})
        for source, target in (("start", "p3"), ("p2", "p3"), ("p2", "p1")):
            await graph.add_edge(f"{source}_{target}", source, target)

        found = await graph.hybrid("pear", near=["start"])

        assert [hit.node.id for hit in found][:3] == ["p3", "p2", "p1"]
        assert [hit.node.id for hit in found][3] == "p4"  # no way leads there
        assert found[0].score > found[1].score > found[2].score > found[3].score
