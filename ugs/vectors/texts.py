"""The texts that are embedded: one for a node or entity, passages for contents and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ugs.facts.model import Entity, Note
from ugs.graph.model import Node
from ugs.graph.text.content_bodies import ContentBody
from ugs.graph.text.labels import NAMING, label_of
from ugs.graph.text.tokenizer import text_leaves
from ugs.values import Json

EXTRACTION_VERSION = 1
"""Version of the text extraction. Increase it when a row would give other texts: stored vectors are then recomputed."""
LEADING_PROPERTIES = (*NAMING, "description")
MAX_NODE_CHARS = 2_000
PASSAGE_CHARS = 1_000
MAX_PASSAGES = 256
"""Per content; the rest is found by its words only."""


def node_text(id: str, labels: Iterable[str], properties: Mapping[str, Json]) -> str:
    """A node as one text: label and description first, then its type and all other text properties."""
    first = [label_of(id, properties), properties.get("description")]
    rest = [value for key, value in sorted(properties.items()) if key not in LEADING_PROPERTIES]
    told = "\n".join(text for text in [*first, *labels, *text_leaves(rest)] if isinstance(text, str))
    return told[:MAX_NODE_CHARS]


def node_texts(node: Node) -> list[str]:
    return [node_text(node.id, [] if node.type is None else [node.type], node.properties)]


def entity_texts(entity: Entity) -> list[str]:
    return [entity.canonical if entity.kind is None else f"{entity.canonical}\n{entity.kind}"]


def content_passages(content: ContentBody) -> list[str]:
    """The passages of textual content; other content has none."""
    return [] if content.folded is None else list(passages(content.body))


def note_passages(note: Note) -> list[str]:
    return list(passages(note.text))


def passages(text: str) -> Iterator[str]:
    """A text in pieces of bounded length, split between words where possible."""
    start = 0
    for _ in range(MAX_PASSAGES):
        end = start + PASSAGE_CHARS
        if end < len(text):
            cut = max(
                text.rfind("\n", start + PASSAGE_CHARS // 2, end), text.rfind(" ", start + PASSAGE_CHARS // 2, end)
            )
            end = cut if cut > start else end
        if start >= len(text):
            return
        yield text[start:end]
        start = end
