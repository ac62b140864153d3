"""The working graph W: nodes and links with the seed's field names.

Properties without a field of their own are in `properties`. Absent values are left out of the JSON.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

LinkKey = tuple[str, str, str]


class RawNode(Struct, frozen=True, omit_defaults=True, gc=False):
    """A node of W, identified by its `concept_id`."""

    concept_id: str
    label: str
    ontology: str | None = None
    description: str | None = None
    properties: dict[str, Any] = field(default_factory=dict)


class RawLink(Struct, frozen=True, omit_defaults=True, gc=False):
    """A link of W, identified by its ends and its type."""

    from_id: str
    to_id: str
    relationship_type: str
    category: str | None = None
    confidence: float | None = None
    grounding_strength: float | None = None
    properties: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> LinkKey:
        return self.from_id, self.relationship_type, self.to_id


class WorkingGraph(Struct):
    """Nodes and links in the order in which they were added."""

    nodes: list[RawNode] = field(default_factory=list)
    links: list[RawLink] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.nodes and not self.links

    @property
    def ids(self) -> list[str]:
        """The value of `$W_IDS`."""
        return [node.concept_id for node in self.nodes]

    def copy(self) -> WorkingGraph:
        """A copy that later changes of this graph do not affect."""
        return WorkingGraph(list(self.nodes), list(self.links))

    def sorted(self) -> WorkingGraph:
        """A copy ordered by id, for results without a defined order: equal on every store."""
        nodes = sorted(self.nodes, key=lambda node: node.concept_id)
        return WorkingGraph(nodes, sorted(self.links, key=lambda link: link.key))

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = msgspec.to_builtins(self)
        return shown
