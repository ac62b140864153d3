"""What content says: the rows that hold it, and the words by which a search finds its node.

What is known about content (its format, its size) stands apart in `ugs.ontology`, so that listings never load it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ugs.catalog import Field, Table
from ugs.graph.text import content_words


class ContentBody(Struct, frozen=True, gc=False):
    """The content itself, as it was given, and folded for searching when it is text."""

    id: str
    kind: str
    body: str
    folded: str | None


def words_of_body(body: ContentBody) -> Mapping[str, float]:
    """Words of text that a node says; base64 has none, and connections are not searched."""
    return {} if body.folded is None or body.kind != "node" else content_words(body.body)


CONTENT_BODIES = Table(
    "content_bodies",
    ContentBody,
    [Field("id"), Field("kind"), Field("body"), Field("folded", nullable=True, searched=True)],
    key=["id"],
    words=words_of_body,
)
