"""The root field `recall` and its types."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import strawberry

from ugs.recall import model
from ugs.recall.api import DEFAULT_BUDGET_TOKENS, DEFAULT_FIRST, Recall
from ugs_schema.context import Info
from ugs_schema.facts.loaders import make_loader
from ugs_schema.facts.types import Entity, to_graphql_entity
from ugs_schema.facts.vocabulary import moment
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.scalars import Instant


@strawberry.enum(description="What a recalled item is")
class RecallKind(Enum):
    FACT = strawberry.enum_value("fact", description="A fact that holds")
    NOTE = strawberry.enum_value("note", description="A note, or its passage that matches best")
    PASSAGE = strawberry.enum_value("passage", description="A passage of a node's content")
    NODE = strawberry.enum_value("node", description="A node of the graph")


Budget = Annotated[int, strawberry.argument(description="The estimated tokens of all items together, at most")]
First = Annotated[int, strawberry.argument(description="How many items, at most")]
Scopes = Annotated[list[str] | None, strawberry.argument(description="Facts and notes of these scopes only")]
Kinds = Annotated[list[RecallKind] | None, strawberry.argument(description="Items of these kinds only")]
AsOf = Annotated[Instant | None, strawberry.argument(description="When facts must hold; now when omitted")]


@strawberry.type(description="The sentence of a note that supports a fact")
class RecallQuote:
    note_id: strawberry.ID = strawberry.field(description="The note")
    text: str = strawberry.field(description="The sentence, shortened if it is long")


@strawberry.type(description="One recalled fact, note, passage or node")
class RecallItem:
    kind: RecallKind = strawberry.field(description="What it is")
    id: strawberry.ID = strawberry.field(description="The id of the fact, note or node")
    text: str = strawberry.field(description="The fact as a sentence, or the passage that matches best")
    score: int = strawberry.field(description="Points for words, likeness, distance and freshness")
    why: str = strawberry.field(description="Why it was ranked where it is")
    valid_from: Instant | None = strawberry.field(description="Since when a fact holds, or a note is recorded")
    valid_to: Instant | None = strawberry.field(description="Until when a fact holds; null while it has no end")
    scope: str | None = strawberry.field(description="The scope of a fact or a note")
    evidence: list[RecallQuote] = strawberry.field(description="What supports a fact")


@strawberry.type(description="What answers a question, best first")
class RecallResult:
    items: list[RecallItem] = strawberry.field(description="The items that fit the budget")
    entities: list[Entity] = strawberry.field(description="The entities that the question names")
    as_of: Instant = strawberry.field(description="When the facts hold")
    tokens: int = strawberry.field(description="The estimated tokens of all items")
    budget_tokens: int = strawberry.field(description="How many there may be")
    omitted: int = strawberry.field(description="Ranked items that were left out for the budget or the limit")
    truncated: bool = strawberry.field(description="Whether only the newest matches of a frequent word were ranked")
    text: str = strawberry.field(description="All items as text for a prompt")


@strawberry.type
class RecallQuery:
    @strawberry.field(
        description="Facts that hold, notes, passages and nodes that answer a question, best first, within a budget of "
        "tokens"
    )
    async def recall(
        self,
        info: Info,
        query: str,
        budget_tokens: Budget = DEFAULT_BUDGET_TOKENS,
        as_of: AsOf = None,
        at: At | None = None,
        scopes: Scopes = None,
        kinds: Kinds = None,
        first: First = DEFAULT_FIRST,
    ) -> RecallResult:
        loader = await make_loader(info, parse_at(at))
        found = await Recall(info.context.system, info.context.principal).recall(
            query, budget_tokens, as_of, loader.at, scopes, _kernel_kinds(kinds), first
        )
        return RecallResult(
            items=[to_graphql_item(item) for item in found.items],
            entities=[to_graphql_entity(entity, loader) for entity in found.entities],
            as_of=moment(found.as_of),
            tokens=found.tokens,
            budget_tokens=found.budget,
            omitted=found.omitted,
            truncated=found.truncated,
            text=found.text,
        )


def _kernel_kinds(kinds: list[RecallKind] | None) -> list[model.RecallKind] | None:
    return None if kinds is None else [model.RecallKind[kind.name] for kind in kinds]


def to_graphql_item(item: model.RecallItem) -> RecallItem:
    return RecallItem(
        kind=RecallKind[item.kind.name],
        id=strawberry.ID(item.id),
        text=item.text,
        score=item.score,
        why=item.reasons.text,
        valid_from=None if item.valid_from is None else moment(item.valid_from),
        valid_to=None if item.valid_to is None else moment(item.valid_to),
        scope=item.scope,
        evidence=[RecallQuote(note_id=strawberry.ID(quote.note_id), text=quote.text) for quote in item.evidence],
    )
