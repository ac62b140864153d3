"""Search for nodes: by words, by vector similarity, or hybrid with the distance in the graph."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any

import strawberry
from msgspec import Struct

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.graph.model import NODES
from ugs.graph.queries import node_filter
from ugs.graph.text.search import Hit, Place, having, hits_of, known_words
from ugs.identity import Scope
from ugs.log.at import At as KernelAt
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs.reads.plan import Page
from ugs_schema.context import Info
from ugs_schema.graph.result_types import SearchHit, SearchHitConnection, SearchHitEdge
from ugs_schema.graph.row_types import NODE
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.graph.traversal import make_hydration
from ugs_schema.pagination import build_page_info, parse_page_size

MAX_QUERY = 1_000
MAX_SCORE = 1e9
"""A bound for scores in cursors, far above any real score."""
BY_SCORE = "-score,id"


class HitPageRequest(Struct, frozen=True):
    """The requested page of hits."""

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
MinSimilarity = Annotated[
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
        min_similarity: MinSimilarity = None,
        first: int | None = 20,
        after: str | None = None,
        at: At | None = None,
    ) -> SearchHitConnection:
        if len(query) > MAX_QUERY:
            raise LimitExceeded(f"a search query has at most {MAX_QUERY} characters", limit=MAX_QUERY)
        options = {"type": type, "scope": scope, **_check_options(mode, near, min_similarity)}
        graph, moment = info.context.graph, parse_at(at)
        size = parse_page_size({"first": first}, "first")
        page = HitPageRequest(20 if size is None else size, None if after is None else _parse_cursor(after))
        if mode is SearchMode.WORDS:
            return await _search_words(info, query, page, moment, options)
        search_functions = {SearchMode.VECTOR: graph.similar, SearchMode.HYBRID: graph.hybrid}
        hits = await search_functions[mode](query, moment, **options)
        return await build_hit_page(info, _skip_to(hits, page.after), page, moment, len(hits))


def _check_options(mode: SearchMode, near: str | None, min_score: float | None) -> Mapping[str, Any]:
    """The options that only some modes accept."""
    if near is not None and mode is not SearchMode.HYBRID:
        raise InvalidSyntax("near goes with mode HYBRID")
    if min_score is not None and (mode is SearchMode.WORDS or not -1 <= min_score <= 1):
        raise InvalidSyntax("minSimilarity goes with VECTOR and HYBRID, and lies between -1 and 1")
    return {
        **({} if mode is SearchMode.WORDS else {"min_score": min_score}),
        **({} if near is None else {"near": [near]}),
    }


async def _search_words(
    info: Info, query: str, page: HitPageRequest, at: KernelAt | None, options: Mapping[str, Any]
) -> SearchHitConnection:
    """A page of the nodes that contain all words. There may be very many, so they are counted only if `totalCount` is
    selected."""
    _, fields = make_hydration(info, at)
    is_counted = any(field.name == "totalCount" for field in fields.values())
    where = node_filter(options["type"], options["scope"])
    async with info.context.system.session_at(at) as session:
        words = await known_words(session, query)
        hits = await hits_of(session, words, where, page.size + 1, page.after) if words else []
        total = await session.count(NODES, having(words, where)) if words and is_counted else len(hits)
    return await build_hit_page(info, hits, page, at, total)


async def build_hit_page(
    info: Info, hits: list[Hit], page: HitPageRequest, at: KernelAt | None, total: int
) -> SearchHitConnection:
    """One page of ranked hits; `hits` begins where the page begins."""
    visible = hits[: page.size]
    hydration, fields = make_hydration(info, at)
    for edges in (field for field in fields.values() if field.name == "edges"):
        for hit in (field for field in hydration.selection.collect_subfields(edges).values() if field.name == "node"):
            hydration.add_selected(NODE, hydration.selection.collect_subfields(hit), "node")
    result_row = await hydration.nodes(hit.node for hit in visible)
    cursors = [encode_cursor(BY_SCORE, (hit.score, hit.node.id)) for hit in visible]
    return SearchHitConnection(
        edges=[
            SearchHitEdge(cursor=cursor, node=SearchHit(result_row=result_row[hit.node.id], at=at, score=hit.score))
            for cursor, hit in zip(cursors, visible, strict=True)
        ],
        page_info=build_page_info(
            Page(limit=len(visible), after=None if page.after is None else ()), len(hits) > len(visible), cursors
        ),
        total_count=total,
    )


def _parse_cursor(cursor: str) -> Place:
    score, id = decode_cursor(cursor, BY_SCORE, 2)
    if not isinstance(score, int | float) or not isinstance(id, str) or abs(score) > MAX_SCORE:
        raise InvalidSyntax("The cursor belongs to another list; start again without it")
    return float(score), id


def _skip_to(hits: list[Hit], after: Place | None) -> list[Hit]:
    if after is None:
        return hits
    score, id = after
    return [hit for hit in hits if (-hit.score, hit.node.id) > (-score, id)]
