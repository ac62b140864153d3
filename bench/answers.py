"""Answers as JSON bytes, written from rows.

Rows keep their JSON as text, so an answer is text put together, never a value decoded and encoded again. The other
sides of a comparison must arrive at exactly these bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ugs.graph.model import Node
from ugs.graph.paths.shortest_path import Path
from ugs.graph.text.search import Hit
from ugs.graph.traversal import Step
from ugs.values import to_text


@lru_cache(maxsize=4_096)
def to_json_text(text: str | None) -> str:
    """A type name as JSON; there are few of them."""
    return to_text(text)


def node_answer(node: Node) -> bytes:
    """All of a node."""
    # Ids are letters, digits, `_`, `-` and `:`, so they need no escaping.
    return (
        f'{{"id":"{node.id}","type":{to_json_text(node.type)},"properties":{node.properties_text},'
        f'"data":{node.data_text or "null"},"created":{node.created},"modified":{node.modified}}}'
    ).encode()


def hits_answer(hits: Iterable[Hit]) -> bytes:
    """What a search found, best first."""
    return ids_answer(hit.node.id for hit in hits)


def steps_answer(steps: Iterable[Step]) -> bytes:
    """What a traversal reached, in the order of visiting."""
    parts = [f'{{"id":"{s.node.id}","type":{to_json_text(s.node.type)},"depth":{s.depth}}}' for s in steps]
    return f"[{','.join(parts)}]".encode()


def path_answer(path: Path | None) -> bytes:
    """The ids along a path."""
    if path is None:
        return b"null"
    return ids_answer(node.id for node in path.nodes)


def ids_answer(ids: Iterable[str]) -> bytes:
    """A list of ids."""
    joined = '","'.join(ids)
    return f'["{joined}"]'.encode() if joined else b"[]"
