"""GraphQL types of answers about a subject, and the entity of a graph node."""

from __future__ import annotations

import strawberry

from ugs.facts.model import ENTITIES, ENTITY_NODES
from ugs.facts.normalization import Space
from ugs.facts.queries import Answer
from ugs_schema.facts.loaders import FactsLoader, RelatedLookup
from ugs_schema.facts.types import Entity, Fact, to_graphql_entity, to_graphql_fact
from ugs_schema.facts.vocabulary import Predicate, moment, to_graphql_predicate
from ugs_schema.scalars import Instant, Uuid


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


def to_graphql_answer(answer: Answer, limit: int, loader: FactsLoader) -> FactAnswer:
    return FactAnswer(
        as_of=moment(answer.as_of),
        subject=to_graphql_entity(answer.subject, loader),
        predicate=None if answer.predicate is None else to_graphql_predicate(answer.predicate, loader),
        scopes=answer.scopes,
        facts=[
            AnsweredFact(
                fact=to_graphql_fact(fact, loader), note_ids=[Uuid(id) for id in answer.evidence[fact.fact_id]]
            )
            for fact in answer.facts
        ],
        truncated=answer.truncated,
        account=AnswerAccount(queried=answer.queried, returned=len(answer.facts), limit=limit),
    )


async def find_entity_of_node(
    loader: FactsLoader, node_id: str, tenant: str | None, project: str | None
) -> Entity | None:
    """The entity of a project that is linked to a graph node; the oldest if there are several."""
    links, _ = await loader.find_many(RelatedLookup(ENTITY_NODES, "node_id"), node_id)
    space = loader.facts.space(tenant, project)
    rows = [
        row
        for row in await loader.find_all(ENTITIES, [link.entity_id for link in links])
        if Space(row.tenant_id, row.project_id) == space and loader.viewer.space in (None, space)
    ]
    return to_graphql_entity(min(rows, key=lambda row: (row.created_at, row.entity_id)), loader) if rows else None
