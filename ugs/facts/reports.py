"""Reports: all facts of a subject over all time, with markers of their reliability; and the provenance of a fact.

A report is relative to an instant: facts are current, historical or future there. `why` collects the notes of one fact,
the facts it replaced and was replaced by, and its events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from ugs.events import Event
from ugs.facts.access import AccessScope, agent_key
from ugs.facts.audience import TYPES, seen_by
from ugs.facts.errors import FactNotFound, InvalidFact
from ugs.facts.model import (
    EVIDENCE,
    FACTS,
    INVALIDATIONS,
    NOTES,
    OVERRIDES,
    PREDICATES,
    SUPERSESSIONS,
    Entity,
    Evidence,
    Fact,
    Invalidation,
    Note,
    Override,
    Predicate,
    Supersession,
)
from ugs.facts.normalization import Space
from ugs.facts.queries import NEWEST_FIRST, OLDEST_FIRST, FactFilter, evidence_of, subject_for
from ugs.facts.resolution import EntityRef, get_all, get_fact
from ugs.facts.temporal.instants import Instant
from ugs.facts.temporal.timeline import state_of
from ugs.reads.filters import Compare, Op, all_of, any_of, in_
from ugs.reads.plan import Order, Page
from ugs.storage import EventQuery, Session

MAX_REPORT_FACTS = 500
MAX_NOTES = 24
MAX_STEPS = 1_000
MARKERS = ("sourced", "inferred", "stale", "superseded", "ambiguous")
BY_EFFECT = (Order("effective_at"), Order("supersession_id"))


class Reported(Struct, frozen=True):
    """A fact of a report."""

    fact: Fact
    state: str
    markers: list[str]
    evidence: list[str]
    superseded_by: list[str]
    supersedes: list[str]


class TopicLink(Struct, frozen=True):
    """A fact as an edge of the topic map: from `entity:<id>` to `entity:<id>` or `value:<text>`."""

    source: str
    target: str
    fact_id: str


class Report(Struct, frozen=True):
    """All facts of a subject, relative to an instant."""

    subject: Entity
    as_of: Instant
    facts: list[Reported]
    counts: dict[str, int]
    """Numbers of facts per state and per marker, and of evidence."""
    topics: list[str]
    links: list[TopicLink]
    truncated: bool


async def report(
    session: Session,
    viewer: AccessScope,
    space: Space,
    subject: EntityRef,
    as_of: Instant,
    scopes: Sequence[str] | None = None,
    limit: int = 100,
) -> Report:
    """The visible facts of a subject, oldest first, relative to an instant."""
    if not 1 <= limit <= MAX_REPORT_FACTS:
        raise InvalidFact(f"limit lies between 1 and {MAX_REPORT_FACTS}", field="limit")
    entity = await subject_for(session, viewer, space, subject)
    asked = FactFilter(subject=entity.entity_id, scopes=None if scopes is None else tuple(scopes))
    where = all_of(asked.where, viewer.within(space), viewer.exclude_private)
    rows: list[Fact] = await session.fetch(FACTS, where, OLDEST_FIRST, Page(limit=limit + 1))
    reported = await _build_report_facts(session, viewer, rows[:limit], as_of)
    topics, links = topic_map(entity, rows[:limit])
    return Report(entity, as_of, reported, _counts(reported), topics, links, len(rows) > limit)


async def _build_report_facts(
    session: Session, viewer: AccessScope, facts: list[Fact], as_of: Instant
) -> list[Reported]:
    ids = [fact.fact_id for fact in facts]
    evidence = await evidence_of(session, viewer, ids, MAX_NOTES)
    links = await links_of(session, viewer, ids)
    known = await get_all(session, PREDICATES, "predicate_id", [f.predicate_id for f in facts if f.predicate_id])
    states = await states_at(session, facts, as_of)
    crowded = _find_overlapping(facts, known, as_of)
    found = []
    for fact in facts:
        by = [link.to_fact_id for link in links if link.from_fact_id == fact.fact_id]
        of = [link.from_fact_id for link in links if link.to_fact_id == fact.fact_id]
        predicate = known.get(fact.predicate_id or "")
        marks = {
            "sourced": bool(evidence[fact.fact_id]),
            "inferred": predicate is None or predicate.status != "active",
            "stale": states[fact.fact_id] == "historical",
            "superseded": bool(by),
            "ambiguous": fact.fact_id in crowded,
        }
        markers = [name for name in MARKERS if marks[name]]
        found.append(Reported(fact, states[fact.fact_id], markers, evidence[fact.fact_id], by, of))
    return found


async def states_at(session: Session, facts: Sequence[Fact], moment: Instant) -> dict[str, str]:
    """Whether each fact is `current`, `historical` or `future` at an instant."""
    ids = sorted(fact.fact_id for fact in facts if fact.holds_at(moment))
    spans: dict[str, list[Override]] = {}
    for span in await session.fetch(OVERRIDES, in_("fact_id", ids)) if ids else []:
        spans.setdefault(span.fact_id, []).append(span)
    return {fact.fact_id: state_of(fact, spans.get(fact.fact_id, ()), moment) for fact in facts}


def _find_overlapping(facts: list[Fact], predicates: dict[str, Predicate], as_of: Instant) -> set[str]:
    """Facts of single-valued predicates whose windows overlap at an instant; readers see only the latest of them."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for fact in facts:
        predicate = predicates.get(fact.predicate_id or "")
        if fact.holds_at(as_of) and predicate is not None and predicate.cardinality == "single":
            matter = (fact.scope, agent_key(fact.scope, fact.agent_id), predicate.predicate_id)
            groups.setdefault(matter, []).append(fact.fact_id)
    return {id for group in groups.values() if len(group) > 1 for id in group}


def _counts(facts: list[Reported]) -> dict[str, int]:
    counts = Counter({"current": 0, "historical": 0, "future": 0, "evidence": 0, **dict.fromkeys(MARKERS, 0)})
    for one in facts:
        counts.update([one.state, *one.markers])
        counts["evidence"] += len(one.evidence)
    return dict(counts)


def topic_map(subject: Entity, facts: Sequence[Fact]) -> tuple[list[str], list[TopicLink]]:
    """The subject and its objects as a small graph."""
    links = [TopicLink(f"entity:{subject.entity_id}", topic_of(fact), fact.fact_id) for fact in facts]
    return list(dict.fromkeys([f"entity:{subject.entity_id}", *(link.target for link in links)])), links


def topic_of(fact: Fact) -> str:
    return f"value:{fact.object_value}" if fact.object_entity_id is None else f"entity:{fact.object_entity_id}"


async def links_of(session: Session, viewer: AccessScope, fact_ids: Sequence[str]) -> list[Supersession]:
    """The supersessions of these facts whose facts are both visible."""
    ids = sorted(set(fact_ids))
    if not ids:
        return []
    where = any_of(in_("from_fact_id", ids), in_("to_fact_id", ids))
    return await session.fetch(SUPERSESSIONS, all_of(where, viewer.linking), BY_EFFECT)


async def timeline(
    session: Session, viewer: AccessScope, space: Space, subject: EntityRef, predicate_id: str | None = None
) -> list[Fact]:
    """All visible facts of a subject, ordered by their begin."""
    entity = await subject_for(session, viewer, space, subject)
    asked = FactFilter(subject=entity.entity_id, predicate=predicate_id)
    return await session.fetch(FACTS, all_of(asked.where, viewer.within(space), viewer.exclude_private), OLDEST_FIRST)


class Why(Struct, frozen=True):
    """The provenance of one fact."""

    fact: Fact
    notes: list[Note]
    replaced: list[tuple[Supersession, Fact]]
    """The facts before it, nearest first."""
    replaced_by: list[tuple[Supersession, Fact]]
    """The facts after it, nearest first."""
    invalidation: Invalidation | None
    events: list[Event]


async def get_visible_fact(session: Session, viewer: AccessScope, fact_id: str) -> Fact:
    """A fact by id; raises `FactNotFound` also if the reader may not see it."""
    fact = await get_fact(session, fact_id, viewer.space)
    if not viewer.sees(fact):
        raise FactNotFound(fact_id)
    return fact


async def why(session: Session, viewer: AccessScope, fact_id: str) -> Why:
    """Collect the provenance of a fact."""
    fact = await get_visible_fact(session, viewer, fact_id)
    evidence: list[Evidence] = await session.fetch(
        EVIDENCE, in_("fact_id", [fact.fact_id]), (Order("created_at"), Order("evidence_id"))
    )
    notes = await get_all(session, NOTES, "note_id", [row.note_id for row in evidence])
    return Why(
        fact=fact,
        notes=[note for row in evidence if (note := notes.get(row.note_id)) is not None and viewer.sees(note)],
        replaced=await _follow_supersessions(session, viewer, fact.fact_id, back=True),
        replaced_by=await _follow_supersessions(session, viewer, fact.fact_id, back=False),
        invalidation=await session.find(INVALIDATIONS, fact.fact_id),
        events=await seen_by(session, viewer, await session.events(EventQuery(element=fact.fact_id, types=TYPES))),
    )


async def _follow_supersessions(
    session: Session, viewer: AccessScope, fact_id: str, back: bool
) -> list[tuple[Supersession, Fact]]:
    """Follow supersessions in one direction, level by level, through visible facts only."""
    here, there = ("to_fact_id", "from_fact_id") if back else ("from_fact_id", "to_fact_id")
    seen, frontier = {fact_id}, [fact_id]
    found: list[tuple[Supersession, Fact]] = []
    while frontier and len(found) < MAX_STEPS:
        links: list[Supersession] = await session.fetch(SUPERSESSIONS, in_(here, frontier), BY_EFFECT)
        rows = await get_all(session, FACTS, "fact_id", [getattr(link, there) for link in links])
        facts = {id: row for id, row in rows.items() if viewer.sees(row)}
        fresh = [link for link in links if getattr(link, there) not in seen and getattr(link, there) in facts]
        found += [(link, facts[getattr(link, there)]) for link in fresh]
        frontier = sorted({getattr(link, there) for link in fresh})
        seen.update(frontier)
    return found


ContextRow = tuple[Fact, str, list[str]]
"""A fact, its state, and the ids of its notes."""


async def relation_context(
    session: Session, viewer: AccessScope, note_ids: Sequence[str], now: Instant, facts: int = 16, evidence: int = 16
) -> dict[str, list[ContextRow]]:
    """For each note, the facts it is evidence of that have begun: current ones first, then newest first."""
    if not (1 <= facts <= 1_000 and 1 <= evidence <= 1_000):
        raise InvalidFact("between 1 and 1000 facts and pieces of evidence", field="limit")
    told = all_of(in_("note_id", sorted(set(note_ids))), viewer.visible_evidence)
    rows: list[Evidence] = await session.fetch(EVIDENCE, told) if note_ids else []
    where = all_of(
        in_("fact_id", sorted({row.fact_id for row in rows})), Compare("valid_from", Op.LE, now), viewer.readable
    )
    found: list[Fact] = await session.fetch(FACTS, where, NEWEST_FIRST) if rows else []
    states = await states_at(session, found, now)
    found.sort(key=lambda fact: states[fact.fact_id] != "current")
    notes = await evidence_of(session, viewer, [fact.fact_id for fact in found], evidence)
    said = {(row.note_id, row.fact_id) for row in rows}
    return {
        id: [(fact, states[fact.fact_id], notes[fact.fact_id]) for fact in found if (id, fact.fact_id) in said][:facts]
        for id in note_ids
    }
