"""The graph as programs see it: every node answers to `concept_id`, `label` and `ontology` (C-90).

Where a node lacks one of these properties, what the working graph would show stands in for it. The conditions that
the engine lets a store check are widened accordingly; the engine looks again at what comes back.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from typing import Any

from ugs.cypher import GraphView, StoredGraph
from ugs.cypher.engine.view import Condition, Wanted
from ugs.cypher.values.entities import Node, Relationship
from ugs.cypher.views import Glasses, view_of
from ugs.graph.model import NODES
from ugs.graph.naming import NAMING, label_of
from ugs.identity import is_identifier
from ugs.programs.mapping import concept_id_of, ontology_of
from ugs.reads.where import EVERYTHING, Compare, Op, Property, Where, all_of, any_of, in_
from ugs.storage import Session

FIELD = "properties_text"
FALLBACKS = re.compile(r"concept_id|label|ontology")
CONCEPT = "Concept"


def needs_completing(query: str, any_is_concept: bool = False) -> bool:
    """Whether a query may look at one of the three; otherwise the plain graph says the same."""
    return FALLBACKS.search(query) is not None or (any_is_concept and CONCEPT in query)


class WideGraph(StoredGraph):
    """The stored graph, asked for all nodes that may meet a condition once they are completed."""

    def __init__(self, session: Session, ontologies: Mapping[str, str]) -> None:
        super().__init__(session)
        self._ontologies = ontologies

    async def _scanned(self, wanted: Wanted) -> Where:
        """Who is called exactly so is looked up beforehand: ids have an index, alternatives have none."""
        named = [part for part in wanted.conditions if _names(part)]
        others = tuple(part for part in wanted.conditions if not _names(part))
        found = [in_("id", await ids_called(self.session, CALLED[part.key], _values(part))) for part in named]
        return all_of(await super()._scanned(Wanted(wanted.labels, others)), *found)

    def _where(self, wanted: Wanted) -> Where:
        plain = [part for part in wanted.conditions if part.key not in WIDENED]
        wide = [WIDENED[part.key](self, part) for part in wanted.conditions if part.key in WIDENED]
        return all_of(super()._where(Wanted(wanted.labels, tuple(plain))), *wide)

    def _concept_id(self, part: Condition) -> Where:
        return any_of(_property("concept_id", part), _id(part))

    def _label(self, part: Condition) -> Where:
        return any_of(*(_property(key, part) for key in NAMING), _id(part))

    def _ontology(self, part: Condition) -> Where:
        """A type's ontology may stand in; which types that concerns is known here."""
        return any_of(_property("ontology", part), in_("type", sorted(self._ontologies)))


CALLED = {"concept_id": ("concept_id",), "label": NAMING}
"""Properties under which what a node is called may be found; else it is called by its id."""
WIDENED = {"concept_id": WideGraph._concept_id, "label": WideGraph._label, "ontology": WideGraph._ontology}


class ProgramGraph:
    """A graph whose nodes are completed."""

    def __init__(self, inner: GraphView, ontologies: Mapping[str, str], any_is_concept: bool = False) -> None:
        self.inner = inner
        self._ontologies = ontologies
        self._further = (CONCEPT,) if any_is_concept else ()

    async def nodes(self, wanted: Wanted) -> list[Node]:
        return self._complete(await self.inner.nodes(self._asked(wanted)))

    async def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]:
        async for page in self.inner.pages(self._asked(wanted)):
            yield self._complete(page)

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]:
        return self._complete(await self.inner.nodes_by_id(ids))

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]:
        return await self.inner.relationships(ids, outgoing, types)

    async def count(self, wanted: Wanted) -> int:
        return await self.inner.count(self._asked(wanted))

    async def position(self) -> int:
        return await self.inner.position()

    joins = False
    """A store cannot join what it does not hold: every node has to be completed first."""
    most_matches = 0
    answers_unless = matches_alone = False

    async def match(self, question: object, texts: object) -> None:
        return None

    def match_statements(self, pattern: object) -> list[str]:
        return []

    async def labels_are_types(self) -> bool:
        return False

    def _asked(self, wanted: Wanted) -> Wanted:
        """Only the wide graph can check conditions on what a node may lack; another is asked without them."""
        labels = tuple(label for label in wanted.labels if label not in self._further)
        if isinstance(self.inner, WideGraph):
            return Wanted(labels, wanted.conditions)
        return Wanted(labels, tuple(part for part in wanted.conditions if part.key not in WIDENED))

    def _complete(self, nodes: Iterable[Node]) -> list[Node]:
        return [self._completed(node) for node in nodes]

    def _completed(self, node: Node) -> Node:
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
    session: Session, view: str, glasses: Glasses, ontologies: Mapping[str, str], any_is_concept: bool = False
) -> ProgramGraph:
    """A view of a session, completed for programs."""
    inner = WideGraph(session, ontologies) if view == "GRAPH" else view_of(session, view, glasses)
    return ProgramGraph(inner, ontologies, any_is_concept)


async def ids_of(session: Session, concepts: Sequence[str]) -> list[str]:
    """The ids of all nodes that may be these concepts."""
    return await ids_called(session, CALLED["concept_id"], concepts)


async def ids_called(session: Session, keys: Sequence[str], names: Sequence[str]) -> list[str]:
    """The ids of all nodes with one of these names: as their own id, or under one of the keys."""
    ids = {id: None for id in names if is_identifier(id)}
    for key in keys if names else ():
        if await session.has_key(NODES, FIELD, key):
            rows = await session.fetch(NODES, Property(FIELD, key, Op.IN, tuple(names)))
            ids.update((row.id, None) for row in rows)
    return list(ids)


def _names(part: Condition) -> bool:
    """Whether a condition tells exactly what a node is called; only texts can be ids."""
    return part.key in CALLED and part.op in (Op.EQ, Op.IN) and all(isinstance(one, str) for one in _values(part))


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
