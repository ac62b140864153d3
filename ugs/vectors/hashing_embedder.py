"""The default embedder: words and character trigrams, each hashed to a component (feature hashing).

It knows spellings, not meanings: common words count most, and words that share a stem (organise, organisation) or are
misspelt still share trigrams. Nothing is trained, so every machine computes the same vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

from ugs.graph.text.tokenizer import split_words, word_parts
from ugs.reads.vector_search import BALANCE, Vector, placed

DIMENSION = 252
NGRAM_CHARS = 3
WORD_WEIGHT, PIECE_WEIGHT = 4, 2
MAX_TEXT_CHARS = 8_000
"""Characters that are embedded; the topic of a text is usually stated at its beginning."""
MAX_CACHED_WORD_CHARS = 32
"""Length of the longest word whose components are cached."""
"""Characters that count; what a text is about stands at its beginning."""
STOP_WORDS = frozenset(
    split_words(
        "a an and are as at be but by for from has have if in into is it its of on or our so such that the their then "
        "there these they this to was we were which will with you your"
    )
)
"""Stop words."""


class HashingEmbedder:
    """Feature hashing of words and their trigrams."""

    name = "hashing-1"
    dimension = DIMENSION + BALANCE
    related = 0.2

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return [embed_text(text) for text in texts]


def embed_text(text: str) -> Vector | None:
    """The vector of one text."""
    weights: dict[int, int] = {}
    for word, count in Counter(split_words(text[:MAX_TEXT_CHARS])).items():
        often = count.bit_length()  # the second time a word says less than the first, the hundredth next to nothing
        for place, weight in components_of(word):
            weights[place] = weights.get(place, 0) + often * weight
    return placed(weights, DIMENSION)


def components_of(word: str) -> tuple[tuple[int, int], ...]:
    """As `_components`, cached for words of ordinary length."""
    return _cached_components(word) if len(word) <= MAX_CACHED_WORD_CHARS else _components(word)


@lru_cache(maxsize=20_000)
def _cached_components(word: str) -> tuple[tuple[int, int], ...]:
    return _components(word)


def _components(word: str) -> tuple[tuple[int, int], ...]:
    """The components of a word with their weights: the whole word, and its trigrams with marked ends."""
    if word in STOP_WORDS:
        return ()
    features = [(f"={part}", WORD_WEIGHT) for part in (word_parts(word) or [word])]
    marked = f"<{word}>"
    features += [(marked[at : at + NGRAM_CHARS], PIECE_WEIGHT) for at in range(len(marked) - NGRAM_CHARS + 1)]
    return tuple(_component(feature, weight) for feature, weight in features)


def _component(feature: str, weight: int) -> tuple[int, int]:
    """A component and a sign. The sign makes hash collisions cancel out as often as they add up."""
    hashed = crc32(feature.encode())
    return hashed % DIMENSION, weight if hashed & 0x8000_0000 else -weight
