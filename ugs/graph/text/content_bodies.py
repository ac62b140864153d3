"""The table of content bodies, and their words for the full-text index.

Metadata of content (format, size) is in a separate table in `ugs.ontology`, so that listings never load the bodies.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ugs.graph.text.tokenizer import content_words
from ugs.tables import Field, Table


class ContentBody(Struct, frozen=True, gc=False):
    """The content as given, and case-folded for searching if it is text."""

    id: str
    kind: str
    body: str
    folded: str | None


def words_of_body(body: ContentBody) -> Mapping[str, float]:
    """The words of a node's text content; base64 and the content of edges are not indexed."""
    return {} if body.folded is None or body.kind != "node" else content_words(body.body)


CONTENT_BODIES = Table(
    "content_bodies",
    ContentBody,
    [Field("id"), Field("kind"), Field("body"), Field("folded", nullable=True, searched=True)],
    key=["id"],
    words=words_of_body,
)
