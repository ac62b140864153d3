"""The texts behind vectors: what a node says about itself, and passages of contents and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ugs.facts.model import Entity, Note
from ugs.graph.bodies import ContentBody
from ugs.graph.model import Node
from ugs.graph.naming import NAMING, label_of
from ugs.graph.text import text_leaves
from ugs.values import Json

TEXTS = 1
"""Another number whenever a row would give other texts: vectors stored under the old one are made anew."""
FIRST = (*NAMING, "description")
LONGEST_NODE = 2_000
PASSAGE = 1_000
MOST_PASSAGES = 256
"""Of one content; what follows is found by its words only."""


def node_text(id: str, labels: Iterable[str], properties: Mapping[str, Json]) -> str:
    """A node in one text: its label and description first, then its type and every other text of its properties."""
    first = [label_of(id, properties), properties.get("description")]
    rest = [value for key, value in sorted(properties.items()) if key not in FIRST]
    told = "\n".join(text for text in [*first, *labels, *text_leaves(rest)] if isinstance(text, str))
    return told[:LONGEST_NODE]


def node_texts(node: Node) -> list[str]:
    return [node_text(node.id, [] if node.type is None else [node.type], node.properties)]


def entity_texts(entity: Entity) -> list[str]:
    return [entity.canonical if entity.kind is None else f"{entity.canonical}\n{entity.kind}"]


def content_passages(content: ContentBody) -> list[str]:
    """Passages of textual content; what is not text says nothing."""
    return [] if content.folded is None else list(passages(content.body))


def note_passages(note: Note) -> list[str]:
    return list(passages(note.text))


def passages(text: str) -> Iterator[str]:
    """A text in pieces of bounded length, cut between words where there are any."""
    start = 0
    for _ in range(MOST_PASSAGES):
        end = start + PASSAGE
        if end < len(text):
            cut = max(text.rfind("\n", start + PASSAGE // 2, end), text.rfind(" ", start + PASSAGE // 2, end))
            end = cut if cut > start else end
        if start >= len(text):
            return
        yield text[start:end]
        start = end
