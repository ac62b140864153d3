"""Searching nodes: by words, by likeness, or by both and the distance in the graph together."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any

import strawberry
from msgspec import Struct

from schema.context import Info
from schema.moments import At, moment_of
from schema.paging import page_info, page_size
from schema.shapes import NODE
from schema.steps import SearchHit, SearchHitConnection, SearchHitEdge
from schema.walking import hydration
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.graph.model import NODES
from ugs.graph.queries import node_filter
from ugs.graph.search import Hit, Place, having, hits_of, known_words
from ugs.identity import Scope
from ugs.moments import At as KernelAt
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs.reads.plan import Page

MOST_QUERY = 1_000
MOST_SCORE = 1e9
"""No hit comes near it."""
BY_SCORE = "-score,id"


class Asked(Struct, frozen=True):
    """The page of hits that is asked for."""

    size: int
    after: Place | None


@strawberry.enum(description="What a search goes by")
class SearchMode(Enum):
    WORDS = strawberry.enum_value("words", description="Nodes that contain all the words")
    VECTOR = strawberry.enum_value(
        "vector", description="Nodes whose texts are like the query; the score is the cosine"
    )
    HYBRID = strawberry.enum_value(
        "hybrid",
        description="Nodes found by words or by likeness, ordered by both and by their distance in the graph "
        "(reciprocal rank fusion)",
    )


Near = Annotated[
    strawberry.ID | None,
    strawberry.argument(description="For HYBRID: nodes near this one count more; by default, near the best hit"),
]
Least = Annotated[
    float | None,
    strawberry.argument(
        description="For VECTOR and HYBRID: the least cosine that counts as like; by default what suits the embedder"
    ),
]


@strawberry.type
class SearchingQuery:
    @strawberry.field(description="Nodes that answer a query, best first")
    async def search(
        self,
        info: Info,
        query: str,
        mode: SearchMode = SearchMode.WORDS,
        scope: Scope | None = None,
        type: str | None = None,
        near: Near = None,
        min_similarity: Least = None,
        first: int | None = 20,
        after: str | None = None,
        at: At | None = None,
    ) -> SearchHitConnection:
        if len(query) > MOST_QUERY:
            raise LimitExceeded(f"a search query has at most {MOST_QUERY} characters", limit=MOST_QUERY)
        options = {"type": type, "scope": scope, **_options(mode, near, min_similarity)}
        graph, moment = info.context.graph, moment_of(at)
        size = page_size({"first": first}, "first")
        page = Asked(20 if size is None else size, None if after is None else _place(after))
        if mode is SearchMode.WORDS:
            return await _by_words(info, query, page, moment, options)
        ways = {SearchMode.VECTOR: graph.similar, SearchMode.HYBRID: graph.hybrid}
        hits = await ways[mode](query, moment, **options)
        return await hit_page(info, _behind(hits, page.after), page, moment, len(hits))


def _options(mode: SearchMode, near: str | None, least: float | None) -> Mapping[str, Any]:
    """What only some modes take."""
    if near is not None and mode is not SearchMode.HYBRID:
        raise InvalidSyntax("near goes with mode HYBRID")
    if least is not None and (mode is SearchMode.WORDS or not -1 <= least <= 1):
        raise InvalidSyntax("minSimilarity goes with VECTOR and HYBRID, and lies between -1 and 1")
    return {
        **({} if mode is SearchMode.WORDS else {"least": least}),
        **({} if near is None else {"near": [near]}),
    }


async def _by_words(
    info: Info, query: str, page: Asked, at: KernelAt | None, options: Mapping[str, Any]
) -> SearchHitConnection:
    """A page of the nodes with all the words, of which there may be very many: they are counted only when asked."""
    _, fields = hydration(info, at)
    is_counted = any(field.name == "totalCount" for field in fields.values())
    where = node_filter(options["type"], options["scope"])
    async with info.context.system.session_at(at) as session:
        words = await known_words(session, query)
        hits = await hits_of(session, words, where, page.size + 1, page.after) if words else []
        total = await session.count(NODES, having(words, where)) if words and is_counted else len(hits)
    return await hit_page(info, hits, page, at, total)


async def hit_page(info: Info, rest: list[Hit], page: Asked, at: KernelAt | None, total: int) -> SearchHitConnection:
    """One page of hits that are ranked already, from where it starts on."""
    shown = rest[: page.size]
    brought, fields = hydration(info, at)
    for edges in (field for field in fields.values() if field.name == "edges"):
        for hit in (field for field in brought.selection.below(edges).values() if field.name == "node"):
            brought.choose(NODE, brought.selection.below(hit), "node")
    found = await brought.nodes(hit.node for hit in shown)
    cursors = [encode_cursor(BY_SCORE, (hit.score, hit.node.id)) for hit in shown]
    return SearchHitConnection(
        edges=[
            SearchHitEdge(cursor=cursor, node=SearchHit(found=found[hit.node.id], at=at, score=hit.score))
            for cursor, hit in zip(cursors, shown, strict=True)
        ],
        page_info=page_info(
            Page(limit=len(shown), after=None if page.after is None else ()), len(rest) > len(shown), cursors
        ),
        total_count=total,
    )


def _place(cursor: str) -> Place:
    score, id = decode_cursor(cursor, BY_SCORE, 2)
    if not isinstance(score, int | float) or not isinstance(id, str) or abs(score) > MOST_SCORE:
        raise InvalidSyntax("The cursor belongs to another list; start again without it")
    return float(score), id


def _behind(hits: list[Hit], after: Place | None) -> list[Hit]:
    if after is None:
        return hits
    score, id = after
    return [hit for hit in hits if (-hit.score, hit.node.id) > (-score, id)]
