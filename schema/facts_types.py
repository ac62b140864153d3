"""Entities, predicates, notes and facts as GraphQL shows them."""

from __future__ import annotations

from typing import Any, ClassVar

import strawberry

from schema.elements import GraphNode, Identified, shown_node
from schema.facts_lots import Lot, Paged, Related, paged_info
from schema.facts_words import EntityAlias, FactState, Predicate, asked_instant, moment, shown_predicate
from schema.paging import PageInfo, page_asked
from schema.scalars import Instant, Uuid
from ugs.catalog import Table
from ugs.facts import model
from ugs.facts.model import (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_NODES,
    EVIDENCE,
    FACTS,
    INVALIDATIONS,
    NOTES,
    PREDICATES,
    SUPERSESSIONS,
)
from ugs.facts.names import Space
from ugs.facts.queries import NEWEST_FIRST, holds_at
from ugs.facts.resolving import find_predicate
from ugs.graph.model import NODES
from ugs.reads.cursors import cursor_of
from ugs.reads.plan import Found, Order
from ugs.reads.where import EVERYTHING, NOTHING, Where, all_of, eq

OLDEST = (Order("created_at"),)


@strawberry.type(description="Somebody or something that facts are about")
class Entity(Identified):
    row: strawberry.Private[model.Entity]
    lot: strawberry.Private[Lot]

    @strawberry.field(description="Its own id")
    def entity_id(self) -> Uuid:
        return Uuid(self.row.entity_id)

    @strawberry.field(description="The tenant it belongs to")
    def tenant_id(self) -> str:
        return self.row.tenant_id

    @strawberry.field(description="The project it belongs to")
    def project_id(self) -> str:
        return self.row.project_id

    @strawberry.field(description="Its name, as it was written last")
    def canonical(self) -> str:
        return self.row.canonical

    @strawberry.field(description="Its name trimmed, collapsed and in lower case; unique in a project")
    def canonical_norm(self) -> str:
        return self.row.canonical_norm

    @strawberry.field(description="What kind of thing it is")
    def kind(self) -> str | None:
        return self.row.kind

    @strawberry.field(description="Since when it is known")
    def created_at(self) -> Instant:
        return moment(self.row.created_at)

    @strawberry.field(description="When its name or kind changed last")
    def updated_at(self) -> Instant:
        return moment(self.row.updated_at)

    @strawberry.field(description="Its other names, oldest first")
    async def aliases(self) -> list[EntityAlias]:
        rows, _ = await self.lot.many(Related(ENTITY_ALIASES, "entity_id", order=OLDEST), self.row.entity_id)
        return [
            EntityAlias(
                alias_id=Uuid(row.alias_id),
                alias=row.alias,
                alias_norm=row.alias_norm,
                created_at=moment(row.created_at),
            )
            for row in rows
        ]

    @strawberry.field(description="The graph node it points at")
    async def node(self) -> GraphNode | None:
        link = await self.lot.one(ENTITY_NODES, self.row.entity_id)
        row = None if link is None else await self.lot.one(NODES, link.node_id)
        return None if row is None else shown_node(Found(row, {}), at=self.lot.at)

    @strawberry.field(description="Facts it is the subject of: those that hold, unless all are asked for")
    async def facts(
        self,
        scope: str | None = None,
        predicate: str | None = None,
        as_of: Instant | None = None,
        include_inactive: bool = False,
        first: int | None = 50,
        after: str | None = None,
    ) -> FactConnection:
        where = all_of(
            EVERYTHING if scope is None else eq("scope", scope),
            await self._of_predicate(predicate),
            EVERYTHING if include_inactive else holds_at(asked_instant(as_of, self.lot)),
        )
        return await fact_page(self.lot, "subject_entity_id", self.row.entity_id, where, first, after)

    async def _of_predicate(self, named: str | None) -> Where:
        if named is None:
            return EVERYTHING
        async with self.lot.facts.known(self.lot.at) as session:
            found = await find_predicate(session, Space(self.row.tenant_id, self.row.project_id), named)
        return NOTHING if found is None else eq("predicate_id", found.predicate_id)

    @strawberry.field(description="Facts it is the object of: those that hold at an instant, now unless told")
    async def facts_about(
        self, as_of: Instant | None = None, first: int | None = 50, after: str | None = None
    ) -> FactConnection:
        where = holds_at(asked_instant(as_of, self.lot))
        return await fact_page(self.lot, "object_entity_id", self.row.entity_id, where, first, after)


@strawberry.type(description="Something that was said, and from which facts were learnt")
class Note(Identified):
    row: strawberry.Private[model.Note]
    lot: strawberry.Private[Lot]

    @strawberry.field(description="Its own id")
    def note_id(self) -> Uuid:
        return Uuid(self.row.note_id)

    @strawberry.field(description="The tenant it belongs to")
    def tenant_id(self) -> str:
        return self.row.tenant_id

    @strawberry.field(description="The project it belongs to")
    def project_id(self) -> str:
        return self.row.project_id

    @strawberry.field(description="The agent that wrote it")
    def agent_id(self) -> str | None:
        return self.row.agent_id

    @strawberry.field(description="Whom it is meant for")
    def scope(self) -> str | None:
        return self.row.scope

    @strawberry.field(description="What was said")
    def text(self) -> str:
        return self.row.text

    @strawberry.field(description="Where it comes from")
    def source(self) -> str | None:
        return self.row.source

    @strawberry.field(description="Since when it is kept")
    def created_at(self) -> Instant:
        return moment(self.row.created_at)

    @strawberry.field(description="Facts it is evidence of")
    async def facts(self) -> list[Fact]:
        rows, _ = await self.lot.many(Related(EVIDENCE, "note_id", order=OLDEST), self.row.note_id)
        facts = await self.lot.all(FACTS, [row.fact_id for row in rows])
        return [shown_fact(fact, self.lot) for fact in facts if self.lot.viewer.sees(fact)]

    @strawberry.field(description="What to know beside it: the facts it says that have begun, current ones first")
    async def context(self, facts: int = 16, evidence: int = 16) -> list[ContextFact]:
        rows = await self.lot.context_of(self.row.note_id, facts, evidence)
        return [
            ContextFact(fact=shown_fact(fact, self.lot), state=FactState(state), note_ids=[Uuid(id) for id in notes])
            for fact, state, notes in rows
        ]


@strawberry.type(description="A fact in the context of a note")
class ContextFact:
    fact: Fact = strawberry.field(description="The fact")
    state: FactState = strawberry.field(description="Whether it still holds")
    note_ids: list[Uuid] = strawberry.field(description="The notes that say so, oldest first")


@strawberry.type(description="A note that says a fact")
class Evidence:
    row: strawberry.Private[model.Evidence]
    lot: strawberry.Private[Lot]

    @strawberry.field(description="Its own id")
    def evidence_id(self) -> Uuid:
        return Uuid(self.row.evidence_id)

    @strawberry.field(description="The note; null when it is not for you to read")
    async def note(self) -> Note | None:
        return await readable_note(self.lot, self.row.note_id)

    @strawberry.field(description="Since when the note counts for the fact")
    def created_at(self) -> Instant:
        return moment(self.row.created_at)


@strawberry.type(description="A fact took the place of another, because of a note")
class Supersession:
    row: strawberry.Private[model.Supersession]
    lot: strawberry.Private[Lot]

    @strawberry.field(description="Its own id")
    def supersession_id(self) -> Uuid:
        return Uuid(self.row.supersession_id)

    @strawberry.field(description="The fact that ended")
    async def from_fact(self) -> Fact:
        return shown_fact(await self.lot.one(FACTS, self.row.from_fact_id), self.lot)

    @strawberry.field(description="The fact that took its place")
    async def to_fact(self) -> Fact:
        return shown_fact(await self.lot.one(FACTS, self.row.to_fact_id), self.lot)

    @strawberry.field(description="The note that caused it; null when it is not for you to read")
    async def note(self) -> Note | None:
        return await readable_note(self.lot, self.row.note_id)

    @strawberry.field(description="When the one ended and the other began")
    def effective_at(self) -> Instant:
        return moment(self.row.effective_at)

    @strawberry.field(description="When it was written down")
    def created_at(self) -> Instant:
        return moment(self.row.created_at)


@strawberry.type(description="One statement about an entity, true from validFrom until validTo")
class Fact(Identified):
    row: strawberry.Private[model.Fact]
    lot: strawberry.Private[Lot]

    @strawberry.field(description="Its own id")
    def fact_id(self) -> Uuid:
        return Uuid(self.row.fact_id)

    @strawberry.field(description="The tenant it belongs to")
    def tenant_id(self) -> str:
        return self.row.tenant_id

    @strawberry.field(description="The project it belongs to")
    def project_id(self) -> str:
        return self.row.project_id

    @strawberry.field(description="The agent that asserted it")
    def agent_id(self) -> str:
        return self.row.agent_id

    @strawberry.field(description="Whom it is meant for")
    def scope(self) -> str:
        return self.row.scope

    @strawberry.field(description="What it is about")
    async def subject(self) -> Entity:
        return shown_entity(await self.lot.one(ENTITIES, self.row.subject_entity_id), self.lot)

    @strawberry.field(description="What it says of the subject, as it was said")
    def predicate(self) -> str:
        return self.row.predicate

    @strawberry.field(description="What it says of the subject, as it is meant")
    async def predicate_ref(self) -> Predicate | None:
        row = await self.lot.one(PREDICATES, self.row.predicate_id)
        return None if row is None else shown_predicate(row, self.lot)

    @strawberry.field(description="The entity it relates the subject to; null when its object is a value")
    async def object_entity(self) -> Entity | None:
        row = await self.lot.one(ENTITIES, self.row.object_entity_id)
        return None if row is None else shown_entity(row, self.lot)

    @strawberry.field(description="The value it gives the subject; null when its object is an entity")
    def object_value(self) -> str | None:
        return self.row.object_value

    @strawberry.field(description="Since when it holds")
    def valid_from(self) -> Instant:
        return moment(self.row.valid_from)

    @strawberry.field(description="When it ended; null while it is open")
    def valid_to(self) -> Instant | None:
        return None if self.row.valid_to is None else moment(self.row.valid_to)

    @strawberry.field(description="Whether it holds at an instant, now unless told")
    def active(self, at: Instant | None = None) -> bool:
        return self.row.holds_at(asked_instant(at, self.lot))

    @strawberry.field(description="Whether it is current, historical or future at an instant, now unless told")
    def state(self, at: Instant | None = None) -> FactState:
        return FactState(self.row.state_at(asked_instant(at, self.lot)))

    @strawberry.field(description="The notes that say so, oldest first")
    async def evidence(self) -> list[Evidence]:
        order = (Order("created_at"), Order("evidence_id"))
        rows, _ = await self.lot.many(Related(EVIDENCE, "fact_id", order=order), self.row.fact_id)
        return [Evidence(row=row, lot=self.lot) for row in rows]

    @strawberry.field(description="How many notes say so; 0 when all of them were deleted")
    async def evidence_count(self) -> int:
        return await self.lot.count(Related(EVIDENCE, "fact_id"), self.row.fact_id)

    @strawberry.field(description="What took its place")
    async def superseded_by(self) -> list[Supersession]:
        return await self._links("from_fact_id")

    @strawberry.field(description="What it took the place of")
    async def supersedes(self) -> list[Supersession]:
        return await self._links("to_fact_id")

    async def _links(self, field: str) -> list[Supersession]:
        rows, _ = await self.lot.many(Related(SUPERSESSIONS, field, order=(Order("effective_at"),)), self.row.fact_id)
        return [Supersession(row=row, lot=self.lot) for row in rows]

    @strawberry.field(description="Why it was ended by hand")
    async def invalidation_reason(self) -> str | None:
        row = await self.lot.one(INVALIDATIONS, self.row.fact_id)
        return None if row is None else row.reason

    @strawberry.field(description="When it was written down")
    def created_at(self) -> Instant:
        return moment(self.row.created_at)

    @strawberry.field(description="When it was ended or moved last")
    def updated_at(self) -> Instant:
        return moment(self.row.updated_at)


@strawberry.type(description="A fact on a page, with the cursor behind it")
class FactEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: Fact = strawberry.field(description="The fact")


BY_NAME = (Order("canonical_norm"),)


@strawberry.type(description="A page")
class PageOfFacts:
    """What both connections show alike; no type of its own in the schema."""

    table: ClassVar[Table]
    order: ClassVar[tuple[Order, ...]]
    paged: strawberry.Private[Paged]

    @strawberry.field(description="Where the page stands")
    def page_info(self) -> PageInfo:
        return paged_info(self.paged, self.table, self.order)

    @strawberry.field(description="How many there are in all; counted only when chosen")
    async def total_count(self) -> int:
        return int(await self.paged.total())

    def _cursor(self, row: Any) -> str:
        return cursor_of(row, self.table, self.order)


@strawberry.type(description="A page of facts, newest first")
class FactConnection(PageOfFacts):
    table, order = FACTS, NEWEST_FIRST

    @strawberry.field(description="The facts with their cursors")
    def edges(self) -> list[FactEdge]:
        lot = self.paged.lot
        return [FactEdge(cursor=self._cursor(row), node=shown_fact(row, lot)) for row in self.paged.rows]

    @strawberry.field(description="The facts alone")
    def nodes(self) -> list[Fact]:
        return [shown_fact(row, self.paged.lot) for row in self.paged.rows]


@strawberry.type(description="An entity on a page, with the cursor behind it")
class EntityEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: Entity = strawberry.field(description="The entity")


@strawberry.type(description="A page of entities, by name")
class EntityConnection(PageOfFacts):
    table, order = ENTITIES, BY_NAME

    @strawberry.field(description="The entities with their cursors")
    def edges(self) -> list[EntityEdge]:
        lot = self.paged.lot
        return [EntityEdge(cursor=self._cursor(row), node=shown_entity(row, lot)) for row in self.paged.rows]

    @strawberry.field(description="The entities alone")
    def nodes(self) -> list[Entity]:
        return [shown_entity(row, self.paged.lot) for row in self.paged.rows]


async def fact_page(
    lot: Lot, field: str, key: str, where: Where, first: int | None, after: str | None
) -> FactConnection:
    """A page of the facts at one end of an entity."""
    page = page_asked({"first": first, "after": after}, FACTS, NEWEST_FIRST)
    wish = Related(FACTS, field, all_of(where, lot.viewer.readable), NEWEST_FIRST, page)
    rows, more = await lot.many(wish, key)
    return FactConnection(paged=Paged(rows, more, page, lot, lambda: lot.count(wish, key)))


async def readable_note(lot: Lot, note_id: str) -> Note | None:
    row = await lot.one(NOTES, note_id)
    return shown_note(row, lot) if row is not None and lot.viewer.sees(row) else None


def shown_entity(row: Any, lot: Lot) -> Entity:
    return Entity(id=strawberry.ID(f"entity/{row.entity_id}"), row=row, lot=lot)


def shown_note(row: Any, lot: Lot) -> Note:
    return Note(id=strawberry.ID(f"note/{row.note_id}"), row=row, lot=lot)


def shown_fact(row: Any, lot: Lot) -> Fact:
    return Fact(id=strawberry.ID(f"fact/{row.fact_id}"), row=row, lot=lot)
