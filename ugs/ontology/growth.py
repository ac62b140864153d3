"""How an ontology grew: its types and definitions one by one, in the order in which they came.

Whoever derives names from an ontology and follows this order gives later ones way to earlier ones, so that nothing
that was named once is ever called otherwise.
"""

from __future__ import annotations

from operator import itemgetter

import msgspec
from msgspec import Struct

from ugs.catalog import Row
from ugs.ontology.definition import AS_ADDED, ConnectionType, Reader, connection_type_of
from ugs.ontology.errors import OntologyNotFound
from ugs.ontology.model import CONNECTION_TYPES, NODE_TYPES, ONTOLOGIES, PROPERTIES
from ugs.ontology.properties import Owner, PropertyDefinition
from ugs.reads.where import eq


class NodeTypeCame(Struct, frozen=True):
    """A node type was added."""

    name: str


class ConnectionTypeCame(Struct, frozen=True):
    """A connection type was added."""

    type: ConnectionType


class PropertyCame(Struct, frozen=True):
    """A property of a type was defined."""

    owner: Owner
    type: str
    definition: PropertyDefinition


Step = NodeTypeCame | ConnectionTypeCame | PropertyCame


async def growth_of(reader: Reader, name: str) -> list[Step]:
    """All that was ever added to an ontology, oldest first."""
    if await reader.find(ONTOLOGIES, name) is None:
        raise OntologyNotFound(name)
    ours = eq("ontology", name)
    steps = []
    for rank, table in enumerate((NODE_TYPES, CONNECTION_TYPES, PROPERTIES)):
        rows = await reader.fetch(table, ours, AS_ADDED)
        steps += [((row.position, rank, row.place), _step(rank, row)) for row in rows]
    return [step for _, step in sorted(steps, key=itemgetter(0))]


def _step(rank: int, row: Row) -> Step:
    if rank == 0:
        return NodeTypeCame(row.name)
    if rank == 1:
        return ConnectionTypeCame(connection_type_of(row))
    definition = msgspec.json.decode(row.definition, type=PropertyDefinition)
    return PropertyCame(Owner(row.owner), row.type, definition)
