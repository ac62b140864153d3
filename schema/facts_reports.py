"""Answers about facts that are more than a list: reasons, reports, merges, neighbourhoods."""

from __future__ import annotations

from typing import Any

import strawberry

from schema.events import Event, shown_event
from schema.facts_lots import Lot
from schema.facts_types import Entity, Fact, Note, Supersession, shown_entity, shown_fact, shown_note
from schema.facts_words import FactState, moment
from schema.scalars import Instant
from ugs.facts.duplicates import Suggestion
from ugs.facts.merging import MergePlan
from ugs.facts.reports import Report, Why


@strawberry.type(description="A fact of a report, and how far it can be trusted")
class ReportedFact:
    fact: Fact = strawberry.field(description="The fact")
    state: FactState = strawberry.field(description="Seen from the instant of the report")
    markers: list[str] = strawberry.field(
        description="sourced (a note says so), inferred (its predicate is not active), stale (it has ended), "
        "superseded, ambiguous (more than one where one may be)"
    )


@strawberry.type(description="How many facts of a report are what")
class ReportCounts:
    current: int = strawberry.field(description="They hold")
    historical: int = strawberry.field(description="They have ended")
    future: int = strawberry.field(description="They have not begun")
    sourced: int = strawberry.field(description="A note says so")
    inferred: int = strawberry.field(description="Their predicate is not active")
    stale: int = strawberry.field(description="They have ended")
    superseded: int = strawberry.field(description="Another took their place")
    ambiguous: int = strawberry.field(description="More than one where one may be")
    evidence: int = strawberry.field(description="Pieces of evidence for all of them")


@strawberry.type(description="A fact as an edge of the topic map")
class TopicLink:
    source: str = strawberry.field(name="from", description="The subject, entity:<id>")
    target: str = strawberry.field(name="to", description="The object, entity:<id> or value:<text>")
    fact_id: strawberry.ID = strawberry.field(description="The fact")


@strawberry.type(description="What is, was and will be known about a subject")
class FactReport:
    subject: Entity = strawberry.field(description="The subject")
    as_of: Instant = strawberry.field(description="The instant it is seen from")
    facts: list[ReportedFact] = strawberry.field(description="Its facts in the order they began")
    counts: ReportCounts = strawberry.field(description="How many of them are what")
    topics: list[str] = strawberry.field(description="The nodes of the topic map")
    links: list[TopicLink] = strawberry.field(description="Its edges, one for each fact")
    truncated: bool = strawberry.field(description="Whether there are more facts than the limit")


@strawberry.type(description="A step in the chain of facts that took each other's place")
class ChainStep:
    supersession: Supersession = strawberry.field(description="Why")
    fact: Fact = strawberry.field(description="The fact it leads to")


@strawberry.type(description="Everything that stands behind one fact")
class FactReasons:
    fact: Fact = strawberry.field(description="The fact")
    notes: list[Note] = strawberry.field(description="The notes that say so, oldest first")
    replaced: list[ChainStep] = strawberry.field(description="The facts before it, nearest first")
    replaced_by: list[ChainStep] = strawberry.field(description="The facts after it, nearest first")
    invalidation_reason: str | None = strawberry.field(description="Why it was ended by hand")
    events: list[Event] = strawberry.field(description="What happened to it, oldest first")


@strawberry.type(description="An entity that a walk over facts reached")
class EntityStep:
    entity: Entity = strawberry.field(description="The entity")
    depth: int = strawberry.field(description="How many facts away it is")
    via: Fact | None = strawberry.field(description="The fact that leads to it; null for the start")


@strawberry.type(description="Two entities that may be one")
class DuplicateSuggestion:
    first: Entity = strawberry.field(description="The one")
    second: Entity = strawberry.field(description="The other")
    reason: str = strawberry.field(description="normal form, alias or edit distance")


@strawberry.type(description="A fact that says the same as another one")
class FoldedFact:
    fact: Fact = strawberry.field(description="The fact that would go")
    into: Fact = strawberry.field(description="The fact that would get its evidence")


@strawberry.type(description="What a merge would do")
class MergePreview:
    keep: Entity = strawberry.field(description="The entity that would stay")
    merge: Entity = strawberry.field(description="The entity that would become part of it")
    moved: list[Fact] = strawberry.field(description="Facts as they would be afterwards")
    folded: list[FoldedFact] = strawberry.field(description="Facts that both have; one of each pair would stay")
    conflicts: list[Fact] = strawberry.field(description="Open facts that would exclude each other")
    aliases: list[str] = strawberry.field(description="Names that would lead to the entity that stays")


def shown_report(report: Report, lot: Lot) -> FactReport:
    return FactReport(
        subject=shown_entity(report.subject, lot),
        as_of=moment(report.as_of),
        facts=[
            ReportedFact(fact=shown_fact(one.fact, lot), state=FactState(one.state), markers=one.markers)
            for one in report.facts
        ],
        counts=ReportCounts(**report.counts),
        topics=report.topics,
        links=[
            TopicLink(source=link.source, target=link.target, fact_id=strawberry.ID(f"fact/{link.fact_id}"))
            for link in report.links
        ],
        truncated=report.truncated,
    )


def shown_reasons(why: Why, lot: Lot) -> FactReasons:
    return FactReasons(
        fact=shown_fact(why.fact, lot),
        notes=[shown_note(note, lot) for note in why.notes],
        replaced=_chain(why.replaced, lot),
        replaced_by=_chain(why.replaced_by, lot),
        invalidation_reason=None if why.invalidation is None else why.invalidation.reason,
        events=[shown_event(event) for event in why.events],
    )


def _chain(steps: Any, lot: Lot) -> list[ChainStep]:
    return [ChainStep(supersession=Supersession(row=link, lot=lot), fact=shown_fact(row, lot)) for link, row in steps]


def shown_preview(plan: MergePlan, lot: Lot) -> MergePreview:
    return MergePreview(
        keep=shown_entity(plan.keep, lot),
        merge=shown_entity(plan.merge, lot),
        moved=[shown_fact(fact, lot) for fact in plan.moved],
        folded=[FoldedFact(fact=shown_fact(one, lot), into=shown_fact(twin, lot)) for one, twin in plan.folded],
        conflicts=[shown_fact(fact, lot) for group in plan.conflicts for fact in group],
        aliases=plan.aliases,
    )


def shown_suggestion(found: Suggestion, lot: Lot) -> DuplicateSuggestion:
    return DuplicateSuggestion(
        first=shown_entity(found.first, lot), second=shown_entity(found.second, lot), reason=found.reason
    )
