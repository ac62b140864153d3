"""Functions on nodes, relationships and paths."""

from __future__ import annotations

import uuid
from typing import Any

from ugs.cypher.functions.registry import function, wrong_type
from ugs.cypher.values.codec import decode
from ugs.cypher.values.entities import Node, Path, Relationship

ENTITY = "node|relationship"


def _entity(name: str, value: Any) -> Any:
    if isinstance(value, Node | Relationship):
        return value
    raise wrong_type(name, value)


for _name in ("id", "elementId"):
    function(_name, ENTITY, "string")(lambda value: _entity("id", value).id)


@function("labels", "node", "list<string>")
def labels(value: Any) -> list[str]:
    if isinstance(value, Node):
        return list(value.labels)
    raise wrong_type("labels", value)


@function("type", "relationship", "string")
def type_of(value: Any) -> str:
    if isinstance(value, Relationship):
        return value.type
    raise wrong_type("type", value)


@function("properties", f"{ENTITY}|map", "map")
def properties(value: Any) -> dict[str, Any]:
    return dict(value if isinstance(value, dict) else _entity("properties", value).properties)


@function("keys", f"{ENTITY}|map", "list<string>")
def keys(value: Any) -> list[str]:
    return list(value if isinstance(value, dict) else _entity("keys", value).properties)


@function("nodes", "path", "list<node>")
def nodes(value: Any) -> list[Node]:
    if isinstance(value, Path):
        return list(value.nodes)
    raise wrong_type("nodes", value)


for _name in ("relationships", "rels"):

    @function(_name, "path", "list<relationship>")
    def relationships(value: Any) -> list[Relationship]:
        if isinstance(value, Path):
            return list(value.relationships)
        raise wrong_type("relationships", value)


@function("startNode", "relationship", "node", live=True)
def start_node(run: Any, value: Any) -> Any:
    if isinstance(value, Relationship):
        return run.graph.node(value.start)
    raise wrong_type("startNode", value)


@function("endNode", "relationship", "node", live=True)
def end_node(run: Any, value: Any) -> Any:
    if isinstance(value, Relationship):
        return run.graph.node(value.end)
    raise wrong_type("endNode", value)


@function("weight", "relationship", "number")
def weight(value: Any) -> Any:
    """The weight of an edge, which is no property."""
    if isinstance(value, Relationship):
        return getattr(value.row, "weight", None)
    raise wrong_type("weight", value)


@function("data", "node")
def data(value: Any) -> Any:
    """The payload of a node, which is no property."""
    if isinstance(value, Node):
        return decode(getattr(value.row, "data", None))
    raise wrong_type("data", value)


@function("created", ENTITY, "integer")
def created(value: Any) -> Any:
    """When the element was added, in Unix milliseconds."""
    return getattr(_entity("created", value).row, "created", None)


@function("modified", ENTITY, "integer")
def modified(value: Any) -> Any:
    """When the element was last changed, in Unix milliseconds."""
    return getattr(_entity("modified", value).row, "modified", None)


@function("randomUUID", "", "string", live=True)
def random_uuid(run: Any) -> str:
    return str(uuid.UUID(int=run.random.getrandbits(128), version=4))


@function("timestamp", "", "integer", live=True)
def timestamp(run: Any) -> int:
    return int(run.now_ns // 1_000_000)
