"""The views a query can look through: the graph, the facts that hold at an instant, or both.

In the facts an entity is a node: `id(e)` is its global id `entity/<uuid>`, its labels are its kind and `Entity`. A fact
between two entities is a relationship: its type is the predicate, `valid_from` and `valid_to` are datetimes. A fact
that says a text has no second end; the texts of an entity are its property `says`, a map from predicate to a list.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.engine.view import Condition, GraphView, StoredGraph, Wanted, growing_pages, has_labels
from ugs.cypher.values.entities import Node, Relationship
from ugs.errors import InvalidSyntax
from ugs.facts.instants import Instant, instant_text
from ugs.facts.model import ENTITIES, ENTITY_NODES, FACTS, Entity, Fact
from ugs.facts.names import is_uuid, normalize_name
from ugs.facts.queries import OLDEST_FIRST, holds_at
from ugs.facts.viewing import Viewer
from ugs.facts.views import BETWEEN_ENTITIES, relations_at
from ugs.reads.pattern import Match, Pattern, Question
from ugs.reads.where import EVERYTHING, NOTHING, Compare, Not, Op, Where, all_of, eq, in_
from ugs.storage import Session
from ugs.values import to_text

ENTITY = "Entity"
COLUMNS = {"name": "canonical", "kind": "kind", "entity_id": "entity_id", "project_id": "project_id"}
"""Properties of an entity that stand in a column of their own."""
ON_TEXTS = (Op.EQ, Op.STARTS, Op.ENDS, Op.CONTAINS)


class Glasses(Struct, frozen=True):
    """Who looks, and at which instant facts must hold."""

    viewer: Viewer
    moment: Instant


class Unjoined:
    """A graph that is walked step by step."""

    joins = False
    most_matches = 0
    answers_unless = matches_alone = False

    async def match(self, question: Question, texts: Sequence[str]) -> list[Match] | None:
        return None

    def match_statements(self, pattern: Pattern) -> list[str]:
        return []

    async def labels_are_types(self) -> bool:
        return False


class FactsGraph(Unjoined):
    """Entities and the facts between them that hold at an instant, as far as the viewer may see them."""

    def __init__(self, session: Session, glasses: Glasses) -> None:
        self.session = session
        self.glasses = glasses

    async def nodes(self, wanted: Wanted) -> list[Node]:
        return await self._shown(await self.session.fetch(ENTITIES, self._where(wanted)), wanted.labels)

    async def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]:
        async for rows in growing_pages(self.session, ENTITIES, self._where(wanted)):
            yield await self._shown(rows, wanted.labels)

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]:
        known = sorted(own for id in ids if is_uuid(own := own_id(id, "entity")))
        if not known:
            return []
        where = all_of(in_("entity_id", known), self.glasses.viewer.visible)
        return await self._shown(await self.session.fetch(ENTITIES, where), ())

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]:
        ends = in_("subject_entity_id" if outgoing else "object_entity_id", sorted(own_id(id, "entity") for id in ids))
        named = EVERYTHING if types is None else in_("predicate", types)
        where = all_of(ends, named, relations_at(self.glasses.moment, self.glasses.viewer))
        return [as_relationship(fact) for fact in await self.session.fetch(FACTS, where, OLDEST_FIRST)]

    async def count(self, wanted: Wanted) -> int:
        return await self.session.count(ENTITIES, self._where(Wanted(wanted.labels)))

    async def position(self) -> int:
        return await StoredGraph(self.session).position()

    def _where(self, wanted: Wanted) -> Where:
        kinds = [eq("kind", label) for label in wanted.labels if label != ENTITY]
        return all_of(*kinds, *map(on_entity, wanted.conditions), self.glasses.viewer.visible)

    async def _shown(self, rows: Sequence[Entity], labels: tuple[str, ...]) -> list[Node]:
        """The entities as nodes, with what is said of them and the graph nodes they point at."""
        ids = [row.entity_id for row in rows]
        if not ids:
            return []
        viewer = self.glasses.viewer
        texts = all_of(
            in_("subject_entity_id", ids), Not(BETWEEN_ENTITIES), holds_at(self.glasses.moment), viewer.readable
        )
        said = said_by(await self.session.fetch(FACTS, texts, OLDEST_FIRST))
        links = {row.entity_id: row.node_id for row in await self.session.find_many(ENTITY_NODES, ids)}
        nodes = [as_node(row, said.get(row.entity_id), links.get(row.entity_id)) for row in rows]
        return [node for node in nodes if has_labels(node, labels)]


def on_entity(condition: Condition) -> Where:
    """What a condition says about the columns of an entity; the query checks it again, so it may say too little."""
    column, value = COLUMNS.get(condition.key), condition.value
    if column is None or condition.op not in ON_TEXTS:
        return EVERYTHING
    if not isinstance(value, str):
        return NOTHING
    exact = Compare(column, condition.op, value)
    by_name = condition.key == "name" and condition.op is Op.EQ
    return all_of(eq("canonical_norm", normalize_name(value)), exact) if by_name else exact


def said_by(facts: Iterable[Fact]) -> dict[str, dict[str, list[str]]]:
    """For each entity the texts that are said of it, by predicate."""
    said: dict[str, dict[str, list[str]]] = {}
    for fact in facts:
        said.setdefault(fact.subject_entity_id, {}).setdefault(fact.predicate, []).append(fact.object_value or "")
    return said


def as_node(row: Entity, said: dict[str, list[str]] | None, node_id: str | None) -> Node:
    properties = {
        "name": row.canonical,
        "kind": row.kind,
        "entity_id": row.entity_id,
        "tenant_id": row.tenant_id,
        "project_id": row.project_id,
        "node_id": node_id,
        "says": said,
    }
    labels = (ENTITY,) if row.kind in (None, ENTITY) else (row.kind, ENTITY)
    return Node(f"entity/{row.entity_id}", labels, _text(properties))


def as_relationship(fact: Fact) -> Relationship:
    properties = {
        "fact_id": fact.fact_id,
        "scope": fact.scope,
        "agent_id": fact.agent_id,
        "valid_from": moment_value(fact.valid_from),
        "valid_to": moment_value(fact.valid_to),
    }
    start, end = f"entity/{fact.subject_entity_id}", f"entity/{fact.object_entity_id}"
    return Relationship(f"fact/{fact.fact_id}", fact.predicate, start, end, _text(properties))


def moment_value(instant: Instant | None) -> Any:
    """An instant as properties keep a datetime."""
    return None if instant is None else {"@datetime": instant_text(instant)}


def _text(properties: dict[str, Any]) -> str:
    return to_text({key: value for key, value in properties.items() if value is not None})


def own_id(id: str, kind: str) -> str:
    """The part of a global id behind its kind; nothing when it is of another kind."""
    head, _, own = id.partition("/")
    return own if head == kind else ""


class UnitedGraph(Unjoined):
    """Several graphs side by side; their ids never clash, since those of facts carry a kind."""

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


VIEWS: dict[str, Callable[[Session, Glasses], GraphView]] = {
    "GRAPH": lambda session, glasses: StoredGraph(session),
    "FACTS": FactsGraph,
    "ALL": lambda session, glasses: UnitedGraph((StoredGraph(session), FactsGraph(session, glasses))),
}
"""How each view is made of a session."""


def view_of(source: Session | GraphView, view: str, glasses: Glasses) -> GraphView:
    """The graph to read: a view of a session, or a graph as it is given."""
    if not isinstance(source, Session):
        return source
    if view not in VIEWS:
        raise InvalidSyntax(f"There is no view {view!r}; known: {', '.join(VIEWS)}", view=view)
    return VIEWS[view](source, glasses)
