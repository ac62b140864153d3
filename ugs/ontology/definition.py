"""An ontology with all its types, loaded from the tables: which types there are and what may be connected.

Loaded from a unit of work or a session alike; the checks themselves read nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from ugs.ontology.errors import (
    DEFAULT,
    InvalidConnectionType,
    InvalidNodeType,
    InvalidTopology,
    OntologyNotFound,
    RequiredPropertyMissing,
    format_names,
)
from ugs.ontology.model import (
    CONNECTION_TYPES,
    NODE_TYPES,
    ONTOLOGIES,
    PROPERTIES,
    ConnectionTypeRow,
    Enforcement,
    OntologyRow,
    PropertyRow,
)
from ugs.ontology.properties import Definitions, Owner, PropertyDefinition
from ugs.reads.filters import EVERYTHING, Where, eq, in_
from ugs.reads.plan import Order
from ugs.tables import Row, Table

AS_ADDED = (Order("position"), Order("place"))


class TableReader(Protocol):
    """The two read operations that loading needs; a unit of work and a session have both."""

    async def find(self, table: Table, key: Any) -> Row | None: ...

    async def fetch(self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = ()) -> list[Row]: ...


class ConnectionType(Struct, frozen=True):
    """A connection type: allowed source and target node types, required properties, whether cycles are allowed."""

    name: str
    from_types: tuple[str, ...]
    to_types: tuple[str, ...]
    required_properties: tuple[str, ...] = ()
    acyclic: bool = False

    def as_json(self) -> dict[str, Any]:
        """The seed's JSON shape; flags that are not set are absent."""
        told: dict[str, Any] = {
            "name": self.name,
            "from_types": list(self.from_types),
            "to_types": list(self.to_types),
        }
        if self.required_properties:
            told["required_properties"] = list(self.required_properties)
        if self.acyclic:
            told["acyclic"] = True
        return told

    def allows(self, source: str | None, target: str | None) -> bool:
        return source in self.from_types and target in self.to_types

    def check_ends(self, source: str | None, target: str | None) -> None:
        """Refuse end nodes of the wrong types; the error lists the valid ones (C-120)."""
        if self.allows(source, target):
            return
        hints = []
        if source not in self.from_types:
            hints.append(f"Valid sources: {format_names(self.from_types)}")
        if target not in self.to_types:
            hints.append(f"Valid targets: {format_names(self.to_types)}")
        raise InvalidTopology(
            f"Cannot connect {source or '(none)'} to {target or '(none)'} with {self.name}. {'. '.join(hints)}",
            type=self.name,
            valid_sources=list(self.from_types),
            valid_targets=list(self.to_types),
        )

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse if a required property is missing."""
        missing = [name for name in self.required_properties if name not in properties]
        if missing:
            raise RequiredPropertyMissing(self.name, self.required_properties, missing)


class TypeProperties(Struct, frozen=True):
    """The property definitions of one type."""

    owner: Owner
    type: str
    definitions: Definitions

    def as_json(self) -> dict[str, Any]:
        told: dict[str, Any] = msgspec.to_builtins(self)
        return told


class Ontology(Struct, frozen=True):
    """A named set of types, in the order in which they were added."""

    name: str
    node_types: tuple[str, ...]
    connection_types: tuple[ConnectionType, ...]
    enforcement: Enforcement
    created: int
    properties: tuple[TypeProperties, ...] = ()
    """Only the types that have property definitions."""

    def as_json(self) -> dict[str, Any]:
        """The seed's JSON shape; property definitions are added where there are some."""
        told: dict[str, Any] = {
            "node_types": list(self.node_types),
            "connection_types": [type.as_json() for type in self.connection_types],
        }
        if self.properties:
            told["properties"] = [one.as_json() for one in self.properties]
        return told

    def definitions(self, owner: Owner, type: str | None) -> Definitions:
        """The property definitions of a type; empty if there are none."""
        return next((one.definitions for one in self.properties if (one.owner, one.type) == (owner, type)), ())

    def find_connection_type(self, name: str | None) -> ConnectionType | None:
        return next((type for type in self.connection_types if type.name == name), None)

    def check_node_type(self, name: str | None) -> None:
        if name not in self.node_types:
            raise InvalidNodeType(name, self.node_types)

    def connection_type(self, name: str | None) -> ConnectionType:
        found = self.find_connection_type(name)
        if found is None:
            raise InvalidConnectionType(name, [type.name for type in self.connection_types])
        return found

    def is_valid(self, connection_type: str, source: str, target: str) -> bool:
        """Whether the connection could be made; unknown type names give False (C-123)."""
        type = self.find_connection_type(connection_type)
        known = source in self.node_types and target in self.node_types
        return type is not None and known and type.allows(source, target)


async def find_ontology(reader: TableReader, name: str = DEFAULT) -> Ontology | None:
    """The ontology with this name, or None."""
    row: OntologyRow | None = await reader.find(ONTOLOGIES, name)
    return None if row is None else await _load_one(reader, row)


async def get_ontology(reader: TableReader, name: str = DEFAULT) -> Ontology:
    """The ontology with this name; refused if there is none."""
    found = await find_ontology(reader, name)
    if found is None:
        raise OntologyNotFound(name)
    return found


async def list_ontologies(reader: TableReader, where: Where = EVERYTHING) -> list[Ontology]:
    """All ontologies that meet a condition, by name."""
    rows: list[OntologyRow] = await reader.fetch(ONTOLOGIES, where)
    return await _load(reader, rows, EVERYTHING) if rows else []


async def find_ontologies(reader: TableReader, names: Iterable[str]) -> dict[str, Ontology]:
    """The existing ontologies among these names, in four reads however many there are."""
    wanted = sorted(set(names))
    rows: list[OntologyRow] = await reader.fetch(ONTOLOGIES, in_("name", wanted))
    found = await _load(reader, rows, in_("ontology", wanted)) if rows else []
    return {ontology.name: ontology for ontology in found}


async def _load_one(reader: TableReader, row: OntologyRow) -> Ontology:
    (found,) = await _load(reader, [row], eq("ontology", row.name))
    return found


async def _load(reader: TableReader, rows: Sequence[OntologyRow], theirs: Where) -> list[Ontology]:
    types = await reader.fetch(NODE_TYPES, theirs, AS_ADDED)
    connections = await reader.fetch(CONNECTION_TYPES, theirs, AS_ADDED)
    properties = await reader.fetch(PROPERTIES, theirs, AS_ADDED)
    return [_build_ontology(row, types, connections, properties) for row in rows]


def _build_ontology(
    row: OntologyRow, types: Sequence[Row], connections: Sequence[Row], properties: Sequence[PropertyRow]
) -> Ontology:
    defined: dict[tuple[str, str], list[PropertyDefinition]] = {}
    for one in properties:
        if one.ontology == row.name:
            found = msgspec.json.decode(one.definition, type=PropertyDefinition)
            defined.setdefault((one.owner, one.type), []).append(found)
    return Ontology(
        row.name,
        tuple(type.name for type in types if type.ontology == row.name),
        tuple(connection_type_of(type) for type in connections if type.ontology == row.name),
        Enforcement(row.enforcement),
        row.created,
        tuple(TypeProperties(Owner(owner), type, tuple(found)) for (owner, type), found in defined.items()),
    )


def connection_type_of(row: ConnectionTypeRow) -> ConnectionType:
    return ConnectionType(
        row.name, tuple(row.from_types), tuple(row.to_types), tuple(row.required_properties), row.acyclic
    )
