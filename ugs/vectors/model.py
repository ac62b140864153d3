"""What is embedded, and the tables that hold the vectors.

Vectors are derived from rows and can be made anew at any time. So they stand outside the state digest, are not
copied between stores, and a marker says up to which position of the log they are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ugs.catalog import Field, Kind, Relation, Row, Table
from ugs.facts.model import ENTITIES, NOTES
from ugs.graph.bodies import CONTENT_BODIES
from ugs.graph.model import NODES
from ugs.reads.near import Vector
from ugs.vectors.texts import content_passages, entity_texts, node_texts, note_passages


class Embedding(Struct, frozen=True, gc=False):
    """The vector of one passage of a row; most rows are one passage, number 0."""

    id: str
    part: int
    vector: Vector


class Progress(Struct, frozen=True, gc=False):
    """Up to which position of the log the vectors of a table are right, and whose vectors they are."""

    name: str
    embedder: str
    position: int


class Embedded(Struct, frozen=True):
    """A table whose rows have vectors."""

    table: Table
    vectors: Table
    texts: Callable[[Row], Sequence[str]]
    """The passages of a row."""


def embedded(table: Table, name: str, texts: Callable[[Row], Sequence[str]]) -> Embedded:
    """Vectors for the rows of a table, which has one text as its key."""
    (key,) = table.key
    vectors = Table(
        name,
        Embedding,
        [Field("id"), Field("part", Kind.INTEGER), Field("vector", Kind.VECTOR)],
        key=["id", "part"],
        relations=[Relation("row", table.name, local="id", remote=key, many=False)],
        derived=False,
    )
    return Embedded(table, vectors, texts)


NODE_VECTORS = embedded(NODES, "node_vectors", node_texts)
CONTENT_VECTORS = embedded(CONTENT_BODIES, "content_vectors", content_passages)
NOTE_VECTORS = embedded(NOTES, "note_vectors", note_passages)
ENTITY_VECTORS = embedded(ENTITIES, "entity_vectors", entity_texts)
EMBEDDED = (NODE_VECTORS, CONTENT_VECTORS, NOTE_VECTORS, ENTITY_VECTORS)

PROGRESS = Table(
    "vector_progress",
    Progress,
    [Field("name"), Field("embedder"), Field("position", Kind.INTEGER)],
    key=["name"],
    derived=False,
)

TABLES = (*(each.vectors for each in EMBEDDED), PROGRESS)
