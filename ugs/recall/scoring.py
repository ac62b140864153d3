"""Scores: integer points for matched words, likeness, distance in the graph and freshness.

A word counts by its rarity among the rows read and by how well it matches: itself, its stem, or as a prefix. Nothing
depends on rows that the reader may not see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ugs.facts.search_terms import Term, stemmed_words
from ugs.facts.temporal.instants import Instant
from ugs.reads.vector_search import ALIKE, scorer
from ugs.recall.candidates import Candidate
from ugs.vectors.embedders import Embedder
from ugs.vectors.index_maintenance import embed_texts

MAX_GRADE = 4
RARITY_SCALE = 1_024
MIN_RARITY = 4
GRAPH_POINTS = {0: 160, 1: 40}
"""By the number of facts between an item and a named entity."""
LIKENESS_POINTS = 200
"""Of a text identical to the question."""
FRESHNESS_POINTS = 16
FACT_POINTS = 24
"""Facts go before notes that match equally: they are what the notes were read for."""
MICROSECONDS_PER_DAY = 86_400_000_000

Grades = dict[int, int]
"""By the index of a term: how well it matches."""


def rarity(frequency: int) -> int:
    """Four times the binary logarithm of 1,024 per match; at least `MIN_RARITY`."""
    return max(MIN_RARITY, ((RARITY_SCALE // max(frequency, 1)) ** 4).bit_length())


def rarities_of(terms: Sequence[Term], frequencies: Mapping[int, int]) -> list[int]:
    return [rarity(frequencies.get(number, 0)) for number in range(len(terms))]


def grades_of(terms: Sequence[Term], words: Mapping[str, str]) -> Grades:
    """How well each term matches these words; terms that do not are left out."""
    graded = ((number, term.grade(words)) for number, term in enumerate(terms))
    return {number: grade for number, grade in graded if grade}


def grades_of_text(terms: Sequence[Term], text: str) -> Grades:
    return grades_of(terms, stemmed_words(text))


def best_grades(*some: Mapping[int, int]) -> Grades:
    """The best grade of each term."""
    best: Grades = {}
    for grades in some:
        for number, grade in grades.items():
            best[number] = max(grade, best.get(number, 0))
    return best


def word_points(grades: Mapping[int, int], rarities: Sequence[int]) -> int:
    return sum(rarities[number] * grade for number, grade in grades.items())


def freshness_points(begin: Instant, now: Instant) -> int:
    """More for what began lately: halving the age gives one point."""
    days = max(0, now - begin) // MICROSECONDS_PER_DAY
    return max(0, FRESHNESS_POINTS - days.bit_length())


def shortlist(candidates: Iterable[Candidate], points: Mapping[int, int], limit: int) -> list[Candidate]:
    """The candidates with the most points, by `id` of the candidate object; ties in their order."""
    return sorted(candidates, key=lambda one: -points[id(one)])[:limit]


def best_text(terms: Sequence[Term], rarities: Sequence[int], texts: Sequence[str]) -> tuple[str, Grades]:
    """The text that matches best, the first of equals, with its grades."""
    graded = [(text, grades_of_text(terms, text)) for text in texts] or [("", {})]
    return max(graded, key=lambda one: word_points(one[1], rarities))


async def likeness_points(embedder: Embedder, question: str, texts: Sequence[str]) -> list[int]:
    """Points for the cosine similarity of each text; none below what counts as related."""
    vector, *others = await embed_texts(embedder, [question, *texts])
    if vector is None:
        return [0] * len(texts)
    score, least = scorer(vector), round(embedder.related * ALIKE)
    scores = [0 if other is None else score(other) for other in others]
    return [found * LIKENESS_POINTS // ALIKE if found >= least else 0 for found in scores]
