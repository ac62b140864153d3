"""The registry file in the seed's format: indented JSON, one record per node and connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ugs.clock import iso
from ugs.graph.model import Edge, Node
from ugs.ontology.model import Content
from ugs_gateway.mirror.names import path_of

INDENT = " " * 4


def record(element: Node | Edge, content: Content | None) -> str:
    """One record as it stands in the file."""
    ends = {"from": element.source, "to": element.target} if isinstance(element, Edge) else {}
    told: dict[str, Any] = {
        "id": element.id,
        "type": element.type or "",
        **ends,
        "created": iso(element.created),
        "modified": iso(element.modified),
        "properties": element.properties,
    }
    if content is not None:
        told["content"] = {"path": path_of(content), "format": content.format, "encoding": content.encoding}
    text = msgspec.json.format(msgspec.json.encode(told).decode(), indent=2)
    return f'{INDENT}"{element.id}": ' + text.replace("\n", f"\n{INDENT}")


def registry_text(nodes: Mapping[str, str], connections: Mapping[str, str]) -> bytes:
    """The whole file."""
    return f'{{\n  "nodes": {_block(nodes.values())},\n  "connections": {_block(connections.values())}\n}}\n'.encode()


def _block(records: Iterable[str]) -> str:
    inside = ",\n".join(records)
    return f"{{\n{inside}\n  }}" if inside else "{}"
