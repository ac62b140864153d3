"""What surrounds recalled facts and nodes, as a small graph and as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.facts.api import Facts
from ugs.facts.graph_view import Surroundings
from ugs.facts.model import Fact
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.ontology.api import Memory
from ugs.reads.filters import any_of, in_
from ugs.reads.plan import Order, Page
from ugs.storage import Session

MAX_IDS = 30
MAX_SHOWN_EDGES = 60
MAX_LABEL_CHARS = 120

Json = dict[str, Any]


async def neighbourhood(memory: Memory, ids: Sequence[str]) -> Json:
    """The graph around facts and nodes that the principal may see; unknown ids are left out."""
    if not ids or not all(ids):
        raise InvalidSyntax("a neighbourhood names facts or nodes by their ids, separated by commas")
    if len(ids) > MAX_IDS:
        raise LimitExceeded(f"a neighbourhood is of at most {MAX_IDS} facts and nodes", limit=MAX_IDS)
    around = await Facts(memory.system, memory.principal).surroundings(ids, MAX_SHOWN_EDGES)
    async with memory.system.session() as session:
        nodes, edges = await _graph_around(session, ids)
    drawn = Drawing(set(ids))
    for fact in around.facts:
        drawn.add_fact(fact, around)
    for node in nodes:
        drawn.add_node(node.id, _label(node), node.id in drawn.recalled)
    for edge in edges[:MAX_SHOWN_EDGES]:
        drawn.add_edge(edge.id, edge.source, edge.target, edge.type or "")
    return drawn.as_json(around.truncated or len(edges) > MAX_SHOWN_EDGES)


async def _graph_around(session: Session, ids: Sequence[str]) -> tuple[list[Node], list[Edge]]:
    """The nodes among these ids with their edges, and the nodes at the other ends."""
    start: list[Node] = await session.find_many(NODES, sorted(set(ids)))
    if not start:
        return [], []
    named = sorted(node.id for node in start)
    touching = any_of(in_("source", named), in_("target", named))
    edges: list[Edge] = await session.fetch(EDGES, touching, (Order("seq"),), Page(limit=MAX_SHOWN_EDGES + 1))
    others = {end for edge in edges for end in (edge.source, edge.target)} - set(named)
    return [*start, *await session.find_many(NODES, sorted(others))], edges


def _label(node: Node) -> str:
    for key in ("title", "name", "label"):
        if isinstance(node.properties.get(key), str):
            return str(node.properties[key])
    return node.id


class Drawing:
    """Nodes, edges and lines as they are collected."""

    def __init__(self, recalled: set[str]) -> None:
        self.recalled = recalled
        self._nodes: dict[str, Json] = {}
        self._edges: list[Json] = []

    def add_node(self, id: str, label: str, recalled: bool = False) -> None:
        known = self._nodes.setdefault(id, {"id": id, "label": label[:MAX_LABEL_CHARS], "recalled": False})
        known["recalled"] |= recalled

    def add_edge(self, id: str, source: str, target: str, label: str) -> None:
        self._edges.append({"id": id, "from": source, "to": target, "label": label[:MAX_LABEL_CHARS]})

    def add_fact(self, fact: Fact, around: Surroundings) -> None:
        """A fact is an edge from its subject to its object; a value is a node of its own."""
        is_recalled = fact.fact_id in self.recalled
        self.add_node(fact.subject_entity_id, around.names.get(fact.subject_entity_id, ""), is_recalled)
        object = fact.object_entity_id or f"value:{fact.fact_id}"
        label = around.names.get(object, "") if fact.object_entity_id else fact.object_value or ""
        self.add_node(object, label, is_recalled)
        self.add_edge(fact.fact_id, fact.subject_entity_id, object, fact.predicate)

    def as_json(self, truncated: bool) -> Json:
        edges = [edge for edge in self._edges if edge["from"] in self._nodes and edge["to"] in self._nodes]
        labels = {id: node["label"] for id, node in self._nodes.items()}
        lines = [f"{labels[edge['from']]} — {edge['label']} → {labels[edge['to']]}" for edge in edges]
        return {"nodes": list(self._nodes.values()), "edges": edges, "lines": lines, "truncated": truncated}
