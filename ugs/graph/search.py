"""Search: which nodes contain all the words, best first.

Every word must match (C-38). A word that is unknown as a whole matches by all of its parts, so `auth-service` finds
a node that says "auth service". Scores are computed here, from shared code, so that every store gives the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest

from msgspec import Struct

from ugs.graph.model import NODES, Node
from ugs.graph.queries import node_filter
from ugs.graph.text import asked_words, rarity, relevance, split_words, word_parts
from ugs.identity import Scope
from ugs.reads.where import Has, Where, all_of
from ugs.storage import Session

MAX_WORDS = 32


class Hit(Struct, frozen=True):
    """A node that matched, and how well."""

    node: Node
    score: float


Place = tuple[float, str]
"""Where a page of hits ended: the score and the id."""


async def search(
    session: Session,
    query: str,
    *,
    type: str | None = None,
    scope: Scope | None = None,
    limit: int | None = None,
    after: Place | None = None,
) -> list[Hit]:
    """Nodes that contain every word of the query, best first, ties by id."""
    words = await _known_words(session, split_words(query)[:MAX_WORDS])
    if not words:
        return []
    total = await session.count(NODES)
    rarities = {word: rarity(total, matching) for word, matching in words.items()}
    where: Where = all_of(*(Has(word) for word in rarities), node_filter(type, scope))
    hits = [Hit(node, _score(node, rarities)) for node in await session.fetch(NODES, where)]
    return _ranked(hits, limit, after)


def _score(node: Node, rarities: Mapping[str, float]) -> float:
    weights = asked_words(rarities.keys(), node.id, node.type, node.properties_text, node.data_text)
    return relevance(weights, rarities)


async def _known_words(session: Session, words: list[str]) -> dict[str, int]:
    """How many nodes contain each word, unknown words replaced by their parts; empty when one matches nothing."""
    known: dict[str, int] = {}
    for word in dict.fromkeys(words):
        matching = await session.count(NODES, Has(word))
        found = {word: matching} if matching else {}
        for part in [] if matching else word_parts(word):
            found[part] = await session.count(NODES, Has(part))
        if not found or not all(found.values()):
            return {}
        known |= found
    return known


def _ranked(hits: list[Hit], limit: int | None, after: Place | None) -> list[Hit]:
    def place(hit: Hit) -> tuple[float, str]:
        return -hit.score, hit.node.id

    if after is not None:
        beyond = (-after[0], after[1])
        hits = [hit for hit in hits if place(hit) > beyond]
    return sorted(hits, key=place) if limit is None else nsmallest(limit, hits, key=place)
