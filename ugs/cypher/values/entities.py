"""Nodes, relationships and paths as values of a query. Two are the same when their ids are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ugs.cypher.values.codec import LABELS, stored_properties, to_visible_properties

DEFAULT_TYPE = "RELATED"
"""The relationship type of an edge that has none."""


class Element:
    """What a node and a relationship have in common: an id and properties, decoded as far as they are asked for."""

    __slots__ = ("_properties", "_stored", "_text", "id", "row")

    def __init__(self, id: str, text: str, row: Any) -> None:
        self.id = id
        self.row = row
        self._text = text
        self._stored: dict[str, Any] | None = None
        self._properties: dict[str, Any] | None = None

    @property
    def properties(self) -> dict[str, Any]:
        if self._properties is None:
            self._properties = to_visible_properties(self._decoded())
        return self._properties

    def value(self, key: str) -> Any:
        """One property; most are stored as what they are."""
        if self._properties is None:
            value = self._decoded().get(key)
            if not isinstance(value, dict | list) and key != LABELS:
                return value
        return self.properties.get(key)

    @property
    def stored_chars(self) -> int:
        """How long the properties are as text."""
        return len(self._text)

    def _decoded(self) -> dict[str, Any]:
        if self._stored is None:
            self._stored = stored_properties(self._text)
        return self._stored


class Node(Element):
    """A node: its id, its labels, and its properties."""

    __slots__ = ("labels",)

    def __init__(self, id: str, labels: tuple[str, ...], text: str, row: Any = None) -> None:
        super().__init__(id, text, row)
        self.labels = labels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.id == self.id

    def __hash__(self) -> int:
        return hash(("node", self.id))

    def __repr__(self) -> str:
        return f"Node({self.id})"


class Relationship(Element):
    """An edge: its id, its type, the ids of its ends, and its properties."""

    __slots__ = ("end", "start", "type")

    def __init__(self, id: str, type: str, start: str, end: str, text: str, row: Any = None) -> None:
        super().__init__(id, text, row)
        self.type = type
        self.start = start
        self.end = end

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


def count_stored_chars(elements: Iterable[Element]) -> int:
    """How long the properties of all these are as text."""
    return sum([len(one._text) for one in elements])
