"""Maps nodes, relationships and paths of the graph to the working graph's nodes and links (C-90).

A node's `concept_id` is its property of that name, else its id; its `label` is the property `label`, `name` or `title`,
else the id; its `ontology` is the property, else the ontology that defines its type.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from ugs.cypher.execution import Result, in_turns, is_long
from ugs.cypher.values.codec import encode
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.graph.text.labels import label_of
from ugs.ontology.model import NODE_TYPES
from ugs.programs.execution.working_graph import RawLink, RawNode, WorkingGraph
from ugs.storage import Session
from ugs.support.worker_threads import compute_in_thread

Mapped = TypeVar("Mapped")

LIFTED = frozenset({"concept_id", "label", "ontology", "description", "embedding"})
"""Properties that become fields of their own, and the one that is never returned."""


async def ontologies_of(session: Session) -> dict[str, str]:
    """The ontology that defines each node type; the oldest one if several do."""
    rows = sorted(await session.fetch(NODE_TYPES), key=lambda row: (row.position, row.place), reverse=True)
    return {row.name: row.ontology for row in rows}


def concept_id_of(node: Node) -> str:
    return _text(node.properties, "concept_id") or node.id


def ontology_of(node: Node, ontologies: Mapping[str, str]) -> str | None:
    own = _text(node.properties, "ontology")
    return own or next((ontologies[label] for label in node.labels if label in ontologies), None)


def map_node(node: Node, ontologies: Mapping[str, str]) -> RawNode:
    properties = node.properties
    return RawNode(
        concept_id_of(node),
        label_of(node.id, properties),
        ontology_of(node, ontologies),
        _text(properties, "description"),
        {key: encode(value) for key, value in properties.items() if key not in LIFTED},
    )


def map_link(link: Relationship, known: Mapping[str, str]) -> RawLink:
    """A link between concepts; `known` maps node ids to concept ids where they differ."""
    properties = {key: encode(value) for key, value in link.properties.items()}
    return RawLink(
        known.get(link.start, link.start),
        known.get(link.end, link.end),
        link.type,
        _typed_property(properties, "category", str),
        _typed_property(properties, "confidence", (int, float)),
        _typed_property(properties, "grounding_strength", (int, float)),
        properties,
    )


class Mapper:
    """Maps the rows of a query to a working graph."""

    def __init__(self, ontologies: Mapping[str, str]) -> None:
        self.ontologies = ontologies

    def only_wanted(self, rows: Iterable[Iterable[Any]], wanted: Collection[str]) -> WorkingGraph:
        """Only which of the wanted concepts occur: sufficient for operators that remove nodes."""
        entities = distinct(rows)
        found = (concept_id_of(entity) for entity in entities if isinstance(entity, Node))
        return WorkingGraph([RawNode(id, id) for id in found if id in wanted])

    def to_working_graph(self, rows: Iterable[Iterable[Any]]) -> WorkingGraph:
        """The nodes of all rows, each once, and the links between them; other values are ignored."""
        entities = distinct(rows)
        nodes = [map_node(one, self.ontologies) for one in entities if isinstance(one, Node)]
        ids = (one.id for one in entities if isinstance(one, Node))
        known = {id: node.concept_id for id, node in zip(ids, nodes, strict=True)}
        links = [
            map_link(one, known)
            for one in entities
            if isinstance(one, Relationship) and one.start in known and one.end in known
        ]
        return WorkingGraph(nodes, links)


async def map_rows(found: Result, work: Callable[[Iterable[tuple[Any, ...]]], Mapped]) -> Mapped:
    """What `work` makes of all rows of a result; of a long one in a thread, to keep the event loop free."""
    return await compute_in_thread(lambda: work(in_turns(found.rows))) if is_long(found) else work(found.rows)


def distinct(rows: Iterable[Iterable[Any]]) -> list[Node | Relationship]:
    """Every element of the rows once, at its first place and with its last value."""
    return list({one: one for row in rows for value in row for one in entities_in(value)}.values())


def entities_in(value: Any) -> Iterator[Node | Relationship]:
    """The nodes and relationships inside a value, including nested paths, lists and maps."""
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


def _typed_property(properties: dict[str, Any], key: str, kind: type | tuple[type, ...]) -> Any:
    """A property that becomes a field, if it has the field's type."""
    value = properties.get(key)
    if isinstance(value, bool) or not isinstance(value, kind):
        return None
    return properties.pop(key)
