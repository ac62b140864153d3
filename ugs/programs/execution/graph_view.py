"""The graph as programs see it: every node has `concept_id`, `label` and `ontology` (C-90).

A missing property is computed from the node. Conditions that are pushed down to the store are widened accordingly, so
the store may return too many nodes; the engine checks them again.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from typing import Any

from ugs.cypher import GraphView, StoredGraph
from ugs.cypher.engine.view import Condition, Wanted
from ugs.cypher.graph_views import FactsContext, view_of
from ugs.cypher.values.entities import Node, Relationship
from ugs.graph.model import NODES
from ugs.graph.text.labels import NAMING, label_of
from ugs.identity import is_identifier
from ugs.programs.execution.graph_mapper import concept_id_of, ontology_of
from ugs.reads.filters import EVERYTHING, Compare, Op, Property, Where, all_of, any_of, in_
from ugs.storage import Session

FIELD = "properties_text"
FALLBACKS = re.compile(r"concept_id|label|ontology")
CONCEPT = "Concept"


def needs_completing(query: str, any_is_concept: bool = False) -> bool:
    """Whether a query may read one of the three properties; otherwise the plain graph gives the same result."""
    return FALLBACKS.search(query) is not None or (any_is_concept and CONCEPT in query)


class WideGraph(StoredGraph):
    """The stored graph with widened conditions: returns every node that may match once it is completed."""

    def __init__(self, session: Session, ontologies: Mapping[str, str]) -> None:
        super().__init__(session)
        self._ontologies = ontologies

    async def _scan_filter(self, wanted: Wanted) -> Where:
        """Resolve exact names to ids first: ids have an index, a disjunction over properties has none."""
        named = [part for part in wanted.conditions if _is_exact_name(part)]
        others = tuple(part for part in wanted.conditions if not _is_exact_name(part))
        found = [
            in_("id", await find_ids_by_name(self.session, NAME_PROPERTIES[part.key], _values(part))) for part in named
        ]
        return all_of(await super()._scan_filter(Wanted(wanted.labels, others)), *found)

    def _where(self, wanted: Wanted) -> Where:
        plain = [part for part in wanted.conditions if part.key not in WIDENERS]
        wide = [WIDENERS[part.key](self, part) for part in wanted.conditions if part.key in WIDENERS]
        return all_of(super()._where(Wanted(wanted.labels, tuple(plain))), *wide)

    def _concept_id(self, part: Condition) -> Where:
        return any_of(_property("concept_id", part), _id(part))

    def _label(self, part: Condition) -> Where:
        return any_of(*(_property(key, part) for key in NAMING), _id(part))

    def _ontology(self, part: Condition) -> Where:
        """The condition also matches the node types that the ontology defines."""
        return any_of(_property("ontology", part), in_("type", sorted(self._ontologies)))


NAME_PROPERTIES = {"concept_id": ("concept_id",), "label": NAMING}
"""The properties that may hold a name; a node without them is named by its id."""
WIDENERS = {"concept_id": WideGraph._concept_id, "label": WideGraph._label, "ontology": WideGraph._ontology}


class ProgramGraph:
    """A graph whose nodes are completed with the three properties."""

    def __init__(self, inner: GraphView, ontologies: Mapping[str, str], any_is_concept: bool = False) -> None:
        self.inner = inner
        self._ontologies = ontologies
        self._further = (CONCEPT,) if any_is_concept else ()

    async def nodes(self, wanted: Wanted) -> list[Node]:
        return self._complete(await self.inner.nodes(self._pushed_down(wanted)))

    async def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]:
        async for page in self.inner.pages(self._pushed_down(wanted)):
            yield self._complete(page)

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]:
        return self._complete(await self.inner.nodes_by_id(ids))

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]:
        return await self.inner.relationships(ids, outgoing, types)

    async def count(self, wanted: Wanted) -> int:
        return await self.inner.count(self._pushed_down(wanted))

    async def position(self) -> int:
        return await self.inner.position()

    joins = False
    """A store cannot join what it does not hold: every node has to be completed first."""
    max_matches = 0
    supports_unless = matches_single_nodes = False

    async def match(self, question: object, texts: object) -> None:
        return None

    def explain_match(self, pattern: object) -> list[str]:
        return []

    async def labels_are_types(self) -> bool:
        return False

    def _pushed_down(self, wanted: Wanted) -> Wanted:
        """Only the wide graph can check conditions on computed properties; other graphs get the query without them."""
        labels = tuple(label for label in wanted.labels if label not in self._further)
        if isinstance(self.inner, WideGraph):
            return Wanted(labels, wanted.conditions)
        return Wanted(labels, tuple(part for part in wanted.conditions if part.key not in WIDENERS))

    def _complete(self, nodes: Iterable[Node]) -> list[Node]:
        return [self._complete_one(node) for node in nodes]

    def _complete_one(self, node: Node) -> Node:
        found = {
            "concept_id": concept_id_of(node),
            "label": label_of(node.id, node.properties),
            "ontology": ontology_of(node, self._ontologies),
        }
        for key, value in found.items():
            if value is not None:
                node.properties.setdefault(key, value)
        node.labels = tuple(dict.fromkeys(node.labels + self._further))
        return node


def program_graph(
    session: Session, view: str, glasses: FactsContext, ontologies: Mapping[str, str], any_is_concept: bool = False
) -> ProgramGraph:
    """The view of a session, completed for programs."""
    inner = WideGraph(session, ontologies) if view == "GRAPH" else view_of(session, view, glasses)
    return ProgramGraph(inner, ontologies, any_is_concept)


async def find_concept_ids(session: Session, concepts: Sequence[str]) -> list[str]:
    """The ids of all nodes that may be these concepts."""
    return await find_ids_by_name(session, NAME_PROPERTIES["concept_id"], concepts)


async def find_ids_by_name(session: Session, keys: Sequence[str], names: Sequence[str]) -> list[str]:
    """The ids of all nodes with one of these names: as id, or under one of the keys."""
    ids = {id: None for id in names if is_identifier(id)}
    for key in keys if names else ():
        if await session.has_key(NODES, FIELD, key):
            rows = await session.fetch(NODES, Property(FIELD, key, Op.IN, tuple(names)))
            ids.update((row.id, None) for row in rows)
    return list(ids)


def _is_exact_name(part: Condition) -> bool:
    """Whether a condition fixes the name exactly; only texts can be ids."""
    return (
        part.key in NAME_PROPERTIES and part.op in (Op.EQ, Op.IN) and all(isinstance(one, str) for one in _values(part))
    )


def _values(part: Condition) -> Sequence[Any]:
    return part.value if part.op is Op.IN else (part.value,)


def _property(key: str, part: Condition) -> Where:
    return Property(FIELD, key, part.op, part.value)


def _id(part: Condition) -> Where:
    """The same condition on the id, as far as ids can be compared with the value."""
    if part.op is Op.EXISTS:
        return EVERYTHING
    if part.op is Op.IN:
        return in_("id", [value for value in part.value if isinstance(value, str)])
    return Compare("id", part.op, part.value) if isinstance(part.value, str) else Compare("id", Op.IN, ())
