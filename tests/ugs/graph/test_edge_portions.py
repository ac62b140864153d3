"""The edges at one node, read in portions: none is lost where a portion is exactly full."""

from __future__ import annotations

import pytest

from ugs import System
from ugs.graph import traversal
from ugs.graph.api import Graph
from ugs.graph.traversal import Direction, edges_at


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 6, 7])
@pytest.mark.parametrize("direction", Direction)
async def test_portions_hold_every_edge_once_in_its_sequence(
    direction: Direction, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traversal, "LEVEL_CHUNK_SIZE", 2)
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.add_node("hub")
        await graph.add_node("leaf")
        for number in range(count):
            ends = ("hub", "leaf") if direction is not Direction.INCOMING else ("leaf", "hub")
            await graph.add_edge(f"e{number}", *(ends if number % 2 or direction is not Direction.BOTH else ends[::-1]))
        async with system.session() as session:
            portions = [
                [edge.id for edge in edges] async for edges in edges_at(session, "hub", direction, size=1) if edges
            ]
        assert [id for portion in portions for id in portion] == [f"e{number}" for number in range(count)]
        assert all(len(portion) <= 2 for portion in portions)
