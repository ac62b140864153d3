"""The result types of the tools, as JSON Schema."""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
FLAG: dict[str, Any] = {"type": "boolean"}
INSTANT: dict[str, Any] = {"type": "string", "format": "date-time"}
PROPERTIES: dict[str, Any] = {"type": "object"}


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these fields."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": [*required]}


SUCCESS = record({"success": FLAG})
NODE_ID = record({"node_id": TEXT})
CONNECTION_ID = record({"connection_id": TEXT})
NODE_IDS = record({"node_ids": TEXTS})
CONNECTION_IDS = record({"connection_ids": TEXTS})
COUNT: dict[str, Any] = {"type": "integer"}
CONTENT = record({"content": TEXT})
PART = record({"content": TEXT}, {"offset": COUNT, "total": COUNT, "next_offset": COUNT})
VALID = record({"valid": FLAG})
KNOWN = {"id": TEXT, "type": TEXT, "created": INSTANT, "modified": INSTANT, "properties": PROPERTIES}
NODE = record({**KNOWN, "content_format": TEXT})
CONNECTION = record({**KNOWN, "from_node_id": TEXT, "to_node_id": TEXT, "has_content": FLAG})
CONNECTION_TYPE = record(
    {"name": TEXT, "from_types": TEXTS, "to_types": TEXTS}, {"required_properties": TEXTS, "acyclic": FLAG}
)
ONTOLOGY = record({"node_types": TEXTS, "connection_types": {"type": "array", "items": CONNECTION_TYPE}})
