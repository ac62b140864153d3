"""GraphQL types of reports about facts: reasons, reports, merges, neighbourhoods."""

from __future__ import annotations

from typing import Any

import strawberry

from ugs.facts.commands.entity_merge import MergePlan
from ugs.facts.duplicates import Suggestion
from ugs.facts.reports import Report, Why
from ugs_schema.facts.loaders import FactsLoader
from ugs_schema.facts.types import Entity, Fact, Note, Supersession, to_graphql_entity, to_graphql_fact, to_graphql_note
from ugs_schema.facts.vocabulary import FactState, moment
from ugs_schema.graph.events import Event, to_graphql_event
from ugs_schema.scalars import Instant


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


def to_graphql_report(report: Report, loader: FactsLoader) -> FactReport:
    return FactReport(
        subject=to_graphql_entity(report.subject, loader),
        as_of=moment(report.as_of),
        facts=[
            ReportedFact(fact=to_graphql_fact(one.fact, loader), state=FactState(one.state), markers=one.markers)
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


def to_graphql_reasons(why: Why, loader: FactsLoader) -> FactReasons:
    return FactReasons(
        fact=to_graphql_fact(why.fact, loader),
        notes=[to_graphql_note(note, loader) for note in why.notes],
        replaced=_to_graphql_chain(why.replaced, loader),
        replaced_by=_to_graphql_chain(why.replaced_by, loader),
        invalidation_reason=None if why.invalidation is None else why.invalidation.reason,
        events=[to_graphql_event(event) for event in why.events],
    )


def _to_graphql_chain(steps: Any, loader: FactsLoader) -> list[ChainStep]:
    return [
        ChainStep(supersession=Supersession(row=link, loader=loader), fact=to_graphql_fact(row, loader))
        for link, row in steps
    ]


def to_graphql_preview(plan: MergePlan, loader: FactsLoader) -> MergePreview:
    return MergePreview(
        keep=to_graphql_entity(plan.keep, loader),
        merge=to_graphql_entity(plan.merge, loader),
        moved=[to_graphql_fact(fact, loader) for fact in plan.moved],
        folded=[
            FoldedFact(fact=to_graphql_fact(one, loader), into=to_graphql_fact(twin, loader))
            for one, twin in plan.folded
        ],
        conflicts=[to_graphql_fact(fact, loader) for group in plan.conflicts for fact in group],
        aliases=plan.aliases,
    )


def to_graphql_suggestion(suggestion: Suggestion, loader: FactsLoader) -> DuplicateSuggestion:
    return DuplicateSuggestion(
        first=to_graphql_entity(suggestion.first, loader),
        second=to_graphql_entity(suggestion.second, loader),
        reason=suggestion.reason,
    )
