"""Completion of commands, options, ids, types, property keys and scopes, for the prompt and for shells."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from ugs_gateway.cli.clients import GraphClient, Record
from ugs_gateway.cli.command_table import NAMES, find_command
from ugs_gateway.cli.help import TOPICS
from ugs_gateway.cli.input.arguments import Usage, parse_usage
from ugs_gateway.cli.output.mode import MODES

SCOPES = ("user", "project", "scratch", "default")
MAX_NAMES = 1_000
IDS, NODES, TYPES, KEYS, ADDRESSES, PROPERTIES = "ids", "nodes", "types", "keys", "addresses", "properties"
AT_NODES = ("neighbors", "traverse", "send")
"""Commands that start at a node, never at an edge."""

WORDS: dict[str, str | tuple[str, ...]] = {
    "id": IDS,
    "from": NODES,
    "to": NODES,
    "element": IDS,
    "address": ADDRESSES,
    "type": TYPES,
    "of": TYPES,
    "key": KEYS,
    "props": PROPERTIES,
    "scope": SCOPES,
    "direction": ("outgoing", "incoming", "both"),
    "strategy": ("bfs", "dfs"),
    "topic": (*NAMES, *TOPICS),
    "actor": MODES,
}
"""The kind of value of each argument or option of a usage line."""


class Vocabulary(NamedTuple):
    """The names in a graph that can be completed."""

    nodes: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    def words(self, kind: str) -> list[str]:
        """The candidates of a kind."""
        ids = [*self.nodes, *self.edges]
        if kind in (IDS, ADDRESSES):
            return ids if kind == IDS else [f"@({id})" for id in ids]
        if kind == PROPERTIES:
            return [f"{key}=" for key in self.keys]
        return list(getattr(self, kind))


async def load_vocabulary(client: GraphClient) -> Vocabulary:
    """Load the first names of a graph, a bounded number."""
    nodes = await _first_page(client.nodes())
    edges = await _first_page(client.edges())
    types = sorted({node["type"] for node in nodes if node["type"] is not None})
    return Vocabulary(_ids(nodes), _ids(edges), tuple(types), tuple(await client.property_keys()))


def _ids(elements: list[Record]) -> tuple[str, ...]:
    return tuple(element["id"] for element in elements)


async def _first_page(pages: AsyncIterator[list[Record]]) -> list[Record]:
    found: list[Record] = []
    async for page in pages:
        found += page
        if len(found) >= MAX_NAMES:
            break
    return found[:MAX_NAMES]


def complete(before: Sequence[str], word: str, known: Vocabulary) -> list[str]:
    """The words that may follow and begin with the typed text."""
    if not before:
        return _with_prefix(NAMES, word)
    if before[0] == "help":
        return _with_prefix([*NAMES, *TOPICS], word)
    entry = find_command(before[0])
    if entry is None or not entry.is_operation:
        return []
    usage = parse_usage(entry.usage)
    if word.startswith("--"):
        return _with_prefix([f"--{name}" for name in usage.options], word)
    known = known._replace(edges=()) if entry.name in AT_NODES else known
    return _with_prefix(_candidates(_expected(usage, before[1:]), known), word)


def wants_graph(before: Sequence[str]) -> bool:
    """Whether completing the next word needs names of the graph."""
    entry = find_command(before[0]) if before else None
    if entry is None or not entry.is_operation:
        return False
    return any(isinstance(WORDS.get(name, ()), str) for name in _expected(parse_usage(entry.usage), before[1:]))


def _expected(usage: Usage, before: Sequence[str]) -> list[str]:
    """The names of the arguments that may follow these words."""
    last = before[-1] if before else ""
    if last.startswith("--") and usage.options.get(last[2:]) is not None:
        return [last[2:]]
    plain = [
        word
        for place, word in enumerate(before)
        if not word.startswith("--") and not _is_value(usage, before[place - 1] if place else "")
    ]
    names = (*usage.needed, *usage.optional)
    if len(plain) < len(usage.needed):
        return [names[len(plain)]]
    return [*names[len(plain) : len(plain) + 1], *([usage.rest] if usage.rest else [])]


def _is_value(usage: Usage, previous: str) -> bool:
    return previous.startswith("--") and usage.options.get(previous[2:]) is not None


def _candidates(names: Sequence[str], known: Vocabulary) -> list[str]:
    found: list[str] = []
    for name in names:
        kind = WORDS.get(name, ())
        found += known.words(kind) if isinstance(kind, str) else kind
    return found


def _with_prefix(candidates: Sequence[str], word: str) -> list[str]:
    return sorted({candidate for candidate in candidates if candidate.startswith(word)})
