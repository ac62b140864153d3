"""The working graph W, and what a step adds to it: nodes and links in the seed's words.

What has no field of its own is in `properties`. Absent values are left out when W is written as JSON.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

LinkKey = tuple[str, str, str]


class RawNode(Struct, frozen=True, omit_defaults=True, gc=False):
    """A node of W; two are the same when their `concept_id` is."""

    concept_id: str
    label: str
    ontology: str | None = None
    description: str | None = None
    properties: dict[str, Any] = field(default_factory=dict)


class RawLink(Struct, frozen=True, omit_defaults=True, gc=False):
    """A link of W; two are the same when their ends and their type are."""

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
    """Nodes and links in the order in which they came."""

    nodes: list[RawNode] = field(default_factory=list)
    links: list[RawLink] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.nodes and not self.links

    @property
    def ids(self) -> list[str]:
        """What `$W_IDS` stands for."""
        return [node.concept_id for node in self.nodes]

    def copy(self) -> WorkingGraph:
        """The graph as it is now, whatever happens to this one later."""
        return WorkingGraph(list(self.nodes), list(self.links))

    def sorted(self) -> WorkingGraph:
        """The same by id, where nobody has said in which order things come: so every store gives the same."""
        nodes = sorted(self.nodes, key=lambda node: node.concept_id)
        return WorkingGraph(nodes, sorted(self.links, key=lambda link: link.key))

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = msgspec.to_builtins(self)
        return shown
