"""Search: which nodes contain all the words, best first.

Every word must match (C-38), in the node itself or in the text it says (C-42). A word that is unknown as a whole
matches by all of its parts, so `auth-service` finds a node that says "auth service". Scores are computed here, from
shared code, so that every store gives the same order. No content is loaded for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest

from msgspec import Struct

from ugs.graph.bodies import CONTENT_BODIES
from ugs.graph.model import NODES, Node
from ugs.graph.queries import node_filter
from ugs.graph.text import CONTENT_WEIGHT, asked_words, rarity, relevance, split_words, word_parts
from ugs.identity import Scope
from ugs.reads.where import EVERYTHING, Has, Linked, Where, all_of, any_of, in_
from ugs.storage import Session

MAX_WORDS = 32
FEW = 2_000
"""So many nodes are named to a store one by one; of more it looks itself which of them say a word."""


class Hit(Struct, frozen=True):
    """A node that matched, and how well."""

    node: Node
    score: float


class Standing(Struct, frozen=True):
    """Where a word stands, and in how many nodes that makes."""

    matching: int
    own: Where | None
    """The nodes that have it in themselves, if any."""
    said: Where | None = None
    """The nodes that have it in their content, if any."""
    by: frozenset[str] | None = None
    """Which nodes those are, when they are few."""

    @property
    def where(self) -> Where:
        return any_of(*(part for part in (self.own, self.said) if part is not None))


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
    rarities = {word: rarity(total, standing.matching) for word, standing in words.items()}
    where = all_of(*(standing.where for standing in words.values()), node_filter(type, scope))
    nodes: list[Node] = await session.fetch(NODES, where)
    said = await _said(session, words, [node.id for node in nodes])
    hits = [Hit(node, _score(node, rarities, said)) for node in nodes]
    return _ranked(hits, limit, after)


def _score(node: Node, rarities: Mapping[str, float], said: Mapping[str, Collection[str]]) -> float:
    weights = asked_words(rarities.keys(), node.id, node.type, node.properties_text, node.data_text)
    for word, ids in said.items():
        if node.id in ids:
            weights[word] = weights.get(word, 0.0) + CONTENT_WEIGHT
    return relevance(weights, rarities)


async def _known_words(session: Session, words: list[str]) -> dict[str, Standing]:
    """Where each word stands, unknown words replaced by their parts; empty when one matches nothing."""
    has_content = bool(words and await session.filled([CONTENT_BODIES]))
    known: dict[str, Standing] = {}
    for word in dict.fromkeys(words):
        standing = await _standing(session, word, has_content)
        found = {word: standing} if standing.matching else {}
        for part in [] if found else word_parts(word):
            found[part] = await _standing(session, part, has_content)
        if not found or not all(standing.matching for standing in found.values()):
            return {}
        known |= found
    return known


async def _standing(session: Session, word: str, has_content: bool) -> Standing:
    has = Has(word)
    own = await session.count(NODES, has)
    said = await session.count(CONTENT_BODIES, has) if has_content else 0
    if not said:
        return Standing(own, has if own else None)
    by = frozenset(await session.group(CONTENT_BODIES, "id", has)) if said <= FEW else None
    says = Linked("content_body", has) if by is None else in_("id", sorted(by))
    both = await session.count(NODES, all_of(has, says)) if own else 0
    return Standing(own + said - both, has if own else None, says, by)


async def _said(session: Session, words: Mapping[str, Standing], ids: Sequence[str]) -> dict[str, Collection[str]]:
    """For each word that stands in content, the nodes that say it, as far as they are among these."""
    among = in_("id", ids) if len(ids) <= FEW else EVERYTHING
    said: dict[str, Collection[str]] = {}
    for word, standing in words.items():
        if standing.by is not None:
            said[word] = standing.by
        elif standing.said is not None:
            said[word] = await session.group(CONTENT_BODIES, "id", all_of(Has(word), among))
    return said


def _ranked(hits: list[Hit], limit: int | None, after: Place | None) -> list[Hit]:
    def place(hit: Hit) -> tuple[float, str]:
        return -hit.score, hit.node.id

    if after is not None:
        beyond = (-after[0], after[1])
        hits = [hit for hit in hits if place(hit) > beyond]
    return sorted(hits, key=place) if limit is None else nsmallest(limit, hits, key=place)
