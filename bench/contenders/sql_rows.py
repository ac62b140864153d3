"""A node as rows of the tables in a database: the node, its event, its words, its properties.

Raw writers store exactly what our SQL stores keep, so that both do the same work. Their events have negative
positions, so that they lie beside the log and not in it.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from msgspec import Struct

from bench.writes import new_node
from ugs.graph.text.tokenizer import node_words
from ugs.values import to_text

EVENT_COLUMNS = ("position", "id", "timestamp", "type", "data", "element", "version", "crc")
NODE_COLUMNS = ("id", "type", "properties", "data", "created", "modified", "version")
WORD_COLUMNS = ("word", "weight", "id")
TERM_COLUMNS = ("id", "words", "weights")
PROPERTY_COLUMNS = ("key", "value", "id")
NOW = 1_760_000_000_000

_numbers = count(1)


class Written(Struct, frozen=True):
    """The rows of some nodes, by table."""

    events: list[tuple[Any, ...]]
    nodes: list[tuple[Any, ...]]
    words: list[tuple[Any, ...]]
    terms: list[tuple[Any, ...]]
    """The same words, in one row a node."""
    properties: list[tuple[Any, ...]]


def rows_of(batch: int) -> Written:
    """New nodes as rows."""
    written = Written([], [], [], [], [])
    for _ in range(batch):
        _add_node(written)
    return written


def _add_node(written: Written) -> None:
    node, position = new_node(), -next(_numbers)
    properties, data = to_text(node.properties), to_text(node.data)
    event = to_text({"id": node.id, "type": node.type, "properties": node.properties, "data": node.data})
    id = str(node.id)
    written.events.append((position, f"raw_{position}", NOW, "NodeAdded", event, id, 1, "00000000"))
    written.nodes.append((id, node.type, properties, data, NOW, NOW, 1))
    words = node_words(id, node.type, properties, data)
    written.words.extend((word, weight, id) for word, weight in words.items())
    written.terms.append((id, " ".join(words), "{" + ",".join(map(str, words.values())) + "}"))
    written.properties.extend((key, f"s{value}", id) for key, value in node.properties.items())
