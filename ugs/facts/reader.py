"""The reading part of the Python API of facts; records that the principal may not see are treated as missing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ugs.events import Event
from ugs.facts import duplicates, graph_view, queries, reports
from ugs.facts.access import AccessScope, resolve_space
from ugs.facts.commands.entity_merge import MergePlan, plan_merge
from ugs.facts.model import FACTS, Entity, Fact, Predicate
from ugs.facts.normalization import Space
from ugs.facts.resolution import EntityRef, find_entity, find_predicate, find_ref, get_entity
from ugs.facts.temporal.instants import Instant, end_of, instant_of
from ugs.identity import LOCAL, Principal
from ugs.reads.filters import all_of
from ugs.reads.plan import WHOLE, Page
from ugs.storage import EventQuery, Session

if TYPE_CHECKING:
    from ugs.log.at import At
    from ugs.system import System

Moment = datetime | str | int
SHARED = "project_shared"


def ref(entity: str | EntityRef | Entity) -> EntityRef:
    """The reference to an entity that is given as a name, a reference or a row."""
    if isinstance(entity, Entity):
        return EntityRef(id=entity.entity_id)
    return entity if isinstance(entity, EntityRef) else EntityRef(name=entity)


class FactsReader:
    """Queries about entities, predicates and facts, for one principal."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        self.system = system
        self.principal = principal
        self.viewer = AccessScope.of(principal)

    def space(self, tenant: str | None = None, project: str | None = None) -> Space:
        """The project of a query; defaults to the principal's own."""
        return resolve_space(self.principal, tenant, project)

    @asynccontextmanager
    async def known(self, at: At | None = None) -> AsyncIterator[Session]:
        """A session on the state at a log position or time; the current state by default."""
        async with self.system.session_at(at) as session:
            yield session

    async def now(self, at: At | None = None) -> Instant:
        """The current time, or the time of the past state being read."""
        if at is None:
            return end_of(self.system.clock.now())
        if at.instant is not None:
            return end_of(at.instant)
        async with self.known(at) as past:
            return end_of((await past.head()).timestamp)

    async def find_entity(self, id: str, at: At | None = None) -> Entity | None:
        """An entity by its id; a merged one resolves to the entity it was merged into."""
        async with self.known(at) as session:
            return await find_entity(session, id, self.viewer.space)

    async def entity(
        self, name: str, *, tenant: str | None = None, project: str | None = None, at: At | None = None
    ) -> Entity | None:
        """The entity with a name or an alias."""
        space = self.space(tenant, project)
        if self.viewer.space not in (None, space):
            return None
        async with self.known(at) as session:
            return await find_ref(session, space, EntityRef(name=name))

    async def preview_merge(self, keep_id: str, merge_id: str) -> MergePlan:
        """The effect of merging two entities, without doing it."""
        async with self.known() as session:
            return (await plan_merge(session, keep_id, merge_id, self.viewer.space)).seen_by(self.viewer)

    async def suggest_duplicates(
        self, *, tenant: str | None = None, project: str | None = None, limit: int = 50
    ) -> list[duplicates.Suggestion]:
        async with self.known() as session:
            return await duplicates.suggest_duplicates(session, self.viewer, self.space(tenant, project), limit)

    async def resolve_predicate(
        self, alias: str, *, tenant: str | None = None, project: str | None = None, at: At | None = None
    ) -> Predicate | None:
        """The predicate with an alias in a project; never registers one."""
        space = self.space(tenant, project)
        if self.viewer.space not in (None, space):
            return None
        async with self.known(at) as session:
            return await find_predicate(session, space, alias)

    async def predicates(
        self,
        status: str | None = None,
        *,
        tenant: str | None = None,
        project: str | None = None,
        at: At | None = None,
    ) -> list[Predicate]:
        async with self.known(at) as session:
            return await queries.list_predicates(session, self.space(tenant, project), self.viewer, status)

    async def find_fact(self, id: str, at: At | None = None) -> Fact:
        async with self.known(at) as session:
            return await reports.get_visible_fact(session, self.viewer, id)

    async def facts(
        self,
        asked: queries.FactFilter = queries.ANY_FACT,
        page: Page = WHOLE,
        *,
        tenant: str | None = None,
        project: str | None = None,
        at: At | None = None,
    ) -> list[Fact]:
        """The facts that match a filter, newest first."""
        where = all_of(asked.where, self.viewer.within(self.space(tenant, project)), self.viewer.exclude_private)
        async with self.known(at) as session:
            return await session.fetch(FACTS, where, queries.NEWEST_FIRST, page)

    async def active_facts(
        self,
        subject: str | EntityRef | Entity,
        scope: str = SHARED,
        valid_at: Moment | None = None,
        *,
        tenant: str | None = None,
        project: str | None = None,
        at: At | None = None,
    ) -> list[Fact]:
        """The facts of a subject in a scope that hold at `valid_at` (default: now), as recorded at `at`."""
        space = self.space(tenant, project)
        moment = await self.now(at) if valid_at is None else instant_of(valid_at, "asOf")
        async with self.known(at) as session:
            entity = await queries.subject_for(session, self.viewer, space, ref(subject))
            rows = await queries.fetch_active_facts_for_subject(
                session, space.tenant, space.project, scope, entity.entity_id, moment
            )
        return [row for row in rows if self.viewer.sees(row)]

    async def ask(self, subject: str | EntityRef | Entity, as_of: Moment | None = None, **more: Any) -> queries.Answer:
        """The facts of a subject at an instant, with evidence and the extent of the search."""
        at: At | None = more.pop("at", None)
        space = self.space(more.pop("tenant", None), more.pop("project", None))
        moment = await self.now(at) if as_of is None else instant_of(as_of, "asOf")
        async with self.known(at) as session:
            return await queries.ask(session, self.viewer, space, ref(subject), moment, **more)

    async def report(
        self, subject: str | EntityRef | Entity, as_of: Moment | None = None, **more: Any
    ) -> reports.Report:
        """All facts of a subject over all time, classified relative to an instant."""
        at: At | None = more.pop("at", None)
        space = self.space(more.pop("tenant", None), more.pop("project", None))
        moment = await self.now(at) if as_of is None else instant_of(as_of, "asOf")
        async with self.known(at) as session:
            return await reports.report(session, self.viewer, space, ref(subject), moment, **more)

    async def timeline(self, subject: str | EntityRef | Entity, at: At | None = None, **more: Any) -> list[Fact]:
        """All facts of a subject, ordered by their begin."""
        space = self.space(more.pop("tenant", None), more.pop("project", None))
        async with self.known(at) as session:
            return await reports.timeline(session, self.viewer, space, ref(subject), **more)

    async def why(self, fact_id: str, at: At | None = None) -> reports.Why:
        """The provenance of a fact: its notes, predecessors, successors, and events."""
        async with self.known(at) as session:
            return await reports.why(session, self.viewer, fact_id)

    async def relation_context(
        self,
        note_ids: Sequence[str],
        as_of: Moment | None = None,
        facts: int = 16,
        evidence: int = 16,
        at: At | None = None,
    ) -> dict[str, list[reports.ContextRow]]:
        """The facts that each note is evidence of, current ones first."""
        moment = await self.now(at) if as_of is None else instant_of(as_of, "asOf")
        async with self.known(at) as session:
            return await reports.relation_context(session, self.viewer, note_ids, moment, facts, evidence)

    async def neighbourhood(
        self, entity_id: str, valid_at: Moment | None = None, depth: int = 1, at: At | None = None
    ) -> list[graph_view.Reached]:
        """The entities around one, connected by facts that hold at an instant."""
        moment = await self.now(at) if valid_at is None else instant_of(valid_at, "asOf")
        async with self.known(at) as session:
            entity = await get_entity(session, entity_id, self.viewer.space)
            return await graph_view.neighbourhood(session, self.viewer, entity, moment, depth)

    async def surroundings(self, fact_ids: Sequence[str], limit: int) -> graph_view.Surroundings:
        """These facts with those that hold around them now."""
        moment = await self.now()
        async with self.known() as session:
            return await graph_view.surroundings(session, self.viewer, fact_ids, moment, limit)

    async def was_created(self, element: str, events: Sequence[Event]) -> bool:
        """Whether one of these events is the first about an element."""
        async with self.known() as session:
            first = await session.events(EventQuery(element=element, limit=1))
        return bool(first) and any(event.position == first[0].position for event in events)
