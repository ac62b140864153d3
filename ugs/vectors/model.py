"""Which rows are embedded, and the tables that hold the vectors.

Vectors are derived from rows and can be recomputed at any time. They are therefore not part of the state digest and are
not copied between stores; a marker row holds the log position up to which they are current.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ugs.facts.model import ENTITIES, NOTES
from ugs.graph.model import NODES
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.reads.vector_search import Vector
from ugs.tables import Field, Kind, Relation, Row, Table
from ugs.vectors.texts import content_passages, entity_texts, node_texts, note_passages


class Embedding(Struct, frozen=True, gc=False):
    """The vector of one passage of a row; most rows are one passage, number 0."""

    id: str
    part: int
    vector: Vector


class Progress(Struct, frozen=True, gc=False):
    """The log position up to which the vectors of a table are current, and their vector space."""

    name: str
    embedder: str
    position: int


class EmbeddedTable(Struct, frozen=True):
    """A table whose rows have vectors."""

    table: Table
    vectors: Table
    texts: Callable[[Row], Sequence[str]]
    """Extracts the passages of a row."""


def declare_vectors(table: Table, name: str, texts: Callable[[Row], Sequence[str]]) -> EmbeddedTable:
    """Declare vectors for the rows of a table whose key is one text."""
    (key,) = table.key
    vectors = Table(
        name,
        Embedding,
        [Field("id", format=table.field(key).format), Field("part", Kind.INTEGER), Field("vector", Kind.VECTOR)],
        key=["id", "part"],
        relations=[Relation("row", table.name, local="id", remote=key, many=False)],
        derived=False,
    )
    return EmbeddedTable(table, vectors, texts)


NODE_VECTORS = declare_vectors(NODES, "node_vectors", node_texts)
CONTENT_VECTORS = declare_vectors(CONTENT_BODIES, "content_vectors", content_passages)
NOTE_VECTORS = declare_vectors(NOTES, "note_vectors", note_passages)
ENTITY_VECTORS = declare_vectors(ENTITIES, "entity_vectors", entity_texts)
EMBEDDED = (NODE_VECTORS, CONTENT_VECTORS, NOTE_VECTORS, ENTITY_VECTORS)

PROGRESS = Table(
    "vector_progress",
    Progress,
    [Field("name"), Field("embedder"), Field("position", Kind.INTEGER)],
    key=["name"],
    derived=False,
)

TABLES = (*(each.vectors for each in EMBEDDED), PROGRESS)
