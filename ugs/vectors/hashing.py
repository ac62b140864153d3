"""The default embedder: words and pieces of words, each hashed to a place.

It knows no meanings, only spellings: words in common count most, and words that share a stem (organise,
organisation) or are mistyped still meet in their pieces. Nothing is learnt, so every machine computes the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

from ugs.graph.text import split_words, word_parts
from ugs.reads.near import BALANCE, Vector, placed

PLACES = 252
PIECE = 3
WORD_WEIGHT, PIECE_WEIGHT = 4, 2
LONGEST_TEXT = 8_000
"""Characters that count; what a text is about stands at its beginning."""
SILENT = frozenset(
    split_words(
        "a an and are as at be but by for from has have if in into is it its of on or our so such that the their then "
        "there these they this to was we were which will with you your"
    )
)
"""Words that say nothing about what a text is about."""


class HashingEmbedder:
    """Words and their pieces at hashed places."""

    name = "hashing-1"
    dimension = PLACES + BALANCE
    related = 0.2

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return [embedded(text) for text in texts]


def embedded(text: str) -> Vector | None:
    """The vector of one text."""
    weights: dict[int, int] = {}
    for word, count in Counter(split_words(text[:LONGEST_TEXT])).items():
        often = count.bit_length()  # the second time a word says less than the first, the hundredth next to nothing
        for place, weight in places_of(word):
            weights[place] = weights.get(place, 0) + often * weight
    return placed(weights, PLACES)


@lru_cache(maxsize=50_000)
def places_of(word: str) -> tuple[tuple[int, int], ...]:
    """Where a word counts, and how much: as a whole, and in pieces of three letters with its ends marked."""
    if word in SILENT:
        return ()
    features = [(f"={part}", WORD_WEIGHT) for part in (word_parts(word) or [word])]
    marked = f"<{word}>"
    features += [(marked[at : at + PIECE], PIECE_WEIGHT) for at in range(len(marked) - PIECE + 1)]
    return tuple(_place(feature, weight) for feature, weight in features)


def _place(feature: str, weight: int) -> tuple[int, int]:
    """A place, and a sign: two features that meet by accident cancel out as often as they add up."""
    hashed = crc32(feature.encode())
    return hashed % PLACES, weight if hashed & 0x8000_0000 else -weight
