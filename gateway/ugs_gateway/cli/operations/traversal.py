"""Traversal (seed §6.3, §7)."""

from __future__ import annotations

from typing import Any

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.lazy_imports import default_in
from ugs_gateway.cli.output.near_ids import warn_if_unknown
from ugs_gateway.cli.output.results import Answer, list_answer, select_keys

DIRECTIONS = ("outgoing", "incoming", "both")
STRATEGIES = ("bfs", "dfs")


async def neighbors(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Nodes next to a node; the direction is outgoing, incoming or both (default), --type follows one type of edge."""
    direction = arguments.get("direction") or await default_of(client, "neighbors_direction")
    way = parse_choice(direction, DIRECTIONS, "direction")
    return list_answer(await client.neighbors(arguments.words["id"], way, arguments.options.get("type")))


async def traverse(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Nodes within a number of steps, the start first.

    --depth is 3 unless told, any number goes; at most 100,000 nodes are told. --direction is outgoing (or incoming,
    both); --strategy bfs goes level by level, dfs branch by branch; --type follows one type of edge. The node
    `_system_config` can set other defaults.
    """
    direction = arguments.options.get("direction") or await default_of(client, "traverse_direction")
    steps = await client.traverse(
        arguments.words["id"],
        await number_or_default(arguments, "depth", client, "traverse_depth"),
        parse_choice(direction, DIRECTIONS, "direction"),
        parse_choice(arguments.options.get("strategy", "bfs"), STRATEGIES, "strategy"),
        arguments.options.get("type"),
    )
    return Answer("tree", [select_keys(step["node"]) for step in steps], steps)


async def path(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """The cheapest way from one node to another; null when there is none."""
    ends = arguments.words["from"], arguments.words["to"]
    way = await client.path(*ends)
    if way is None:
        unknown = [await warn_if_unknown(end, client) for end in ends]
        return Answer("path", None, None, tuple(warning for warning in unknown if warning is not None))
    return Answer("path", [select_keys(node) for node in way["nodes"]], way)


async def default_of(client: GraphClient, name: str) -> Any:
    """A default value: from the graph's `_system_config`, else built in."""
    _, config = await client.settings_nodes()
    return default_in(config, name)


async def number_or_default(arguments: ParsedArguments, word: str, client: GraphClient, name: str) -> int:
    """The given number or its default; negative numbers are refused."""
    given = arguments.number(word)
    if given is not None and given < 0:
        raise InvalidSyntax(f"{word} must not be negative, got {given}")
    return given if given is not None else int(await default_of(client, name))
