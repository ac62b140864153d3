"""Facts as a graph: entities are its nodes, facts that hold at an instant are its relationships.

A view gives the reads of nodes and relationships, so that a traversal can walk the graph (`GRAPH`), the facts
(`FACTS`) or both (`ALL`) independently of the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.facts.access import AccessScope
from ugs.facts.model import ENTITIES, FACTS, Entity, Fact
from ugs.facts.normalization import is_uuid
from ugs.facts.queries import NEWEST_FIRST, holds_at
from ugs.facts.resolution import get_all
from ugs.facts.temporal.instants import Instant
from ugs.graph.model import EDGES, NODES
from ugs.reads.filters import Compare, Op, Where, all_of, any_of, in_
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.storage import Session

MAX_DEPTH = 10
MAX_ENTITIES = 10_000
BETWEEN_ENTITIES = Compare("object_entity_id", Op.EXISTS)


class View(StrEnum):
    """The graph that a walk uses."""

    GRAPH = "graph"
    FACTS = "facts"
    ALL = "all"


class Relationships(Struct, frozen=True):
    """A read of connecting rows, and their columns for both ends and the type."""

    read: Read
    source: str
    target: str
    type: str


class GraphView(Struct, frozen=True):
    """The reads of a view."""

    nodes: tuple[Read, ...]
    relationships: tuple[Relationships, ...]


def view_at(view: View, moment: Instant, viewer: AccessScope) -> GraphView:
    """The reads of a view, with the visible facts that hold at an instant."""
    graph = GraphView((Read(NODES),), (Relationships(Read(EDGES, order=(Order("seq"),)), "source", "target", "type"),))
    facts = GraphView(
        (Read(ENTITIES, viewer.visible),),
        (
            Relationships(
                Read(FACTS, relations_at(moment, viewer), NEWEST_FIRST),
                "subject_entity_id",
                "object_entity_id",
                "predicate",
            ),
        ),
    )
    if view is View.GRAPH:
        return graph
    if view is View.FACTS:
        return facts
    return GraphView(graph.nodes + facts.nodes, graph.relationships + facts.relationships)


def relations_at(moment: Instant, viewer: AccessScope) -> Where:
    """The condition for visible facts between entities that hold at an instant."""
    return all_of(BETWEEN_ENTITIES, holds_at(moment), viewer.readable)


def entity_with_facts(entity_ids: Sequence[str], moment: Instant, viewer: AccessScope) -> Read:
    """One read for entities with the facts they are the subject and the object of."""
    held = Read(FACTS, all_of(holds_at(moment), viewer.readable), NEWEST_FIRST)
    return Read(ENTITIES, all_of(in_("entity_id", entity_ids), viewer.visible)).nested(
        facts=Nested("facts", held), facts_about=Nested("facts_about", held)
    )


class Reached(Struct, frozen=True):
    """An entity reached by a walk, its depth, and the fact it was reached by."""

    entity: Entity
    depth: int
    via: Fact | None = None


async def neighbourhood(
    session: Session, viewer: AccessScope, start: Entity, moment: Instant, depth: int = 1
) -> list[Reached]:
    """The entities around one, over facts in either direction that hold at an instant, nearest first."""
    if not 0 <= depth <= MAX_DEPTH:
        raise InvalidSyntax(f"depth lies between 0 and {MAX_DEPTH}, not {depth}")
    found, seen, frontier = [Reached(start, 0)], {start.entity_id}, [start.entity_id]
    for level in range(1, depth + 1):
        reached = await _load_neighbours(session, viewer, frontier, seen, moment)
        rows = await get_all(session, ENTITIES, "entity_id", list(reached))
        frontier = [id for id in reached if id in rows]
        seen.update(reached)
        found += [Reached(rows[id], level, reached[id]) for id in frontier]
        if len(found) > MAX_ENTITIES:
            raise LimitExceeded(f"the walk reaches more than {MAX_ENTITIES} entities", limit=MAX_ENTITIES)
        if not frontier:
            break
    return found


async def _load_neighbours(
    session: Session, viewer: AccessScope, frontier: Sequence[str], seen: set[str], moment: Instant
) -> dict[str, Fact]:
    ends = any_of(in_("subject_entity_id", frontier), in_("object_entity_id", frontier))
    facts: list[Fact] = await session.fetch(FACTS, all_of(ends, relations_at(moment, viewer)), NEWEST_FIRST)
    reached: dict[str, Fact] = {}
    for fact in facts:
        for end in (fact.subject_entity_id, fact.object_entity_id):
            if end is not None and end not in seen:
                reached.setdefault(end, fact)
    return reached


class Surroundings(Struct, frozen=True):
    """Facts with those that hold around them, and the names of their entities."""

    facts: list[Fact]
    names: dict[str, str]
    truncated: bool


async def surroundings(
    session: Session, viewer: AccessScope, fact_ids: Sequence[str], moment: Instant, limit: int
) -> Surroundings:
    """These facts, as far as a reader may see them, and the newest that hold at an instant about their entities."""
    wanted = sorted({id for id in fact_ids if is_uuid(id)})
    rows: list[Fact] = await session.find_many(FACTS, wanted) if wanted else []
    seen = {fact.fact_id: fact for fact in rows if viewer.sees(fact)}
    ends = sorted({end for fact in seen.values() for end in (fact.subject_entity_id, fact.object_entity_id) if end})
    if not ends:
        return Surroundings([], {}, False)
    touching = any_of(in_("subject_entity_id", ends), in_("object_entity_id", ends))
    where = all_of(touching, holds_at(moment), viewer.readable)
    near: list[Fact] = await session.fetch(FACTS, where, NEWEST_FIRST, Page(limit=limit + 1))
    found = list((seen | {fact.fact_id: fact for fact in near[:limit]}).values())
    named = sorted({end for fact in found for end in (fact.subject_entity_id, fact.object_entity_id) if end})
    entities = await get_all(session, ENTITIES, "entity_id", named)
    return Surroundings(found, {id: entity.canonical for id, entity in entities.items()}, len(near) > limit)
