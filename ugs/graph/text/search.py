"""Full-text search: the nodes that contain all words of a query, best first.

Every word must match (C-38), in the node itself or in its content (C-42). A word that is not in the index is replaced
by its parts, so `auth-service` finds a node with "auth service". A store with an index of word weights ranks natively
and reads only the best nodes; for others the ranking is done here, with exactly the same scores and order. No content
is loaded for it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop
from math import inf
from operator import itemgetter

from msgspec import Struct

from ugs.graph.model import NODES, Node
from ugs.graph.queries import node_filter
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.graph.text.tokenizer import (
    CONTENT_WEIGHT,
    max_word_weight,
    query_word_weights,
    rarity,
    relevance,
    split_words,
    word_parts,
)
from ugs.identity import Scope
from ugs.reads.filters import EVERYTHING, Has, Linked, Where, all_of, any_of, in_
from ugs.reads.text_ranking import RankedQuery, Sought
from ugs.storage import Session

MAX_WORDS = 32
ID_LIST_THRESHOLD = 2_000
"""Up to this many nodes, conditions list their ids; beyond, a semi-join with the content is used."""


class Hit(Struct, frozen=True):
    """A matching node and its score."""

    node: Node
    score: float


class WordOccurrence(Struct, frozen=True):
    """Where a word occurs, and in how many nodes."""

    matching: int
    own: Where | None
    """The condition for nodes that contain it themselves; None if there are none."""
    said: Where | None = None
    """The condition for nodes whose content contains it; None if there are none."""
    by: frozenset[str] | None = None
    """The ids of the nodes whose content contains it, if there are at most `ID_LIST_THRESHOLD`."""

    @property
    def where(self) -> Where:
        return any_of(*(part for part in (self.own, self.said) if part is not None))


Words = Mapping[str, WordOccurrence]
"""The words of a query that occur somewhere."""

Place = tuple[float, str]
"""The end of a page of hits: score and id."""
BEFORE_ALL: Place = (-inf, "")
SMALL_PAGE_FACTOR = 4
"""If a page has at most one in this many hits, ranking by upper bounds (`_best`) is faster than scoring all."""


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
    words = await known_words(session, query)
    return await hits_of(session, words, node_filter(type, scope), limit, after) if words else []


async def count_found(session: Session, query: str, *, type: str | None = None, scope: Scope | None = None) -> int:
    """How many nodes contain every word of the query."""
    words = await known_words(session, query)
    return await session.count(NODES, having(words, node_filter(type, scope))) if words else 0


async def hits_of(
    session: Session, words: Words, where: Where, limit: int | None = None, after: Place | None = None
) -> list[Hit]:
    """Ranked nodes that have all the words (at least one) and meet the condition."""
    total = await session.count(NODES)
    rarities = {word: rarity(total, occurrence.matching) for word, occurrence in words.items()}
    ranked = await session.top_ranked(NODES, RankedQuery(_sought(words, rarities), where, limit, after))
    if ranked is not None:
        return [Hit(best.row, best.weight) for best in ranked]
    nodes: list[Node] = await session.fetch(NODES, having(words, where))
    said = await _said(session, words, [node.id for node in nodes])
    beyond = BEFORE_ALL if after is None else (-after[0], after[1])
    if limit and limit * SMALL_PAGE_FACTOR <= len(nodes):
        return _best(nodes, rarities, said, limit, beyond)
    places = sorted([(-_score(node, rarities, said), node.id, node) for node in nodes], key=itemgetter(0, 1))
    return [Hit(node, -score) for score, id, node in places if (score, id) > beyond][:limit]


def having(words: Words, where: Where) -> Where:
    """The condition extended by all the words."""
    return all_of(*(occurrence.where for occurrence in words.values()), where)


def _sought(words: Words, rarities: Mapping[str, float]) -> tuple[Sought, ...]:
    """The words for native ranking, rarest first."""
    return tuple(
        Sought(word, rarities[word], occurrence.own is not None, None if occurrence.said is None else "content_body")
        for word, occurrence in sorted(words.items(), key=lambda known: known[1].matching)
    )


def _score(node: Node, rarities: Mapping[str, float], said: Mapping[str, Collection[str]]) -> float:
    weights = query_word_weights(rarities.keys(), node.id, node.type, node.properties_text, node.data_text)
    for word, ids in said.items():
        if node.id in ids:
            weights[word] = weights.get(word, 0.0) + CONTENT_WEIGHT
    return relevance(weights, rarities)


async def known_words(session: Session, query: str) -> Words:
    """Where each word of a query occurs, unknown ones replaced by their parts; empty if one matches nothing."""
    words = split_words(query)[:MAX_WORDS]
    has_content = bool(words and await session.non_empty([CONTENT_BODIES]))
    known = await _find_occurrences(session, words, has_content)
    unknown = [word for word, occurrence in known.items() if not occurrence.matching]
    if not unknown:
        return known
    if not all(parts := [word_parts(word) for word in unknown]):
        return {}
    known |= await _find_occurrences(session, [part for some in parts for part in some], has_content)
    found = {word: occurrence for word, occurrence in known.items() if word not in unknown}
    return found if all(occurrence.matching for occurrence in found.values()) else {}


async def _find_occurrences(session: Session, words: Sequence[str], has_content: bool) -> dict[str, WordOccurrence]:
    """Where words occur; each distinct word is counted once."""
    each = [Has(word) for word in dict.fromkeys(words)]
    own = await session.count_each(NODES, each)
    said = await session.count_each(CONTENT_BODIES, each) if has_content else [0] * len(each)
    return {
        has.word: await _find_occurrence(session, has, *counts) for has, *counts in zip(each, own, said, strict=True)
    }


async def _find_occurrence(session: Session, has: Has, own: int, said: int) -> WordOccurrence:
    if not said:
        return WordOccurrence(own, has if own else None)
    by = frozenset(await session.group(CONTENT_BODIES, "id", has)) if said <= ID_LIST_THRESHOLD else None
    says = Linked("content_body", has) if by is None else in_("id", sorted(by))
    both = await session.count(NODES, all_of(has, says)) if own else 0
    return WordOccurrence(own + said - both, has if own else None, says, by)


async def _said(session: Session, words: Words, ids: Sequence[str]) -> dict[str, Collection[str]]:
    """For each word that occurs in content, the ids of the nodes concerned, restricted to `ids` if those are few."""
    among = in_("id", ids) if len(ids) <= ID_LIST_THRESHOLD else EVERYTHING
    said: dict[str, Collection[str]] = {}
    for word, occurrence in words.items():
        if occurrence.by is not None:
            said[word] = occurrence.by
        elif occurrence.said is not None:
            said[word] = await session.group(CONTENT_BODIES, "id", all_of(Has(word), among))
    return said


def _best(
    nodes: Sequence[Node],
    rarities: Mapping[str, float],
    said: Mapping[str, Collection[str]],
    limit: int,
    beyond: Place,
) -> list[Hit]:
    """The first page of many hits: nodes are scored in the order of their upper bounds, until no remaining bound can
    beat the hits found."""
    left = [(-_most(node, rarities, said), node.id, place) for place, node in enumerate(nodes)]
    heapify(left)
    best: list[tuple[float, str, int]] = []
    while left and (len(best) < limit or left[0] < best[-1]):
        _, id, place = heappop(left)
        score = -_score(nodes[place], rarities, said)
        if (score, id) > beyond:
            insort(best, (score, id, place))
            del best[limit:]
    return [Hit(nodes[place], -score) for score, _, place in best]


def _most(node: Node, rarities: Mapping[str, float], said: Mapping[str, Collection[str]]) -> float:
    """An upper bound of a node's score."""
    id, type, properties, data = node.id, node.type, node.properties_text, node.data_text
    own = sum([rare * max_word_weight(word, id, type, properties, data) for word, rare in rarities.items()])
    return own + sum([rarities[word] * CONTENT_WEIGHT for word, ids in said.items() if id in ids]) if said else own
