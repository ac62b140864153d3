"""The history of an ontology: its types and property definitions in the order in which they were added.

Names that are derived from an ontology in this order are stable: a later type yields to an earlier one, so no name that
was once assigned ever changes.
"""

from __future__ import annotations

from operator import itemgetter

import msgspec
from msgspec import Struct

from ugs.ontology.definition import AS_ADDED, ConnectionType, TableReader, connection_type_of
from ugs.ontology.errors import OntologyNotFound
from ugs.ontology.model import CONNECTION_TYPES, NODE_TYPES, ONTOLOGIES, PROPERTIES
from ugs.ontology.properties import Owner, PropertyDefinition
from ugs.reads.filters import eq
from ugs.tables import Row


class NodeTypeAdded(Struct, frozen=True):
    """A node type was added."""

    name: str


class ConnectionTypeAdded(Struct, frozen=True):
    """A connection type was added."""

    type: ConnectionType


class PropertyAdded(Struct, frozen=True):
    """A property of a type was defined."""

    owner: Owner
    type: str
    definition: PropertyDefinition


Addition = NodeTypeAdded | ConnectionTypeAdded | PropertyAdded


async def list_additions(reader: TableReader, name: str) -> list[Addition]:
    """Everything that was ever added to an ontology, oldest first."""
    if await reader.find(ONTOLOGIES, name) is None:
        raise OntologyNotFound(name)
    ours = eq("ontology", name)
    steps = []
    for rank, table in enumerate((NODE_TYPES, CONNECTION_TYPES, PROPERTIES)):
        rows = await reader.fetch(table, ours, AS_ADDED)
        steps += [((row.position, rank, row.place), _to_addition(rank, row)) for row in rows]
    return [step for _, step in sorted(steps, key=itemgetter(0))]


def _to_addition(rank: int, row: Row) -> Addition:
    if rank == 0:
        return NodeTypeAdded(row.name)
    if rank == 1:
        return ConnectionTypeAdded(connection_type_of(row))
    definition = msgspec.json.decode(row.definition, type=PropertyDefinition)
    return PropertyAdded(Owner(row.owner), row.type, definition)
