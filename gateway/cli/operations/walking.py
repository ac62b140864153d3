"""Walking from node to node (seed §6.3, §7)."""

from __future__ import annotations

from typing import Any

from gateway.cli.answers import Answer, list_answer, plain
from gateway.cli.kernel import default_in
from gateway.cli.ports import Port
from gateway.cli.usage import Asked, one_of

DIRECTIONS = ("outgoing", "incoming", "both")
STRATEGIES = ("bfs", "dfs")


async def neighbors(asked: Asked, port: Port) -> Answer:
    """Nodes next to a node; the direction is outgoing, incoming or both (default), --type follows one type of edge."""
    direction = asked.get("direction") or await usual(port, "neighbors_direction")
    way = one_of(direction, DIRECTIONS, "direction")
    return list_answer(await port.neighbors(asked.words["id"], way, asked.options.get("type")))


async def traverse(asked: Asked, port: Port) -> Answer:
    """Nodes within a number of steps, the start first.

    --depth is 3 and --direction outgoing (or incoming, both) unless told; --strategy bfs goes level by level, dfs
    branch by branch; --type follows one type of edge. The node `_system_config` can set other defaults.
    """
    direction = asked.options.get("direction") or await usual(port, "traverse_direction")
    steps = await port.traverse(
        asked.words["id"],
        await number_or_usual(asked, "depth", port, "traverse_depth"),
        one_of(direction, DIRECTIONS, "direction"),
        one_of(asked.options.get("strategy", "bfs"), STRATEGIES, "strategy"),
        asked.options.get("type"),
    )
    return Answer("tree", [plain(step["node"]) for step in steps], steps)


async def path(asked: Asked, port: Port) -> Answer:
    """The cheapest way from one node to another; null when there is none."""
    way = await port.path(asked.words["from"], asked.words["to"])
    return Answer("path", None if way is None else [plain(node) for node in way["nodes"]], way)


async def usual(port: Port, name: str) -> Any:
    """What the graph itself says about a default (`_system_config`), else what is built in."""
    _, config = await port.settings_nodes()
    return default_in(config, name)


async def number_or_usual(asked: Asked, word: str, port: Port, name: str, most: int | None = None) -> int:
    """A number that was given, or else its default."""
    given = asked.number(word, most)
    return given if given is not None else int(await usual(port, name))
