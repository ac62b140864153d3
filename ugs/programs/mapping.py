"""From the graph to the working graph: nodes, relationships and paths in the seed's words (C-90).

A node's `concept_id` is its property of that name, else its id; its `label` is the property `label`, `name` or
`title`, else the id; its `ontology` is the property, else the ontology that defines its type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.cypher.values.stored import encode
from ugs.graph.naming import label_of
from ugs.ontology.model import NODE_TYPES
from ugs.programs.working import RawLink, RawNode, WorkingGraph
from ugs.storage import Session

LIFTED = frozenset({"concept_id", "label", "ontology", "description", "embedding"})
"""Properties that have a field of their own, and the one that is never shown."""


async def ontologies_of(session: Session) -> dict[str, str]:
    """The ontology that defines each node type; where several do, the first that did."""
    rows = sorted(await session.fetch(NODE_TYPES), key=lambda row: (row.position, row.place), reverse=True)
    return {row.name: row.ontology for row in rows}


def concept_id_of(node: Node) -> str:
    return _text(node.properties, "concept_id") or node.id


def ontology_of(node: Node, ontologies: Mapping[str, str]) -> str | None:
    own = _text(node.properties, "ontology")
    return own or next((ontologies[label] for label in node.labels if label in ontologies), None)


def mapped_node(node: Node, ontologies: Mapping[str, str]) -> RawNode:
    properties = node.properties
    return RawNode(
        concept_id_of(node),
        label_of(node.id, properties),
        ontology_of(node, ontologies),
        _text(properties, "description"),
        {key: encode(value) for key, value in properties.items() if key not in LIFTED},
    )


def mapped_link(link: Relationship, known: Mapping[str, str]) -> RawLink:
    """A link between concepts; `known` says which concept an id stands for where that is not the id itself."""
    properties = {key: encode(value) for key, value in link.properties.items()}
    return RawLink(
        known.get(link.start, link.start),
        known.get(link.end, link.end),
        link.type,
        _taken(properties, "category", str),
        _taken(properties, "confidence", (int, float)),
        _taken(properties, "grounding_strength", (int, float)),
        properties,
    )


class Mapper:
    """Turns rows of a query into a result, and remembers which concept each id of this run stands for."""

    def __init__(self, ontologies: Mapping[str, str]) -> None:
        self.ontologies = ontologies
        self.known: dict[str, str] = {}

    def filter(self, rows: Iterable[Iterable[Any]], wanted: Collection[str]) -> WorkingGraph:
        """Only which of the wanted concepts occur: all that a step needs to know which takes something away."""
        entities = distinct(rows)
        found = (concept_id_of(entity) for entity in entities if isinstance(entity, Node))
        return WorkingGraph([RawNode(id, id) for id in found if id in wanted])

    def result(self, rows: Iterable[Iterable[Any]]) -> WorkingGraph:
        """Nodes and links of all rows, each once; values that are neither say nothing."""
        entities = distinct(rows)
        nodes = [mapped_node(one, self.ontologies) for one in entities if isinstance(one, Node)]
        ids = (one.id for one in entities if isinstance(one, Node))
        self.known.update((id, node.concept_id) for id, node in zip(ids, nodes, strict=True) if id != node.concept_id)
        links = [mapped_link(one, self.known) for one in entities if isinstance(one, Relationship)]
        return WorkingGraph(nodes, links)


def distinct(rows: Iterable[Iterable[Any]]) -> list[Node | Relationship]:
    """Every element of some rows once, where it came first and as it came last."""
    return list({one: one for row in rows for value in row for one in entities_in(value)}.values())


def entities_in(value: Any) -> Iterator[Node | Relationship]:
    """The nodes and relationships inside a value: paths, lists and maps are opened however deep they lie."""
    if isinstance(value, Node | Relationship):
        yield value
    elif isinstance(value, Path):
        yield from value.elements
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from entities_in(item)


def _text(properties: Mapping[str, Any], key: str) -> str | None:
    value = properties.get(key)
    return value if isinstance(value, str) and value else None


def _taken(properties: dict[str, Any], key: str, kind: type | tuple[type, ...]) -> Any:
    """A property that has a field of its own, when it is of the field's kind."""
    value = properties.get(key)
    if isinstance(value, bool) or not isinstance(value, kind):
        return None
    return properties.pop(key)
