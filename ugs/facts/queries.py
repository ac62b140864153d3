"""Queries about facts: by validity, project, subject, predicate and note.

Two times are independent of each other (bitemporal): the instant at which a fact holds (valid time) is an argument
here; the state of knowledge (transaction time) is the session itself (`System.session_at`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ugs.facts.access import AccessScope
from ugs.facts.errors import EntityNotFound, InvalidFact, PredicateNotFound
from ugs.facts.model import EVIDENCE, FACTS, PREDICATES, Entity, Evidence, Fact, Predicate
from ugs.facts.normalization import Space, normalize_name, scope_keys
from ugs.facts.resolution import EntityRef, find_predicate, get_ref
from ugs.facts.temporal.instants import Instant
from ugs.reads.filters import EVERYTHING, Compare, Linked, Not, Op, Where, all_of, any_of, eq, in_
from ugs.reads.plan import WHOLE, Order, Page
from ugs.storage import Session

NEWEST_FIRST = (Order("valid_from", descending=True), Order("fact_id", descending=True))
OLDEST_FIRST = (Order("valid_from"), Order("fact_id"))
BY_NAME = (Order("canonical_norm"),)
MAX_ANSWER_FACTS = 200
MAX_EVIDENCE = 16


def holds_at(moment: Instant) -> Where:
    """The condition for facts that hold at an instant: begun, not ended, and not overridden by a later one."""
    within = _window_condition(moment)
    return all_of(within, Not(Linked("overrides", within)))


def _window_condition(moment: Instant) -> Where:
    """The condition for rows whose window includes an instant."""
    return all_of(
        Compare("valid_from", Op.LE, moment), any_of(eq("valid_to", None), Compare("valid_to", Op.GT, moment))
    )


class FactFilter(Struct, frozen=True):
    """A filter of facts, by their content, scope, note and validity."""

    scopes: tuple[str, ...] | None = None
    subject: str | None = None
    object: str | None = None
    object_value: str | None = None
    predicate: str | None = None
    note: str | None = None
    valid_at: Instant | None = None

    @property
    def where(self) -> Where:
        named = [
            eq(field, value)
            for field, value in (
                ("subject_entity_id", self.subject),
                ("object_entity_id", self.object),
                ("predicate_id", self.predicate),
                ("object_value", self.object_value),
            )
            if value is not None
        ]
        linked = Linked("evidence", eq("note_id", self.note)) if self.note is not None else EVERYTHING
        return all_of(
            *named,
            EVERYTHING if self.scopes is None else in_("scope", self.scopes),
            EVERYTHING if self.valid_at is None else holds_at(self.valid_at),
            linked,
        )


ANY_FACT = FactFilter()


async def fetch_active_facts_for_subject(
    session: Session, tenant_id: str, project_id: str, scope: str, subject_entity_id: str, now: Instant
) -> list[Fact]:
    """The query of the seed: the facts of a subject in one scope that hold at `now`."""
    where = all_of(
        eq("subject_entity_id", subject_entity_id),
        eq("tenant_id", tenant_id),
        eq("project_id", project_id),
        eq("scope", scope),
        holds_at(now),
    )
    return await session.fetch(FACTS, where, NEWEST_FIRST)


def entities_where(space: Space, viewer: AccessScope, kind: str | None = None, search: str | None = None) -> Where:
    """The condition for entities of a project, of a kind, whose name contains a text."""
    return all_of(
        viewer.within(space),
        EVERYTHING if kind is None else eq("kind", kind),
        EVERYTHING if not search else Compare("canonical_norm", Op.CONTAINS, normalize_name(search)),
    )


async def list_predicates(
    session: Session, space: Space, viewer: AccessScope, status: str | None = None
) -> list[Predicate]:
    """The predicates available in a project, nearest scope first, then by name."""
    if viewer.space is not None and viewer.space != space:
        return []
    keys = scope_keys(space)
    where = all_of(in_("scope_key", keys), EVERYTHING if status is None else eq("status", status))
    rows: list[Predicate] = await session.fetch(PREDICATES, where)
    return sorted(rows, key=lambda row: (keys.index(row.scope_key), row.canonical_norm))


# ── the graph query of the upstream service: bounded, explained ──────────────


class Answer(Struct, frozen=True):
    """Facts of a subject at an instant, with the parameters and extent of the search."""

    as_of: Instant
    subject: Entity
    predicate: Predicate | None
    scopes: list[str]
    facts: list[Fact]
    evidence: dict[str, list[str]]
    """Ids of the notes behind each fact, oldest first, at most sixteen."""
    queried: int
    truncated: bool


async def ask(
    session: Session,
    viewer: AccessScope,
    space: Space,
    subject: EntityRef,
    as_of: Instant,
    predicate: str | None = None,
    scopes: Sequence[str] | None = None,
    limit: int = 50,
) -> Answer:
    """The facts of a subject that hold at an instant; facts without a note visible to the reader are left out."""
    if not 1 <= limit <= MAX_ANSWER_FACTS:
        raise InvalidFact(f"limit lies between 1 and {MAX_ANSWER_FACTS}", field="limit")
    entity = await subject_for(session, viewer, space, subject)
    found = None if predicate is None else await _resolve_named_predicate(session, space, predicate)
    wanted = None if scopes is None else _distinct(scopes)
    asked = FactFilter(
        scopes=None if wanted is None else tuple(wanted),
        subject=entity.entity_id,
        predicate=None if found is None else found.predicate_id,
        valid_at=as_of,
    )
    where = all_of(asked.where, viewer.within(space), viewer.exclude_private, viewer.with_visible_evidence)
    facts: list[Fact] = await session.fetch(FACTS, where, NEWEST_FIRST, Page(limit=limit + 1))
    shown = facts[:limit]
    evidence = await evidence_of(session, viewer, [fact.fact_id for fact in shown], MAX_EVIDENCE)
    seen = wanted if wanted is not None else _distinct(fact.scope for fact in shown)
    return Answer(as_of, entity, found, seen, shown, evidence, len(facts), len(facts) > limit)


async def subject_for(session: Session, viewer: AccessScope, space: Space, ref: EntityRef) -> Entity:
    """Resolve the subject of a query; raises `EntityNotFound` also for a project that the reader may not see."""
    if viewer.space is not None and viewer.space != space:
        raise EntityNotFound(ref.id or ref.name or "")
    return await get_ref(session, space, ref)


async def _resolve_named_predicate(session: Session, space: Space, named: str) -> Predicate:
    found = await find_predicate(session, space, named)
    if found is None:
        raise PredicateNotFound(named)
    return found


def _distinct(scopes: Iterable[str]) -> list[str]:
    distinct = list(dict.fromkeys(scopes))
    if not all(scope.strip() for scope in distinct):
        raise InvalidFact("a scope must not be blank", field="scopes")
    return distinct


async def evidence_of(
    session: Session, viewer: AccessScope, fact_ids: Sequence[str], most: int | None = None
) -> dict[str, list[str]]:
    """The ids of the notes of each fact that a reader may see, oldest first."""
    found: dict[str, list[str]] = {id: [] for id in fact_ids}
    if not fact_ids:
        return found
    page = Page(limit=most, per="fact_id") if most is not None else WHOLE
    order = (Order("created_at"), Order("evidence_id"))
    where = all_of(in_("fact_id", sorted(set(fact_ids))), viewer.visible_evidence)
    rows: list[Evidence] = await session.fetch(EVIDENCE, where, order, page)
    for row in rows:
        found[row.fact_id].append(row.note_id)
    return found
