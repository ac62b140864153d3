"""Nodes, relationships and paths as values of a query. Two are the same when their ids are."""

from __future__ import annotations

from typing import Any

from ugs.cypher.values.stored import decode_properties

DEFAULT_TYPE = "RELATED"
"""The relationship type of an edge that has none."""


class Node:
    """A node: its id, its labels, and its properties, decoded when first asked for."""

    __slots__ = ("_properties", "_text", "id", "labels", "row")

    def __init__(self, id: str, labels: tuple[str, ...], text: str, row: Any = None) -> None:
        self.id = id
        self.labels = labels
        self._text = text
        self._properties: dict[str, Any] | None = None
        self.row = row

    @property
    def properties(self) -> dict[str, Any]:
        if self._properties is None:
            self._properties = decode_properties(self._text)
        return self._properties

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.id == self.id

    def __hash__(self) -> int:
        return hash(("node", self.id))

    def __repr__(self) -> str:
        return f"Node({self.id})"


class Relationship:
    """An edge: its id, its type, the ids of its ends, and its properties."""

    __slots__ = ("_properties", "_text", "end", "id", "row", "start", "type")

    def __init__(self, id: str, type: str, start: str, end: str, text: str, row: Any = None) -> None:
        self.id = id
        self.type = type
        self.start = start
        self.end = end
        self._text = text
        self._properties: dict[str, Any] | None = None
        self.row = row

    @property
    def properties(self) -> dict[str, Any]:
        if self._properties is None:
            self._properties = decode_properties(self._text)
        return self._properties

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Relationship) and other.id == self.id

    def __hash__(self) -> int:
        return hash(("relationship", self.id))

    def __repr__(self) -> str:
        return f"Relationship({self.id})"


class Path:
    """A walk: nodes, and the relationships between each two."""

    __slots__ = ("nodes", "relationships")

    def __init__(self, nodes: tuple[Node, ...], relationships: tuple[Relationship, ...]) -> None:
        self.nodes = nodes
        self.relationships = relationships

    def __len__(self) -> int:
        return len(self.relationships)

    def __bool__(self) -> bool:
        return True

    @property
    def elements(self) -> list[Node | Relationship]:
        """Nodes and relationships in turn."""
        mixed: list[Node | Relationship] = [self.nodes[0]]
        for relationship, node in zip(self.relationships, self.nodes[1:], strict=True):
            mixed += [relationship, node]
        return mixed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and other.nodes == self.nodes and other.relationships == self.relationships

    def __hash__(self) -> int:
        return hash((self.nodes, self.relationships))

    def __repr__(self) -> str:
        return f"Path({', '.join(element.id for element in self.elements)})"


Entity = Node | Relationship
