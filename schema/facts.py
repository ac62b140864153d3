"""Facts: questions and what is told about changes. `asOf` is when a fact holds, `at` is when it was known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import strawberry

from schema.context import Info
from schema.elements import Identified
from schema.facts_answers import FactAnswer, shown_answer
from schema.facts_inputs import EntityRef, kernel_ref
from schema.facts_lots import Lot, Paged, lot_for, own_id, shared_lot
from schema.facts_reports import (
    DuplicateSuggestion,
    EntityStep,
    FactReasons,
    FactReport,
    MergePreview,
    shown_preview,
    shown_reasons,
    shown_report,
    shown_suggestion,
)
from schema.facts_types import (
    BY_NAME,
    Entity,
    EntityConnection,
    Fact,
    FactConnection,
    shown_entity,
    shown_fact,
    shown_note,
)
from schema.facts_words import Predicate, PredicateStatus, asked_instant, shown_predicate, value_of
from schema.moments import At, moment_of
from schema.paging import page_asked
from schema.reading import IDENTIFIED
from schema.scalars import Instant, Position
from ugs.catalog import Table
from ugs.errors import LimitExceeded
from ugs.facts.errors import PredicateNotFound
from ugs.facts.lives import fact_after, is_news
from ugs.facts.model import ENTITIES, ENTITY_NODES, FACTS, NOTES, PREDICATES
from ugs.facts.names import is_uuid
from ugs.facts.queries import NEWEST_FIRST, FactFilter, entities_where
from ugs.facts.resolving import find_entities, find_ref, is_sayable
from ugs.reads.levels import one_more, without_extra
from ugs.reads.plan import Order
from ugs.reads.where import EVERYTHING, NOTHING, Where, all_of, eq, in_
from ugs.storage import EventQuery

MOST_SUGGESTED = 500


@strawberry.type
class FactsQuery:
    @strawberry.field(description="The entity that a name or alias means; null without one")
    async def entity(
        self, info: Info, name: str, tenant_id: str | None = None, project_id: str | None = None, at: At | None = None
    ) -> Entity | None:
        lot = await lot_for(info, moment_of(at))
        found = await lot.facts.entity(name, tenant=tenant_id, project=project_id, at=lot.at)
        return None if found is None else shown_entity(found, lot)

    @strawberry.field(description="Entities of a project, by name, a page at a time")
    async def entities(
        self,
        info: Info,
        tenant_id: str | None = None,
        project_id: str | None = None,
        kind: str | None = None,
        search: str | None = None,
        node_id: strawberry.ID | None = None,
        first: int | None = 50,
        after: str | None = None,
        at: At | None = None,
    ) -> EntityConnection:
        lot = await lot_for(info, moment_of(at))
        where = entities_where(lot.facts.space(tenant_id, project_id), lot.viewer, kind, search)
        where = all_of(await pointing_at(lot, node_id), where)
        return EntityConnection(paged=await root_page(lot, ENTITIES, where, BY_NAME, first, after))

    @strawberry.field(description="The predicates that can be said in a project: its own first, then by name")
    async def predicates(
        self,
        info: Info,
        tenant_id: str | None = None,
        project_id: str | None = None,
        status: PredicateStatus | None = None,
        at: At | None = None,
    ) -> list[Predicate]:
        lot = await lot_for(info, moment_of(at))
        rows = await lot.facts.predicates(value_of(status), tenant=tenant_id, project=project_id, at=lot.at)
        return [shown_predicate(row, lot) for row in rows]

    @strawberry.field(description="The predicate an alias means in a project; null without one, and none is registered")
    async def resolve_predicate(
        self, info: Info, alias: str, tenant_id: str | None = None, project_id: str | None = None, at: At | None = None
    ) -> Predicate | None:
        lot = await lot_for(info, moment_of(at))
        found = await lot.facts.resolve_predicate(alias, tenant=tenant_id, project=project_id, at=lot.at)
        return None if found is None else shown_predicate(found, lot)

    @strawberry.field(description="What holds about a subject in one scope, now or at an instant")
    async def active_facts(
        self,
        info: Info,
        scope: str,
        subject: EntityRef,
        as_of: Instant | None = None,
        tenant_id: str | None = None,
        project_id: str | None = None,
        at: At | None = None,
    ) -> list[Fact]:
        lot = await lot_for(info, moment_of(at))
        rows = await lot.facts.active_facts(
            kernel_ref(subject), scope, asked_instant(as_of, lot), tenant=tenant_id, project=project_id, at=lot.at
        )
        return [shown_fact(row, lot) for row in rows]

    @strawberry.field(description="Facts by what they say and where it was said: those that hold, unless all are asked")
    async def facts(
        self,
        info: Info,
        tenant_id: str | None = None,
        project_id: str | None = None,
        scope: str | None = None,
        subject: EntityRef | None = None,
        predicate: str | None = None,
        object: EntityRef | None = None,
        object_value: str | None = None,
        note_id: strawberry.ID | None = None,
        as_of: Instant | None = None,
        include_inactive: bool = False,
        evidenced_only: bool = False,
        first: int | None = 50,
        after: str | None = None,
        at: At | None = None,
    ) -> FactConnection:
        lot = await lot_for(info, moment_of(at))
        asked = FactFilter(
            scopes=None if scope is None else (scope,),
            object_value=object_value,
            note=None if note_id is None else own_id(note_id, "note"),
            valid_at=None if include_inactive else asked_instant(as_of, lot),
        )
        space = lot.facts.space(tenant_id, project_id)
        named = await named_ends(lot, space, subject, predicate, object)
        vouched = lot.viewer.vouched if evidenced_only else EVERYTHING
        where = all_of(named, asked.where, vouched, lot.viewer.within(space), lot.viewer.not_private)
        return FactConnection(paged=await root_page(lot, FACTS, where, NEWEST_FIRST, first, after))

    @strawberry.field(description="All facts of a subject in the order they began, at most 500")
    async def fact_timeline(
        self,
        info: Info,
        subject: EntityRef,
        predicate: str | None = None,
        tenant_id: str | None = None,
        project_id: str | None = None,
        at: At | None = None,
    ) -> list[Fact]:
        lot = await lot_for(info, moment_of(at))
        space = {"tenant": tenant_id, "project": project_id}
        found = None if predicate is None else await lot.facts.resolve_predicate(predicate, at=lot.at, **space)
        if predicate is not None and found is None:
            raise PredicateNotFound(predicate)
        id = None if found is None else found.predicate_id
        rows = await lot.facts.timeline(kernel_ref(subject), lot.at, predicate_id=id, **space)
        return [shown_fact(row, lot) for row in rows[:MOST_SUGGESTED]]

    @strawberry.field(description="Why a fact is believed: notes, what it replaced, what replaced it, events")
    async def why_fact(self, info: Info, fact_id: strawberry.ID, at: At | None = None) -> FactReasons:
        lot = await lot_for(info, moment_of(at))
        return shown_reasons(await lot.facts.why(own_id(fact_id, "fact"), lot.at), lot)

    @strawberry.field(description="Everything about a subject over all time, with marks of how far it can be trusted")
    async def fact_report(
        self,
        info: Info,
        subject: EntityRef,
        as_of: Instant | None = None,
        scopes: list[str] | None = None,
        limit: int = 100,
        tenant_id: str | None = None,
        project_id: str | None = None,
        at: At | None = None,
    ) -> FactReport:
        lot = await lot_for(info, moment_of(at))
        report = await lot.facts.report(
            kernel_ref(subject),
            asked_instant(as_of, lot),
            scopes=scopes,
            limit=limit,
            tenant=tenant_id,
            project=project_id,
            at=lot.at,
        )
        return shown_report(report, lot)

    @strawberry.field(
        description="What is believed about a subject, with the notes behind it and an account of the search"
    )
    async def ask_facts(
        self,
        info: Info,
        subject: EntityRef,
        predicate: str | None = None,
        scopes: list[str] | None = None,
        as_of: Instant | None = None,
        limit: int = 50,
        tenant_id: str | None = None,
        project_id: str | None = None,
        at: At | None = None,
    ) -> FactAnswer:
        lot = await lot_for(info, moment_of(at))
        answer = await lot.facts.ask(
            kernel_ref(subject),
            asked_instant(as_of, lot),
            predicate=predicate,
            scopes=scopes,
            limit=limit,
            tenant=tenant_id,
            project=project_id,
            at=lot.at,
        )
        return shown_answer(answer, limit, lot)

    @strawberry.field(description="Entities around one, over facts that hold at an instant, nearest first")
    async def entity_neighborhood(
        self,
        info: Info,
        entity_id: strawberry.ID,
        depth: int = 1,
        as_of: Instant | None = None,
        at: At | None = None,
    ) -> list[EntityStep]:
        lot = await lot_for(info, moment_of(at))
        id = own_id(entity_id, "entity")
        found = await lot.facts.neighbourhood(id, asked_instant(as_of, lot), depth, lot.at)
        return [
            EntityStep(
                entity=shown_entity(step.entity, lot),
                depth=step.depth,
                via=None if step.via is None else shown_fact(step.via, lot),
            )
            for step in found
        ]

    @strawberry.field(description="Entities that may be the same, the surest first")
    async def duplicate_entities(
        self, info: Info, tenant_id: str | None = None, project_id: str | None = None, limit: int = 50
    ) -> list[DuplicateSuggestion]:
        if not 0 <= limit <= MOST_SUGGESTED:
            raise LimitExceeded(f"limit lies between 0 and {MOST_SUGGESTED}", limit=MOST_SUGGESTED)
        lot = await lot_for(info)
        found = await lot.facts.suggest_duplicates(tenant=tenant_id, project=project_id, limit=limit)
        return [shown_suggestion(one, lot) for one in found]

    @strawberry.field(description="What merging two entities would do; nothing is changed")
    async def merge_preview(self, info: Info, keep_id: strawberry.ID, merge_id: strawberry.ID) -> MergePreview:
        lot = await lot_for(info)
        plan = await lot.facts.preview_merge(own_id(keep_id, "entity"), own_id(merge_id, "entity"))
        return shown_preview(plan, lot)


async def pointing_at(lot: Lot, node_id: str | None) -> Where:
    """Entities that point at a graph node."""
    if node_id is None:
        return EVERYTHING
    async with lot.facts.known(lot.at) as session:
        links = await session.fetch(ENTITY_NODES, eq("node_id", node_id))
    return in_("entity_id", [link.entity_id for link in links]) if links else NOTHING


async def named_ends(
    lot: Lot, space: Any, subject: EntityRef | None, predicate: str | None, object: EntityRef | None
) -> Where:
    """The conditions that names stand for; a name nobody has means no fact."""
    parts: list[Where] = []
    if lot.viewer.space not in (None, space):
        return NOTHING
    async with lot.facts.known(lot.at) as session:
        for field, given in (("subject_entity_id", subject), ("object_entity_id", object)):
            if given is not None:
                entity = await find_ref(session, space, kernel_ref(given))
                parts.append(NOTHING if entity is None else eq(field, entity.entity_id))
    if predicate is not None:
        found = await lot.facts.resolve_predicate(predicate, tenant=space.tenant, project=space.project, at=lot.at)
        parts.append(NOTHING if found is None else eq("predicate_id", found.predicate_id))
    return all_of(*parts)


async def root_page(
    lot: Lot, table: Table, where: Where, order: tuple[Order, ...], first: int | None, after: str | None
) -> Paged:
    """A page of rows, and how to count them all when asked."""
    page = page_asked({"first": first, "after": after}, table, order)
    async with lot.facts.known(lot.at) as session:
        rows, more = without_extra(await session.fetch(table, where, order, one_more(page)), page)

    async def total() -> int:
        async with lot.facts.known(lot.at) as session:
            return await session.count(table, where)

    return Paged(rows, more, page, lot, total)


@strawberry.type
class FactsSubscription:
    @strawberry.subscription(
        description="Facts that were asserted, ended, moved or got evidence, as the change left them"
    )
    async def facts_changed(
        self,
        info: Info,
        tenant_id: str | None = None,
        project_id: str | None = None,
        subject: EntityRef | None = None,
        after_seq: Position | None = None,
    ) -> AsyncIterator[Fact]:
        lot = await lot_for(info)
        space = lot.facts.space(tenant_id, project_id)
        async for event in info.context.system.subscribe(after_seq):
            if event.element is None or not event.type.startswith(("Fact", "Evidence")):
                continue
            async with info.context.system.session() as session:
                past = await session.events(EventQuery(element=event.element, until=event.position))
                wanted = None if subject is None else await find_ref(session, space, kernel_ref(subject))
            fact = fact_after(past) if is_news(event, past[:-1]) else None
            if fact is None or (fact.tenant_id, fact.project_id) != (space.tenant, space.project):
                continue
            if not lot.viewer.sees(fact) or (subject is not None and not is_about(fact, wanted)):
                continue
            yield shown_fact(fact, await lot_for(info))


def is_about(fact: Any, entity: Any) -> bool:
    return entity is not None and fact.subject_entity_id == entity.entity_id


# ── by global id ─────────────────────────────────────────────────────────────


async def entities_by_id(info: Info, ids: Sequence[str]) -> dict[str, Identified]:
    lot = await shared_lot(info, None)
    async with lot.facts.known() as session:
        found = await find_entities(session, ids, lot.viewer.space)
    return {id: shown_entity(row, lot) for id, row in found.items()}


async def facts_by_id(info: Info, ids: Sequence[str]) -> dict[str, Identified]:
    lot = await shared_lot(info, None)
    return {row.fact_id: shown_fact(row, lot) for row in await seen_by_id(lot, FACTS, ids)}


async def notes_by_id(info: Info, ids: Sequence[str]) -> dict[str, Identified]:
    lot = await shared_lot(info, None)
    return {row.note_id: shown_note(row, lot) for row in await seen_by_id(lot, NOTES, ids)}


async def seen_by_id(lot: Lot, table: Table, ids: Sequence[str]) -> list[Any]:
    """Those of the facts or notes with these ids that the reader may see."""
    rows = await lot.all(table, [id for id in ids if is_uuid(id)])
    return [row for row in rows if lot.viewer.sees(row)]


async def predicates_by_id(info: Info, ids: Sequence[str]) -> dict[str, Identified]:
    lot = await shared_lot(info, None)
    rows = await lot.all(PREDICATES, [id for id in ids if is_uuid(id)])
    return {row.predicate_id: shown_predicate(row, lot) for row in rows if is_sayable(row, lot.viewer.space)}


IDENTIFIED.update({"entity": entities_by_id, "fact": facts_by_id, "note": notes_by_id, "predicate": predicates_by_id})
