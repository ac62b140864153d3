"""What is believed about a subject, with an account of how it was found; and who stands behind a graph node."""

from __future__ import annotations

import strawberry

from schema.facts_lots import Lot, Related
from schema.facts_types import Entity, Fact, shown_entity, shown_fact
from schema.facts_words import Predicate, moment, shown_predicate
from schema.scalars import Instant, Uuid
from ugs.facts.model import ENTITIES, ENTITY_NODES
from ugs.facts.names import Space
from ugs.facts.queries import Answer


@strawberry.type(description="A fact of an answer, with the notes behind it")
class AnsweredFact:
    fact: Fact = strawberry.field(description="The fact")
    note_ids: list[Uuid] = strawberry.field(description="The notes that say so, oldest first, at most sixteen")


@strawberry.type(description="How an answer was found")
class AnswerAccount:
    queried: int = strawberry.field(description="Facts that were read, one beyond the limit at most")
    returned: int = strawberry.field(description="Facts in the answer")
    limit: int = strawberry.field(description="How many it may have")


@strawberry.type(description="What is believed about a subject at an instant; what nobody vouches for is left out")
class FactAnswer:
    as_of: Instant = strawberry.field(description="The instant")
    subject: Entity = strawberry.field(description="The subject")
    predicate: Predicate | None = strawberry.field(description="The predicate that was asked for")
    scopes: list[str] = strawberry.field(description="The scopes that were asked for, else those of the facts")
    facts: list[AnsweredFact] = strawberry.field(description="The facts, newest first")
    truncated: bool = strawberry.field(description="Whether there are more than the limit")
    account: AnswerAccount = strawberry.field(description="How it was found")


def shown_answer(answer: Answer, limit: int, lot: Lot) -> FactAnswer:
    return FactAnswer(
        as_of=moment(answer.as_of),
        subject=shown_entity(answer.subject, lot),
        predicate=None if answer.predicate is None else shown_predicate(answer.predicate, lot),
        scopes=answer.scopes,
        facts=[
            AnsweredFact(fact=shown_fact(fact, lot), note_ids=[Uuid(id) for id in answer.evidence[fact.fact_id]])
            for fact in answer.facts
        ],
        truncated=answer.truncated,
        account=AnswerAccount(queried=answer.queried, returned=len(answer.facts), limit=limit),
    )


async def entity_of_node(lot: Lot, node_id: str, tenant: str | None, project: str | None) -> Entity | None:
    """The entity of a project that points at a graph node; the oldest where several do."""
    links, _ = await lot.many(Related(ENTITY_NODES, "node_id"), node_id)
    space = lot.facts.space(tenant, project)
    rows = [
        row
        for row in await lot.all(ENTITIES, [link.entity_id for link in links])
        if Space(row.tenant_id, row.project_id) == space and lot.viewer.space in (None, space)
    ]
    return shown_entity(min(rows, key=lambda row: (row.created_at, row.entity_id)), lot) if rows else None
