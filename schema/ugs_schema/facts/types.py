"""GraphQL types of entities, notes and facts."""

from __future__ import annotations

from typing import Any, ClassVar

import strawberry

from ugs.facts import model
from ugs.facts.model import (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_NODES,
    EVIDENCE,
    FACTS,
    INVALIDATIONS,
    NOTES,
    OVERRIDES,
    PREDICATES,
    SUPERSESSIONS,
)
from ugs.facts.normalization import Space
from ugs.facts.queries import NEWEST_FIRST, holds_at
from ugs.facts.resolution import find_predicate
from ugs.facts.temporal.timeline import state_of
from ugs.graph.model import NODES
from ugs.reads.cursors import cursor_of
from ugs.reads.filters import EVERYTHING, NOTHING, Where, all_of, eq
from ugs.reads.plan import Order, ResultRow
from ugs.tables import Table
from ugs_schema.facts.loaders import FactPage, FactsLoader, RelatedLookup, build_facts_page_info
from ugs_schema.facts.vocabulary import (
    EntityAlias,
    FactState,
    Predicate,
    moment,
    parse_instant_or_now,
    to_graphql_predicate,
)
from ugs_schema.graph.types import GraphNode, Identified, to_graphql_node
from ugs_schema.pagination import PageInfo, parse_page
from ugs_schema.scalars import Instant, Uuid

OLDEST = (Order("created_at"),)


@strawberry.type(description="Somebody or something that facts are about")
class Entity(Identified):
    row: strawberry.Private[model.Entity]
    loader: strawberry.Private[FactsLoader]

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
        rows, _ = await self.loader.find_many(
            RelatedLookup(ENTITY_ALIASES, "entity_id", order=OLDEST), self.row.entity_id
        )
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
        link = await self.loader.find_one(ENTITY_NODES, self.row.entity_id)
        row = None if link is None else await self.loader.find_one(NODES, link.node_id)
        return None if row is None else to_graphql_node(ResultRow(row, {}), at=self.loader.at)

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
            await self._build_predicate_where(predicate),
            EVERYTHING if include_inactive else holds_at(parse_instant_or_now(as_of, self.loader)),
        )
        return await read_fact_page(self.loader, "subject_entity_id", self.row.entity_id, where, first, after)

    async def _build_predicate_where(self, named: str | None) -> Where:
        if named is None:
            return EVERYTHING
        async with self.loader.facts.known(self.loader.at) as session:
            found = await find_predicate(session, Space(self.row.tenant_id, self.row.project_id), named)
        return NOTHING if found is None else eq("predicate_id", found.predicate_id)

    @strawberry.field(description="Facts it is the object of: those that hold at an instant, now unless told")
    async def facts_about(
        self, as_of: Instant | None = None, first: int | None = 50, after: str | None = None
    ) -> FactConnection:
        where = holds_at(parse_instant_or_now(as_of, self.loader))
        return await read_fact_page(self.loader, "object_entity_id", self.row.entity_id, where, first, after)


@strawberry.type(description="Something that was said, and from which facts were learnt")
class Note(Identified):
    row: strawberry.Private[model.Note]
    loader: strawberry.Private[FactsLoader]

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
        rows, _ = await self.loader.find_many(RelatedLookup(EVIDENCE, "note_id", order=OLDEST), self.row.note_id)
        facts = await self.loader.find_all(FACTS, [row.fact_id for row in rows])
        return [to_graphql_fact(fact, self.loader) for fact in facts if self.loader.viewer.sees(fact)]

    @strawberry.field(description="What to know beside it: the facts it says that have begun, current ones first")
    async def context(self, facts: int = 16, evidence: int = 16) -> list[ContextFact]:
        rows = await self.loader.load_context(self.row.note_id, facts, evidence)
        return [
            ContextFact(
                fact=to_graphql_fact(fact, self.loader), state=FactState(state), note_ids=[Uuid(id) for id in notes]
            )
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
    loader: strawberry.Private[FactsLoader]

    @strawberry.field(description="Its own id")
    def evidence_id(self) -> Uuid:
        return Uuid(self.row.evidence_id)

    @strawberry.field(description="The note; null when it is not for you to read")
    async def note(self) -> Note | None:
        return await find_readable_note(self.loader, self.row.note_id)

    @strawberry.field(description="Since when the note counts for the fact")
    def created_at(self) -> Instant:
        return moment(self.row.created_at)


@strawberry.type(description="A fact took the place of another, because of a note")
class Supersession:
    row: strawberry.Private[model.Supersession]
    loader: strawberry.Private[FactsLoader]

    @strawberry.field(description="Its own id")
    def supersession_id(self) -> Uuid:
        return Uuid(self.row.supersession_id)

    @strawberry.field(description="The fact that ended")
    async def from_fact(self) -> Fact:
        return to_graphql_fact(await self.loader.find_one(FACTS, self.row.from_fact_id), self.loader)

    @strawberry.field(description="The fact that took its place")
    async def to_fact(self) -> Fact:
        return to_graphql_fact(await self.loader.find_one(FACTS, self.row.to_fact_id), self.loader)

    @strawberry.field(description="The note that caused it; null when it is not for you to read")
    async def note(self) -> Note | None:
        return await find_readable_note(self.loader, self.row.note_id)

    @strawberry.field(description="When the one ended and the other began")
    def effective_at(self) -> Instant:
        return moment(self.row.effective_at)

    @strawberry.field(description="When it was written down")
    def created_at(self) -> Instant:
        return moment(self.row.created_at)


@strawberry.type(description="One statement about an entity, true from validFrom until validTo")
class Fact(Identified):
    row: strawberry.Private[model.Fact]
    loader: strawberry.Private[FactsLoader]

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
        return to_graphql_entity(await self.loader.find_one(ENTITIES, self.row.subject_entity_id), self.loader)

    @strawberry.field(description="What it says of the subject, as it was said")
    def predicate(self) -> str:
        return self.row.predicate

    @strawberry.field(description="What it says of the subject, as it is meant")
    async def predicate_ref(self) -> Predicate | None:
        row = await self.loader.find_one(PREDICATES, self.row.predicate_id)
        return None if row is None else to_graphql_predicate(row, self.loader)

    @strawberry.field(description="The entity it relates the subject to; null when its object is a value")
    async def object_entity(self) -> Entity | None:
        row = await self.loader.find_one(ENTITIES, self.row.object_entity_id)
        return None if row is None else to_graphql_entity(row, self.loader)

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
    async def active(self, at: Instant | None = None) -> bool:
        return await self._read_state(at) == "current"

    @strawberry.field(description="Whether it is current, historical or future at an instant, now unless told")
    async def state(self, at: Instant | None = None) -> FactState:
        return FactState(await self._read_state(at))

    async def _read_state(self, at: Instant | None) -> str:
        asked = parse_instant_or_now(at, self.loader)
        state = self.row.state_at(asked)
        if state != "current":
            return state
        spans, _ = await self.loader.find_many(RelatedLookup(OVERRIDES, "fact_id"), self.row.fact_id)
        return state_of(self.row, spans, asked)

    @strawberry.field(description="The notes that say so and that you may read, oldest first")
    async def evidence(self) -> list[Evidence]:
        order = (Order("created_at"), Order("evidence_id"))
        rows, _ = await self.loader.find_many(
            RelatedLookup(EVIDENCE, "fact_id", self.loader.viewer.visible_evidence, order), self.row.fact_id
        )
        return [Evidence(row=row, loader=self.loader) for row in rows]

    @strawberry.field(description="How many notes that you may read say so; 0 when all of them were deleted")
    async def evidence_count(self) -> int:
        return await self.loader.count(
            RelatedLookup(EVIDENCE, "fact_id", self.loader.viewer.visible_evidence), self.row.fact_id
        )

    @strawberry.field(description="What took its place")
    async def superseded_by(self) -> list[Supersession]:
        return await self._read_links("from_fact_id")

    @strawberry.field(description="What it took the place of")
    async def supersedes(self) -> list[Supersession]:
        return await self._read_links("to_fact_id")

    async def _read_links(self, field: str) -> list[Supersession]:
        rows, _ = await self.loader.find_many(
            RelatedLookup(SUPERSESSIONS, field, self.loader.viewer.linking, (Order("effective_at"),)), self.row.fact_id
        )
        return [Supersession(row=row, loader=self.loader) for row in rows]

    @strawberry.field(description="Why it was ended by hand")
    async def invalidation_reason(self) -> str | None:
        row = await self.loader.find_one(INVALIDATIONS, self.row.fact_id)
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
class FactsConnection:
    """Common fields of both connection types; not a type of the schema."""

    table: ClassVar[Table]
    order: ClassVar[tuple[Order, ...]]
    paged: strawberry.Private[FactPage]

    @strawberry.field(description="Where the page stands")
    def page_info(self) -> PageInfo:
        return build_facts_page_info(self.paged, self.table, self.order)

    @strawberry.field(description="How many there are in all; counted only when chosen")
    async def total_count(self) -> int:
        return int(await self.paged.total())

    def _make_cursor(self, row: Any) -> str:
        return cursor_of(row, self.table, self.order)


@strawberry.type(description="A page of facts, newest first")
class FactConnection(FactsConnection):
    table, order = FACTS, NEWEST_FIRST

    @strawberry.field(description="The facts with their cursors")
    def edges(self) -> list[FactEdge]:
        loader = self.paged.loader
        return [FactEdge(cursor=self._make_cursor(row), node=to_graphql_fact(row, loader)) for row in self.paged.rows]

    @strawberry.field(description="The facts alone")
    def nodes(self) -> list[Fact]:
        return [to_graphql_fact(row, self.paged.loader) for row in self.paged.rows]


@strawberry.type(description="An entity on a page, with the cursor behind it")
class EntityEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: Entity = strawberry.field(description="The entity")


@strawberry.type(description="A page of entities, by name")
class EntityConnection(FactsConnection):
    table, order = ENTITIES, BY_NAME

    @strawberry.field(description="The entities with their cursors")
    def edges(self) -> list[EntityEdge]:
        loader = self.paged.loader
        return [
            EntityEdge(cursor=self._make_cursor(row), node=to_graphql_entity(row, loader)) for row in self.paged.rows
        ]

    @strawberry.field(description="The entities alone")
    def nodes(self) -> list[Entity]:
        return [to_graphql_entity(row, self.paged.loader) for row in self.paged.rows]


async def read_fact_page(
    loader: FactsLoader, field: str, key: str, where: Where, first: int | None, after: str | None
) -> FactConnection:
    """A page of the facts with an entity as subject or object."""
    page = parse_page({"first": first, "after": after}, FACTS, NEWEST_FIRST)
    lookup = RelatedLookup(FACTS, field, all_of(where, loader.viewer.readable), NEWEST_FIRST, page)
    rows, has_more = await loader.find_many(lookup, key)
    return FactConnection(paged=FactPage(rows, has_more, page, loader, lambda: loader.count(lookup, key)))


async def find_readable_note(loader: FactsLoader, note_id: str) -> Note | None:
    row = await loader.find_one(NOTES, note_id)
    return to_graphql_note(row, loader) if row is not None and loader.viewer.sees(row) else None


def to_graphql_entity(row: Any, loader: FactsLoader) -> Entity:
    return Entity(id=strawberry.ID(f"entity/{row.entity_id}"), row=row, loader=loader)


def to_graphql_note(row: Any, loader: FactsLoader) -> Note:
    return Note(id=strawberry.ID(f"note/{row.note_id}"), row=row, loader=loader)


def to_graphql_fact(row: Any, loader: FactsLoader) -> Fact:
    return Fact(id=strawberry.ID(f"fact/{row.fact_id}"), row=row, loader=loader)
