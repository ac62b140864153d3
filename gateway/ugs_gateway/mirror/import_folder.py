"""Import of a folder that another program of seed 004 kept: registry, ontology and content without a log (C-124)."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from ugs.errors import StorageIOError, UgsError
from ugs.feature import CommandWarning
from ugs.graph.content import BASE64, MARKDOWN, UTF8, NewContent
from ugs.ontology.commands.import_memory import ImportedElement, ImportMemory
from ugs.ontology.commands.ontologies import CreateOntology
from ugs.ontology.errors import DEFAULT, ContentReadFailed
from ugs.ontology.yaml_format import from_yaml
from ugs.system import System
from ugs.values import FORBIDDEN_TEXT
from ugs_gateway.mirror import folders
from ugs_gateway.mirror.folders import ONTOLOGY, REGISTRY

IMPORTED_REGISTRY = "_system/registry.taken-over.json"


class _Content(Struct):
    path: str
    format: str = MARKDOWN
    encoding: str | None = None


class _Record(Struct):
    id: str
    type: str
    created: str
    modified: str
    properties: dict[str, Any] = {}
    content: _Content | None = None
    source: str | None = field(default=None, name="from")
    target: str | None = field(default=None, name="to")


class _Registry(Struct):
    nodes: dict[str, _Record]
    connections: dict[str, _Record] = {}


async def import_folder(base: Path, system: System, ontology: str = DEFAULT) -> list[CommandWarning]:
    """Import the folder, if it has a registry and the system is still empty."""
    async with system.session() as session:
        begun = (await session.head()).position > 0
    text = None if begun else folders.read_file(base, REGISTRY)
    if text is None:
        return []
    try:
        command = _command(base, text, ontology)
        done = await system.execute(command)
    except (UgsError, msgspec.DecodeError) as error:
        reason = error.message if isinstance(error, UgsError) else str(error)
        raise StorageIOError(
            f"{base} holds a registry that cannot be taken over, and it is left alone: {reason}"
        ) from error
    folders.replace(base, IMPORTED_REGISTRY, text)
    return done.warnings


def _command(base: Path, text: bytes, name: str) -> ImportMemory:
    registry = msgspec.json.decode(text, type=_Registry)
    yaml = folders.read_file(base, ONTOLOGY)
    return ImportMemory(
        ontology=None if yaml is None else _ontology(name, yaml),
        nodes=tuple(_to_element(base, one) for one in registry.nodes.values()),
        connections=tuple(_to_element(base, one) for one in registry.connections.values()),
    )


def _ontology(name: str, yaml: bytes) -> CreateOntology:
    document = from_yaml(yaml.decode(errors="replace"))
    return CreateOntology(
        name=name,
        node_types=tuple(document.node_types),
        connection_types=tuple(document.connection_types),
        properties=tuple(document.properties),
    )


def _to_element(base: Path, record: _Record) -> ImportedElement:
    return ImportedElement(
        record.id,
        record.type,
        _millis(record.created),
        _millis(record.modified),
        record.properties,
        None if record.content is None else _content(base, record.content),
        record.source,
        record.target,
    )


def _millis(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise StorageIOError(f"{text[:40]!r} is not a time") from error
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000)


def _content(base: Path, record: _Content) -> NewContent:
    folder, _, name = record.path.rpartition("/")
    data = folders.read_file(base, record.path) if folder in (folders.NODES, folders.CONNECTIONS) and name else None
    if data is None:
        raise ContentReadFailed(f"The content file {record.path[:200]} cannot be read")
    text = None if record.encoding == BASE64 else _text(data)
    if text is not None:
        return NewContent(text, record.format, UTF8)
    return NewContent(base64.b64encode(data).decode(), record.format, BASE64)


def _text(data: bytes) -> str | None:
    """The bytes as text, if they are valid text that can be stored."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if FORBIDDEN_TEXT.search(text) else text
