"""The demonstration data of seed 000, section 13.3."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from ugs.graph.batches import ImportGraph
from ugs.values import from_text


def demo_graph() -> dict[str, Any]:
    """The fixture as written in the seed."""
    graph: dict[str, Any] = from_text((files("ugs.graph") / "demo.json").read_bytes())
    return graph


def load_demo(force: bool = False) -> ImportGraph:
    """The command that loads it; with force, existing elements are skipped instead of being an error."""
    graph = demo_graph()
    return ImportGraph(
        nodes=tuple(graph["nodes"]), edges=tuple(graph["edges"]), on_conflict="skip" if force else "error"
    )
