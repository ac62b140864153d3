"""Errors of typed memory, with the codes and messages of the seed."""

from __future__ import annotations

from collections.abc import Sequence

from ugs.errors import EdgeNotFound, NodeNotFound, StorageIOError, UgsError
from ugs.errors import InvalidArgument as InvalidArgument
from ugs.errors import InvalidEncoding as InvalidEncoding

DEFAULT = "default"


def format_names(names: Sequence[str]) -> str:
    """Names as the seed's messages show them: comma-separated in brackets."""
    return f"[{', '.join(names)}]"


class OntologyNotFound(UgsError):
    """The ontology must be created first."""

    code = "ONTOLOGY_NOT_FOUND"
    summary = "Ontology must be created before using graph operations"

    def __init__(self, name: str = DEFAULT) -> None:
        which = "Ontology" if name == DEFAULT else f"Ontology {name[:80]}"
        super().__init__(f"{which} has not been created yet. Create it before using graph operations.", ontology=name)


class OntologyAlreadyExists(UgsError):
    """An ontology is created once and then only grows."""

    code = "ONTOLOGY_ALREADY_EXISTS"
    summary = "Cannot create ontology twice"

    def __init__(self, name: str = DEFAULT) -> None:
        which = "Ontology" if name == DEFAULT else f"Ontology {name}"
        super().__init__(f"{which} already exists. Add types to it instead of creating it again.", ontology=name)


class TypeAlreadyExists(UgsError):
    """The name is defined already, and definitions never change."""

    code = "TYPE_ALREADY_EXISTS"
    summary = "Type name already defined in ontology"

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"{kind.capitalize()} type already exists in ontology: {name}", type=name)


class InvalidNodeType(UgsError):
    """The ontology has no such node type."""

    code = "INVALID_NODE_TYPE"
    summary = "Node type doesn't exist in ontology"

    def __init__(self, name: str | None, valid: Sequence[str]) -> None:
        shown = "(none)" if name is None else name[:256]
        super().__init__(
            f"Node type does not exist in ontology: {shown}. Valid types: {format_names(valid)}",
            type=name,
            valid=[*valid],
        )


class InvalidConnectionType(UgsError):
    """The ontology has no such connection type."""

    code = "INVALID_CONNECTION_TYPE"
    summary = "Connection type doesn't exist in ontology"

    def __init__(self, name: str | None, valid: Sequence[str]) -> None:
        shown = "(none)" if name is None else name[:256]
        super().__init__(
            f"Connection type does not exist in ontology: {shown}. Valid types: {format_names(valid)}",
            type=name,
            valid=[*valid],
        )


class InvalidTopology(UgsError):
    """The connection type does not lead from the one node type to the other."""

    code = "INVALID_TOPOLOGY"
    summary = "Source/target node types incompatible with connection type"


class RequiredPropertyMissing(UgsError):
    """The connection type requires properties that were not given."""

    code = "REQUIRED_PROPERTY_MISSING"
    summary = "Connection type requires properties that weren't provided"

    def __init__(self, name: str, required: Sequence[str], missing: Sequence[str], kind: str = "connection") -> None:
        wanted, absent = format_names(required), format_names(missing)
        super().__init__(
            f"{kind.capitalize()} type {name} requires properties: {wanted}. Missing: {absent}",
            required=[*required],
            missing=[*missing],
        )


class MemoryNodeNotFound(NodeNotFound):
    """There is no node with this id."""

    code = "NODE_NOT_FOUND"
    summary = "Node ID doesn't exist in registry"

    def __init__(self, id: str) -> None:
        UgsError.__init__(self, f"Node not found: {str(id)[:256]}", node_id=str(id)[:256])


class ConnectionNotFound(EdgeNotFound):
    """There is no connection with this id."""

    code = "CONNECTION_NOT_FOUND"
    summary = "Connection ID doesn't exist in registry"

    def __init__(self, id: str) -> None:
        UgsError.__init__(self, f"Connection not found: {str(id)[:256]}", connection_id=str(id)[:256])


class FileCreationFailed(StorageIOError):
    """The content file could not be written; nothing was stored."""

    code = "FILE_CREATION_FAILED"
    summary = "Could not create content file"


class ContentReadFailed(StorageIOError):
    """The content file could not be read."""

    code = "CONTENT_READ_FAILED"
    summary = "Could not read content file"


class InvalidPropertyValue(UgsError):
    """Properties of typed memory are text, numbers and booleans."""

    code = "INVALID_PROPERTY_VALUE"
    summary = "Property values are string, number or boolean"

    def __init__(self, key: str, why: str, rule: str = " Values must be string, number or boolean.") -> None:
        super().__init__(f"Property {key[:80]!r} {why}.{rule}", property=key[:80])
