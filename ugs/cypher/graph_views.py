"""The graph views of a query: the graph, the facts that hold at an instant, or both.

In the view of facts an entity is a node: `id(e)` is its global id `entity/<uuid>`, its labels are its kind and
`Entity`. A fact between two entities is a relationship: its type is the predicate, `valid_from` and `valid_to` are
datetimes. Facts with a text value are not relationships but the entity's property `says`, a map from predicate to a
list of texts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.engine.view import Condition, GraphView, StoredGraph, Wanted, growing_pages, has_all_labels
from ugs.cypher.values.entities import Node, Relationship
from ugs.errors import InvalidSyntax
from ugs.facts.access import AccessScope
from ugs.facts.graph_view import BETWEEN_ENTITIES, relations_at
from ugs.facts.model import ENTITIES, ENTITY_NODES, FACTS, Entity, Fact
from ugs.facts.normalization import is_uuid, normalize_name
from ugs.facts.queries import OLDEST_FIRST, holds_at
from ugs.facts.temporal.instants import Instant, instant_text
from ugs.reads.filters import EVERYTHING, NOTHING, Compare, Not, Op, Where, all_of, eq, in_
from ugs.reads.pattern import Match, Pattern, PreparedPattern
from ugs.storage import Session
from ugs.values import to_text

ENTITY = "Entity"
COLUMNS = {"name": "canonical", "kind": "kind", "entity_id": "entity_id", "project_id": "project_id"}
"""Properties of an entity that are columns of its table."""
ON_TEXTS = (Op.EQ, Op.STARTS, Op.ENDS, Op.CONTAINS)


class FactsContext(Struct, frozen=True):
    """The reader's access scope, and the instant at which facts must hold."""

    viewer: AccessScope
    moment: Instant


class StepwiseView:
    """Base of views without pattern push-down: patterns are matched step by step."""

    joins = False
    max_matches = 0
    supports_unless = matches_single_nodes = False

    async def match(self, question: PreparedPattern, texts: Sequence[str]) -> list[Match] | None:
        return None

    def explain_match(self, pattern: Pattern) -> list[str]:
        return []

    async def labels_are_types(self) -> bool:
        return False


class FactsGraph(StepwiseView):
    """Entities and the facts between them that hold at an instant and are visible to the viewer."""

    def __init__(self, session: Session, context: FactsContext) -> None:
        self.session = session
        self.context = context

    async def nodes(self, wanted: Wanted) -> list[Node]:
        return await self._build_nodes(await self.session.fetch(ENTITIES, self._where(wanted)), wanted.labels)

    async def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]:
        async for rows in growing_pages(self.session, ENTITIES, self._where(wanted)):
            yield await self._build_nodes(rows, wanted.labels)

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]:
        known = sorted(own for id in ids if is_uuid(own := own_id(id, "entity")))
        if not known:
            return []
        where = all_of(in_("entity_id", known), self.context.viewer.visible)
        return await self._build_nodes(await self.session.fetch(ENTITIES, where), ())

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]:
        ends = in_("subject_entity_id" if outgoing else "object_entity_id", sorted(own_id(id, "entity") for id in ids))
        named = EVERYTHING if types is None else in_("predicate", types)
        where = all_of(ends, named, relations_at(self.context.moment, self.context.viewer))
        return [as_relationship(fact) for fact in await self.session.fetch(FACTS, where, OLDEST_FIRST)]

    async def count(self, wanted: Wanted) -> int:
        return await self.session.count(ENTITIES, self._where(Wanted(wanted.labels)))

    async def position(self) -> int:
        return await StoredGraph(self.session).position()

    def _where(self, wanted: Wanted) -> Where:
        kinds = [eq("kind", label) for label in wanted.labels if label != ENTITY]
        return all_of(*kinds, *map(entity_filter, wanted.conditions), self.context.viewer.visible)

    async def _build_nodes(self, rows: Sequence[Entity], labels: tuple[str, ...]) -> list[Node]:
        """The entities as nodes, with their text facts and linked graph nodes."""
        ids = [row.entity_id for row in rows]
        if not ids:
            return []
        viewer = self.context.viewer
        stated = all_of(
            in_("subject_entity_id", ids), Not(BETWEEN_ENTITIES), holds_at(self.context.moment), viewer.readable
        )
        texts = group_texts(await self.session.fetch(FACTS, stated, OLDEST_FIRST))
        links = {row.entity_id: row.node_id for row in await self.session.find_many(ENTITY_NODES, ids)}
        nodes = [as_node(row, texts.get(row.entity_id), links.get(row.entity_id)) for row in rows]
        return [node for node in nodes if has_all_labels(node, labels)]


def entity_filter(condition: Condition) -> Where:
    """Push a condition down to the columns of an entity; the engine checks it again, so it may be too weak."""
    column, value = COLUMNS.get(condition.key), condition.value
    if column is None or condition.op not in ON_TEXTS:
        return EVERYTHING
    if not isinstance(value, str):
        return NOTHING
    exact = Compare(column, condition.op, value)
    by_name = condition.key == "name" and condition.op is Op.EQ
    return all_of(eq("canonical_norm", normalize_name(value)), exact) if by_name else exact


def group_texts(facts: Iterable[Fact]) -> dict[str, dict[str, list[str]]]:
    """The texts of each entity, by predicate."""
    texts: dict[str, dict[str, list[str]]] = {}
    for fact in facts:
        texts.setdefault(fact.subject_entity_id, {}).setdefault(fact.predicate, []).append(fact.object_value or "")
    return texts


def as_node(row: Entity, texts: dict[str, list[str]] | None, node_id: str | None) -> Node:
    properties = {
        "name": row.canonical,
        "kind": row.kind,
        "entity_id": row.entity_id,
        "tenant_id": row.tenant_id,
        "project_id": row.project_id,
        "node_id": node_id,
        "says": texts,
    }
    labels = (ENTITY,) if row.kind in (None, ENTITY) else (row.kind, ENTITY)
    return Node(f"entity/{row.entity_id}", labels, _text(properties))


def as_relationship(fact: Fact) -> Relationship:
    properties = {
        "fact_id": fact.fact_id,
        "scope": fact.scope,
        "agent_id": fact.agent_id,
        "valid_from": encode_instant(fact.valid_from),
        "valid_to": encode_instant(fact.valid_to),
    }
    start, end = f"entity/{fact.subject_entity_id}", f"entity/{fact.object_entity_id}"
    return Relationship(f"fact/{fact.fact_id}", fact.predicate, start, end, _text(properties))


def encode_instant(instant: Instant | None) -> Any:
    """An instant in the property encoding of a datetime."""
    return None if instant is None else {"@datetime": instant_text(instant)}


def _text(properties: dict[str, Any]) -> str:
    return to_text({key: value for key, value in properties.items() if value is not None})


def own_id(id: str, kind: str) -> str:
    """The local part of a global id; empty if it is of another kind."""
    head, _, own = id.partition("/")
    return own if head == kind else ""


class UnitedGraph(StepwiseView):
    """The union of several views; ids cannot collide, since those of facts have a prefix."""

    def __init__(self, parts: Sequence[GraphView]) -> None:
        self.parts = parts

    async def nodes(self, wanted: Wanted) -> list[Node]:
        return [node for part in self.parts for node in await part.nodes(wanted)]

    async def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]:
        for part in self.parts:
            async for page in part.pages(wanted):
                yield page

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]:
        return [node for part in self.parts for node in await part.nodes_by_id(ids)]

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]:
        return [one for part in self.parts for one in await part.relationships(ids, outgoing, types)]

    async def count(self, wanted: Wanted) -> int:
        return sum([await part.count(wanted) for part in self.parts])

    async def position(self) -> int:
        return await self.parts[0].position()


VIEWS: dict[str, Callable[[Session, FactsContext], GraphView]] = {
    "GRAPH": lambda session, context: StoredGraph(session),
    "FACTS": FactsGraph,
    "ALL": lambda session, context: UnitedGraph((StoredGraph(session), FactsGraph(session, context))),
}
"""The factory of each view."""


def view_of(source: Session | GraphView, view: str, context: FactsContext) -> GraphView:
    """The named view of a session; a `GraphView` is returned unchanged."""
    if not isinstance(source, Session):
        return source
    if view not in VIEWS:
        raise InvalidSyntax(f"There is no view {view!r}; known: {', '.join(VIEWS)}", view=view)
    return VIEWS[view](source, context)
