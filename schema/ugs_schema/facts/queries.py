"""Root query and subscription fields of facts. `asOf` is valid time, `at` is transaction time (when it was known)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import strawberry

from ugs.errors import LimitExceeded
from ugs.facts.errors import PredicateNotFound
from ugs.facts.model import ENTITIES, ENTITY_NODES, FACTS, NOTES, PREDICATES
from ugs.facts.normalization import is_uuid
from ugs.facts.queries import NEWEST_FIRST, FactFilter, entities_where
from ugs.facts.resolution import find_entities, find_ref, is_visible_in
from ugs.facts.temporal.history import fact_after, is_reported
from ugs.log.at import At as KernelAt
from ugs.reads.filters import EVERYTHING, NOTHING, Where, all_of, eq, in_
from ugs.reads.level_executor import one_more, without_extra
from ugs.reads.plan import Order
from ugs.storage import EventQuery
from ugs.tables import Table
from ugs_schema.context import Info
from ugs_schema.facts.answers import FactAnswer, to_graphql_answer
from ugs_schema.facts.inputs import EntityRef, to_kernel_ref
from ugs_schema.facts.loaders import FactPage, FactsLoader, get_shared_loader, make_loader, strip_kind
from ugs_schema.facts.reports import (
    DuplicateSuggestion,
    EntityStep,
    FactReasons,
    FactReport,
    MergePreview,
    to_graphql_preview,
    to_graphql_reasons,
    to_graphql_report,
    to_graphql_suggestion,
)
from ugs_schema.facts.types import (
    BY_NAME,
    Entity,
    EntityConnection,
    Fact,
    FactConnection,
    to_graphql_entity,
    to_graphql_fact,
    to_graphql_note,
)
from ugs_schema.facts.vocabulary import (
    Predicate,
    PredicateStatus,
    get_enum_value,
    parse_instant_or_now,
    to_graphql_predicate,
)
from ugs_schema.graph.queries import IDENTIFIED_LOOKUPS
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.graph.types import Identified
from ugs_schema.list_page import PAGING_DESCRIPTION, cut_page
from ugs_schema.pagination import parse_page
from ugs_schema.scalars import Instant, Position

MAX_SUGGESTED = 500


@strawberry.type
class FactsQuery:
    @strawberry.field(description="The entity that a name or alias means; null without one")
    async def entity(
        self, info: Info, name: str, tenant_id: str | None = None, project_id: str | None = None, at: At | None = None
    ) -> Entity | None:
        loader = await make_loader(info, parse_at(at))
        found = await loader.facts.entity(name, tenant=tenant_id, project=project_id, at=loader.at)
        return None if found is None else to_graphql_entity(found, loader)

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
        loader = await make_loader(info, parse_at(at))
        where = entities_where(loader.facts.space(tenant_id, project_id), loader.viewer, kind, search)
        where = all_of(await restrict_to_node(loader, node_id), where)
        return EntityConnection(paged=await read_root_page(loader, ENTITIES, where, BY_NAME, first, after))

    @strawberry.field(
        description="The predicates that can be said in a project: its own first, then by name" + PAGING_DESCRIPTION
    )
    async def predicates(
        self,
        info: Info,
        tenant_id: str | None = None,
        project_id: str | None = None,
        status: PredicateStatus | None = None,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[Predicate]:
        loader = await make_loader(info, parse_at(at))
        rows = await loader.facts.predicates(get_enum_value(status), tenant=tenant_id, project=project_id, at=loader.at)
        return [
            to_graphql_predicate(row, loader)
            for row in cut_page(rows, first, after, lambda row: row.predicate_id, "predicate/")
        ]

    @strawberry.field(description="The predicate an alias means in a project; null without one, and none is registered")
    async def resolve_predicate(
        self, info: Info, alias: str, tenant_id: str | None = None, project_id: str | None = None, at: At | None = None
    ) -> Predicate | None:
        loader = await make_loader(info, parse_at(at))
        found = await loader.facts.resolve_predicate(alias, tenant=tenant_id, project=project_id, at=loader.at)
        return None if found is None else to_graphql_predicate(found, loader)

    @strawberry.field(description="What holds about a subject in one scope, now or at an instant" + PAGING_DESCRIPTION)
    async def active_facts(
        self,
        info: Info,
        scope: str,
        subject: EntityRef,
        as_of: Instant | None = None,
        tenant_id: str | None = None,
        project_id: str | None = None,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[Fact]:
        loader = await make_loader(info, parse_at(at))
        rows = await loader.facts.active_facts(
            to_kernel_ref(subject),
            scope,
            parse_instant_or_now(as_of, loader),
            tenant=tenant_id,
            project=project_id,
            at=loader.at,
        )
        return [to_graphql_fact(row, loader) for row in cut_page(rows, first, after, lambda row: row.fact_id, "fact/")]

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
        loader = await make_loader(info, parse_at(at))
        filter = FactFilter(
            scopes=None if scope is None else (scope,),
            object_value=object_value,
            note=None if note_id is None else strip_kind(note_id, "note"),
            valid_at=None if include_inactive else parse_instant_or_now(as_of, loader),
        )
        space = loader.facts.space(tenant_id, project_id)
        named_where = await resolve_ends(loader, space, subject, predicate, object)
        with_visible_evidence = loader.viewer.with_visible_evidence if evidenced_only else EVERYTHING
        where = all_of(
            named_where, filter.where, with_visible_evidence, loader.viewer.within(space), loader.viewer.exclude_private
        )
        return FactConnection(paged=await read_root_page(loader, FACTS, where, NEWEST_FIRST, first, after))

    @strawberry.field(description="All facts of a subject in the order they began, at most 500")
    async def fact_timeline(
        self,
        info: Info,
        subject: EntityRef,
        predicate: str | None = None,
        tenant_id: str | None = None,
        project_id: str | None = None,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[Fact]:
        loader = await make_loader(info, parse_at(at))
        space = {"tenant": tenant_id, "project": project_id}
        found = None if predicate is None else await loader.facts.resolve_predicate(predicate, at=loader.at, **space)
        if predicate is not None and found is None:
            raise PredicateNotFound(predicate)
        id = None if found is None else found.predicate_id
        rows = await loader.facts.timeline(to_kernel_ref(subject), loader.at, predicate_id=id, **space)
        return [to_graphql_fact(row, loader) for row in cut_page(rows, first, after, lambda row: row.fact_id, "fact/")]

    @strawberry.field(description="Why a fact is believed: notes, what it replaced, what replaced it, events")
    async def why_fact(self, info: Info, fact_id: strawberry.ID, at: At | None = None) -> FactReasons:
        loader = await make_loader(info, parse_at(at))
        return to_graphql_reasons(await loader.facts.why(strip_kind(fact_id, "fact"), loader.at), loader)

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
        loader = await make_loader(info, parse_at(at))
        report = await loader.facts.report(
            to_kernel_ref(subject),
            parse_instant_or_now(as_of, loader),
            scopes=scopes,
            limit=limit,
            tenant=tenant_id,
            project=project_id,
            at=loader.at,
        )
        return to_graphql_report(report, loader)

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
        loader = await make_loader(info, parse_at(at))
        answer = await loader.facts.ask(
            to_kernel_ref(subject),
            parse_instant_or_now(as_of, loader),
            predicate=predicate,
            scopes=scopes,
            limit=limit,
            tenant=tenant_id,
            project=project_id,
            at=loader.at,
        )
        return to_graphql_answer(answer, limit, loader)

    @strawberry.field(description="Entities around one, over facts that hold at an instant, nearest first")
    async def entity_neighborhood(
        self,
        info: Info,
        entity_id: strawberry.ID,
        depth: int = 1,
        as_of: Instant | None = None,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[EntityStep]:
        loader = await make_loader(info, parse_at(at))
        id = strip_kind(entity_id, "entity")
        found = await loader.facts.neighbourhood(id, parse_instant_or_now(as_of, loader), depth, loader.at)
        return [
            EntityStep(
                entity=to_graphql_entity(step.entity, loader),
                depth=step.depth,
                via=None if step.via is None else to_graphql_fact(step.via, loader),
            )
            for step in cut_page(found, first, after, lambda step: step.entity.entity_id, "entity/")
        ]

    @strawberry.field(description="Entities that may be the same, the surest first")
    async def duplicate_entities(
        self, info: Info, tenant_id: str | None = None, project_id: str | None = None, limit: int = 50
    ) -> list[DuplicateSuggestion]:
        if not 0 <= limit <= MAX_SUGGESTED:
            raise LimitExceeded(f"limit lies between 0 and {MAX_SUGGESTED}", limit=MAX_SUGGESTED)
        loader = await make_loader(info)
        found = await loader.facts.suggest_duplicates(tenant=tenant_id, project=project_id, limit=limit)
        return [to_graphql_suggestion(one, loader) for one in found]

    @strawberry.field(description="What merging two entities would do; nothing is changed")
    async def merge_preview(self, info: Info, keep_id: strawberry.ID, merge_id: strawberry.ID) -> MergePreview:
        loader = await make_loader(info)
        plan = await loader.facts.preview_merge(strip_kind(keep_id, "entity"), strip_kind(merge_id, "entity"))
        return to_graphql_preview(plan, loader)


async def restrict_to_node(loader: FactsLoader, node_id: str | None) -> Where:
    """The condition for entities that are linked to a graph node."""
    if node_id is None:
        return EVERYTHING
    async with loader.facts.known(loader.at) as session:
        links = await session.fetch(ENTITY_NODES, eq("node_id", node_id))
    return in_("entity_id", [link.entity_id for link in links]) if links else NOTHING


async def resolve_ends(
    loader: FactsLoader, space: Any, subject: EntityRef | None, predicate: str | None, object: EntityRef | None
) -> Where:
    """Resolve names to a condition; an unknown name matches no fact."""
    parts: list[Where] = []
    if loader.viewer.space not in (None, space):
        return NOTHING
    async with loader.facts.known(loader.at) as session:
        for field, given in (("subject_entity_id", subject), ("object_entity_id", object)):
            if given is not None:
                entity = await find_ref(session, space, to_kernel_ref(given))
                parts.append(NOTHING if entity is None else eq(field, entity.entity_id))
    if predicate is not None:
        found = await loader.facts.resolve_predicate(
            predicate, tenant=space.tenant, project=space.project, at=loader.at
        )
        parts.append(NOTHING if found is None else eq("predicate_id", found.predicate_id))
    return all_of(*parts)


async def read_root_page(
    loader: FactsLoader, table: Table, where: Where, order: tuple[Order, ...], first: int | None, after: str | None
) -> FactPage:
    """A page of rows, with a function that counts all of them."""
    page = parse_page({"first": first, "after": after}, table, order)
    async with loader.facts.known(loader.at) as session:
        rows, has_more = without_extra(await session.fetch(table, where, order, one_more(page)), page)

    async def total() -> int:
        async with loader.facts.known(loader.at) as session:
            return await session.count(table, where)

    return FactPage(rows, has_more, page, loader, total)


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
        loader = await make_loader(info)
        space = loader.facts.space(tenant_id, project_id)
        async for event in info.context.system.subscribe(after_seq):
            if event.element is None or not event.type.startswith(("Fact", "Evidence")):
                continue
            async with info.context.system.session() as session:
                events = await session.events(EventQuery(element=event.element, until=event.position))
                subject_entity = None if subject is None else await find_ref(session, space, to_kernel_ref(subject))
            fact = fact_after(events) if is_reported(event, events[:-1]) else None
            if fact is None or (fact.tenant_id, fact.project_id) != (space.tenant, space.project):
                continue
            if not loader.viewer.sees(fact) or (subject is not None and not is_about(fact, subject_entity)):
                continue
            yield to_graphql_fact(fact, await make_loader(info))


def is_about(fact: Any, entity: Any) -> bool:
    return entity is not None and fact.subject_entity_id == entity.entity_id


# ── by global id ─────────────────────────────────────────────────────────────


async def find_entities_by_id(info: Info, ids: Sequence[str], at: KernelAt | None) -> dict[str, Identified]:
    loader = await get_shared_loader(info, at)
    async with loader.facts.known(at) as session:
        found = await find_entities(session, ids, loader.viewer.space)
    return {id: to_graphql_entity(row, loader) for id, row in found.items()}


async def find_facts_by_id(info: Info, ids: Sequence[str], at: KernelAt | None) -> dict[str, Identified]:
    loader = await get_shared_loader(info, at)
    return {row.fact_id: to_graphql_fact(row, loader) for row in await find_visible_by_id(loader, FACTS, ids)}


async def find_notes_by_id(info: Info, ids: Sequence[str], at: KernelAt | None) -> dict[str, Identified]:
    loader = await get_shared_loader(info, at)
    return {row.note_id: to_graphql_note(row, loader) for row in await find_visible_by_id(loader, NOTES, ids)}


async def find_visible_by_id(loader: FactsLoader, table: Table, ids: Sequence[str]) -> list[Any]:
    """The facts or notes with these ids that the caller may see."""
    rows = await loader.find_all(table, [id for id in ids if is_uuid(id)])
    return [row for row in rows if loader.viewer.sees(row)]


async def find_predicates_by_id(info: Info, ids: Sequence[str], at: KernelAt | None) -> dict[str, Identified]:
    loader = await get_shared_loader(info, at)
    rows = await loader.find_all(PREDICATES, [id for id in ids if is_uuid(id)])
    return {
        row.predicate_id: to_graphql_predicate(row, loader) for row in rows if is_visible_in(row, loader.viewer.space)
    }


IDENTIFIED_LOOKUPS.update(
    {
        "entity": find_entities_by_id,
        "fact": find_facts_by_id,
        "note": find_notes_by_id,
        "predicate": find_predicates_by_id,
    }
)
