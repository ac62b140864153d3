"""Questions that the ordinary operations answer from a glance: their own code, on a port without an open store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from importlib import import_module
from typing import Any, cast

from gateway.cli.answers import Answer
from gateway.cli.commands import find_command
from gateway.cli.ports import Port, Record
from gateway.cli.usage import read_usage, read_words
from gateway.cli.voices import voice_of
from ugs.errors import UgsError
from ugs.graph.glimpse import Glimpse


def answered_in_passing(words: Sequence[str], graph: Glimpse, mode: str) -> str | None:
    """What a question's operation answers; None when it is refused, which the ordinary way tells best."""
    entry = find_command(words[0])
    assert entry is not None
    operation = getattr(import_module(entry.module), entry.function)
    try:
        asked = read_words(read_usage(entry.usage), words[1:])
        answer = at_once(operation(asked, cast(Port, GlimpsePort(graph))))
    except UgsError:
        return None
    return voice_of(mode).format_answer(answer)


def at_once(work: Coroutine[Any, Any, Answer]) -> Answer:
    """The result of a coroutine that has nothing to wait for, and so needs no event loop."""
    try:
        work.send(None)
    except StopIteration as done:
        answer: Answer = done.value
        return answer
    work.close()
    raise ValueError("a glance does not wait")


class GlimpsePort:
    """As much of a port as the questions ask of it."""

    def __init__(self, graph: Glimpse) -> None:
        self.graph = graph

    async def element(self, id: str) -> Record | None:
        """The node or edge with this id."""
        if id in self.graph.nodes:
            return node_record(self.graph.nodes[id])
        return edge_record(self.graph.edges[id]) if id in self.graph.edges else None

    async def nodes(self, type: str | None = None, scope: str | None = None) -> AsyncIterator[list[Record]]:
        """Nodes by id, in one page."""
        found = [node for node in self.graph.nodes.values() if type is None or node["type"] == type]
        if scope is not None or not found:
            raise ValueError("whether it is a scope, or a type at all, is the kernel's business")
        yield self._records(found)

    async def roots(self) -> list[Record]:
        """Nodes at which no edge arrives."""
        reached = {edge["to"] for edge in self.graph.edges.values()}
        return self._records(node for id, node in self.graph.nodes.items() if id not in reached)

    async def property_keys(self) -> list[str]:
        """All property keys of nodes."""
        return self.graph.property_keys()

    def _records(self, nodes: Iterable[Record]) -> list[Record]:
        return sorted(map(node_record, nodes), key=lambda node: str(node["id"]))


def node_record(row: Record) -> Record:
    """A node as commands know it."""
    return {key: row[key] for key in ("id", "type", "properties", "data", "created", "modified", "version")}


def edge_record(row: Record) -> Record:
    """An edge as commands know it."""
    keys = ("id", "from", "to", "type", "weight", "properties", "created", "modified", "version")
    return {key: row[key] for key in keys}
