"""Facts seen as a graph: entities are its nodes, facts that hold at an instant are its relationships.

A view names the reads behind nodes and relationships, so that a traversal or openCypher can walk the graph (`GRAPH`),
the facts (`FACTS`) or both (`ALL`) without knowing which table a step leads into.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.facts.instants import Instant
from ugs.facts.model import ENTITIES, FACTS, Entity, Fact
from ugs.facts.queries import NEWEST_FIRST, holds_at
from ugs.facts.resolving import get_all
from ugs.facts.viewing import Viewer
from ugs.graph.model import EDGES, NODES
from ugs.reads.plan import Nested, Order, Read
from ugs.reads.where import Compare, Op, Where, all_of, any_of, in_
from ugs.storage import Session

MOST_DEPTH = 10
MOST_ENTITIES = 10_000
BETWEEN_ENTITIES = Compare("object_entity_id", Op.EXISTS)


class View(StrEnum):
    """What a walk sees."""

    GRAPH = "graph"
    FACTS = "facts"
    ALL = "all"


class Relationships(Struct, frozen=True):
    """A read of rows that connect two others, and the columns that name both ends and the type."""

    read: Read
    source: str
    target: str
    type: str


class GraphView(Struct, frozen=True):
    """The reads behind a view."""

    nodes: tuple[Read, ...]
    relationships: tuple[Relationships, ...]


def view_at(view: View, moment: Instant, viewer: Viewer) -> GraphView:
    """The reads of a view, with the facts that hold at an instant and that the reader may see."""
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


def relations_at(moment: Instant, viewer: Viewer) -> Where:
    """Facts between entities that hold at an instant."""
    return all_of(BETWEEN_ENTITIES, holds_at(moment), viewer.readable)


def entity_with_facts(entity_ids: Sequence[str], moment: Instant, viewer: Viewer) -> Read:
    """One read for entities, what is said of them, and what is said about them."""
    held = Read(FACTS, all_of(holds_at(moment), viewer.readable), NEWEST_FIRST)
    return Read(ENTITIES, all_of(in_("entity_id", entity_ids), viewer.visible)).nested(
        facts=Nested("facts", held), facts_about=Nested("facts_about", held)
    )


class Reached(Struct, frozen=True):
    """An entity that a walk reached, how far out, and over which fact."""

    entity: Entity
    depth: int
    via: Fact | None = None


async def neighbourhood(
    session: Session, viewer: Viewer, start: Entity, moment: Instant, depth: int = 1
) -> list[Reached]:
    """Entities around one, over facts that hold at an instant, either way, nearest first."""
    if not 0 <= depth <= MOST_DEPTH:
        raise InvalidSyntax(f"depth lies between 0 and {MOST_DEPTH}, not {depth}")
    found, seen, frontier = [Reached(start, 0)], {start.entity_id}, [start.entity_id]
    for level in range(1, depth + 1):
        reached = await _one_step(session, viewer, frontier, seen, moment)
        rows = await get_all(session, ENTITIES, "entity_id", list(reached))
        frontier = [id for id in reached if id in rows]
        seen.update(reached)
        found += [Reached(rows[id], level, reached[id]) for id in frontier]
        if len(found) > MOST_ENTITIES:
            raise LimitExceeded(f"the walk reaches more than {MOST_ENTITIES} entities", limit=MOST_ENTITIES)
        if not frontier:
            break
    return found


async def _one_step(
    session: Session, viewer: Viewer, frontier: Sequence[str], seen: set[str], moment: Instant
) -> dict[str, Fact]:
    ends = any_of(in_("subject_entity_id", frontier), in_("object_entity_id", frontier))
    facts: list[Fact] = await session.fetch(FACTS, all_of(ends, relations_at(moment, viewer)), NEWEST_FIRST)
    reached: dict[str, Fact] = {}
    for fact in facts:
        for end in (fact.subject_entity_id, fact.object_entity_id):
            if end is not None and end not in seen:
                reached.setdefault(end, fact)
    return reached
