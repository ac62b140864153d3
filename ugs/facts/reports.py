"""Reports: everything known about a subject over all time, marked by how far it can be trusted; and why.

A report looks from an instant: facts are current, historical or future there. `why` follows one fact to the notes
behind it, to the facts it replaced and was replaced by, and to the events that made it so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from ugs.events import Event
from ugs.facts.errors import FactNotFound, InvalidFact
from ugs.facts.instants import Instant
from ugs.facts.model import (
    EVIDENCE,
    FACTS,
    INVALIDATIONS,
    NOTES,
    PREDICATES,
    SUPERSESSIONS,
    Entity,
    Evidence,
    Fact,
    Invalidation,
    Note,
    Predicate,
    Supersession,
)
from ugs.facts.names import Space
from ugs.facts.queries import NEWEST_FIRST, OLDEST_FIRST, FactFilter, evidence_of, subject_for
from ugs.facts.resolving import EntityRef, get_all, get_fact
from ugs.facts.viewing import Viewer
from ugs.reads.plan import Order, Page
from ugs.reads.where import Compare, Op, all_of, any_of, in_
from ugs.storage import EventQuery, Session

MOST_REPORTED = 500
MOST_NOTES = 24
MOST_STEPS = 1_000
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
    """What is, was and will be known about a subject."""

    subject: Entity
    as_of: Instant
    facts: list[Reported]
    counts: dict[str, int]
    """How many facts are current, historical, future; how many carry each marker; how many pieces of evidence."""
    topics: list[str]
    links: list[TopicLink]
    truncated: bool


async def report(
    session: Session,
    viewer: Viewer,
    space: Space,
    subject: EntityRef,
    as_of: Instant,
    scopes: Sequence[str] | None = None,
    limit: int = 100,
) -> Report:
    """Everything about a subject, oldest first, seen from an instant."""
    if not 1 <= limit <= MOST_REPORTED:
        raise InvalidFact(f"limit lies between 1 and {MOST_REPORTED}", field="limit")
    entity = await subject_for(session, viewer, space, subject)
    asked = FactFilter(subject=entity.entity_id, scopes=None if scopes is None else tuple(scopes))
    where = all_of(asked.where, viewer.within(space), viewer.not_private)
    rows: list[Fact] = await session.fetch(FACTS, where, OLDEST_FIRST, Page(limit=limit + 1))
    reported = await _reported(session, viewer, rows[:limit], as_of)
    topics, links = topic_map(entity, rows[:limit])
    return Report(entity, as_of, reported, _counts(reported), topics, links, len(rows) > limit)


async def _reported(session: Session, viewer: Viewer, facts: list[Fact], as_of: Instant) -> list[Reported]:
    ids = [fact.fact_id for fact in facts]
    evidence = await evidence_of(session, viewer, ids, MOST_NOTES)
    links = await links_of(session, ids)
    known = await get_all(session, PREDICATES, "predicate_id", [f.predicate_id for f in facts if f.predicate_id])
    crowded = _crowded(facts, known, as_of)
    found = []
    for fact in facts:
        by = [link.to_fact_id for link in links if link.from_fact_id == fact.fact_id]
        of = [link.from_fact_id for link in links if link.to_fact_id == fact.fact_id]
        predicate = known.get(fact.predicate_id or "")
        marks = {
            "sourced": bool(evidence[fact.fact_id]),
            "inferred": predicate is None or predicate.status != "active",
            "stale": fact.state_at(as_of) == "historical",
            "superseded": bool(by),
            "ambiguous": fact.fact_id in crowded,
        }
        markers = [name for name in MARKERS if marks[name]]
        found.append(Reported(fact, fact.state_at(as_of), markers, evidence[fact.fact_id], by, of))
    return found


def _crowded(facts: list[Fact], predicates: dict[str, Predicate], as_of: Instant) -> set[str]:
    """Facts of single-valued predicates that hold together where only one should."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        predicate = predicates.get(fact.predicate_id or "")
        if fact.holds_at(as_of) and predicate is not None and predicate.cardinality == "single":
            groups.setdefault((fact.scope, predicate.predicate_id), []).append(fact.fact_id)
    return {id for group in groups.values() if len(group) > 1 for id in group}


def _counts(facts: list[Reported]) -> dict[str, int]:
    counts = Counter({"current": 0, "historical": 0, "future": 0, "evidence": 0, **dict.fromkeys(MARKERS, 0)})
    for one in facts:
        counts.update([one.state, *one.markers])
        counts["evidence"] += len(one.evidence)
    return dict(counts)


def topic_map(subject: Entity, facts: Sequence[Fact]) -> tuple[list[str], list[TopicLink]]:
    """The subject and what it is related to, as a small graph."""
    links = [TopicLink(f"entity:{subject.entity_id}", topic_of(fact), fact.fact_id) for fact in facts]
    return list(dict.fromkeys([f"entity:{subject.entity_id}", *(link.target for link in links)])), links


def topic_of(fact: Fact) -> str:
    return f"value:{fact.object_value}" if fact.object_entity_id is None else f"entity:{fact.object_entity_id}"


async def links_of(session: Session, fact_ids: Sequence[str]) -> list[Supersession]:
    """Supersessions that touch these facts."""
    ids = sorted(set(fact_ids))
    if not ids:
        return []
    where = any_of(in_("from_fact_id", ids), in_("to_fact_id", ids))
    return await session.fetch(SUPERSESSIONS, where, BY_EFFECT)


async def timeline(
    session: Session, viewer: Viewer, space: Space, subject: EntityRef, predicate_id: str | None = None
) -> list[Fact]:
    """All facts of a subject, in the order they began."""
    entity = await subject_for(session, viewer, space, subject)
    asked = FactFilter(subject=entity.entity_id, predicate=predicate_id)
    return await session.fetch(FACTS, all_of(asked.where, viewer.within(space), viewer.not_private), OLDEST_FIRST)


class Why(Struct, frozen=True):
    """Everything that stands behind one fact."""

    fact: Fact
    notes: list[Note]
    replaced: list[tuple[Supersession, Fact]]
    """The facts before it, nearest first."""
    replaced_by: list[tuple[Supersession, Fact]]
    """The facts after it, nearest first."""
    invalidation: Invalidation | None
    events: list[Event]


async def fact_for(session: Session, viewer: Viewer, fact_id: str) -> Fact:
    """A fact, if the reader may see it."""
    fact = await get_fact(session, fact_id, viewer.space)
    if not viewer.sees(fact):
        raise FactNotFound(fact_id)
    return fact


async def why(session: Session, viewer: Viewer, fact_id: str) -> Why:
    """Why a fact is believed, or no longer is."""
    fact = await fact_for(session, viewer, fact_id)
    evidence: list[Evidence] = await session.fetch(
        EVIDENCE, in_("fact_id", [fact.fact_id]), (Order("created_at"), Order("evidence_id"))
    )
    notes = await get_all(session, NOTES, "note_id", [row.note_id for row in evidence])
    return Why(
        fact=fact,
        notes=[note for row in evidence if (note := notes.get(row.note_id)) is not None and viewer.sees(note)],
        replaced=await _chain(session, fact.fact_id, back=True),
        replaced_by=await _chain(session, fact.fact_id, back=False),
        invalidation=await session.find(INVALIDATIONS, fact.fact_id),
        events=await session.events(EventQuery(element=fact.fact_id)),
    )


async def _chain(session: Session, fact_id: str, back: bool) -> list[tuple[Supersession, Fact]]:
    """Supersessions one after another, a level of them at a time."""
    here, there = ("to_fact_id", "from_fact_id") if back else ("from_fact_id", "to_fact_id")
    seen, frontier = {fact_id}, [fact_id]
    found: list[tuple[Supersession, Fact]] = []
    while frontier and len(found) < MOST_STEPS:
        links: list[Supersession] = await session.fetch(SUPERSESSIONS, in_(here, frontier), BY_EFFECT)
        facts = await get_all(session, FACTS, "fact_id", [getattr(link, there) for link in links])
        fresh = [link for link in links if getattr(link, there) not in seen and getattr(link, there) in facts]
        found += [(link, facts[getattr(link, there)]) for link in fresh]
        frontier = sorted({getattr(link, there) for link in fresh})
        seen.update(frontier)
    return found


ContextRow = tuple[Fact, str, list[str]]
"""A fact, whether it is current, and the ids of the notes behind it."""


async def relation_context(
    session: Session, viewer: Viewer, note_ids: Sequence[str], now: Instant, facts: int = 16, evidence: int = 16
) -> dict[str, list[ContextRow]]:
    """For each note, the facts it is evidence of that have begun: current ones first, then newest first."""
    if not (1 <= facts <= 1_000 and 1 <= evidence <= 1_000):
        raise InvalidFact("between 1 and 1000 facts and pieces of evidence", field="limit")
    told = all_of(in_("note_id", sorted(set(note_ids))), viewer.vouching)
    rows: list[Evidence] = await session.fetch(EVIDENCE, told) if note_ids else []
    where = all_of(
        in_("fact_id", sorted({row.fact_id for row in rows})), Compare("valid_from", Op.LE, now), viewer.readable
    )
    found: list[Fact] = await session.fetch(FACTS, where, NEWEST_FIRST) if rows else []
    found.sort(key=lambda fact: not fact.holds_at(now))
    notes = await evidence_of(session, viewer, [fact.fact_id for fact in found], evidence)
    said = {(row.note_id, row.fact_id) for row in rows}
    return {
        id: [(fact, fact.state_at(now), notes[fact.fact_id]) for fact in found if (id, fact.fact_id) in said][:facts]
        for id in note_ids
    }
