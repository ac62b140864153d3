"""Whole-numbered vectors of one length: their laws, and the two ways to multiply them."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ugs.reads import vector_search
from ugs.reads.vector_search import (
    ALIKE,
    BALANCE,
    LENGTH,
    four_squares,
    least_score,
    on_sphere,
    pack,
    scorer,
    scores,
    unpack,
)

directions = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=40)


@settings(max_examples=200, deadline=None)
@given(directions)
def test_every_vector_has_exactly_one_length(values: list[float]) -> None:
    vector = on_sphere(values)
    length = math.sqrt(math.fsum(value * value for value in values))
    if vector is None:
        assert length == 0
        return
    whole = unpack(vector)
    assert len(whole) == len(values) + BALANCE
    assert all(part == int(part) for part in whole)
    assert sum(part * part for part in whole) == ALIKE
    # It points where the values did: no component is off by more than one, and the balance is small.
    for part, value in zip(whole, values, strict=False):
        assert abs(part - value / length * LENGTH) <= 1
    assert scorer(vector)(vector) == ALIKE


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 5_000))
def test_every_number_is_a_sum_of_four_squares(number: int) -> None:
    parts = four_squares(number)
    assert sum(part * part for part in parts) == number


def test_likeness_is_close_to_the_cosine() -> None:
    chance = random.Random(7)
    for _ in range(50):
        one, other = ([chance.gauss(0, 1) for _ in range(252)] for _ in range(2))
        cosine = (
            sum(a * b for a, b in zip(one, other, strict=True))
            / math.dist(one, [0] * 252)
            / math.dist(other, [0] * 252)
        )
        first, second = on_sphere(one), on_sphere(other)
        assert first is not None and second is not None
        assert scorer(first)(second) / ALIKE == pytest.approx(cosine, abs=0.004)


def test_numpy_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(8)
    made = [on_sphere([chance.gauss(0, 1) for _ in range(252)]) for _ in range(200)]
    vectors = [vector for vector in made if vector is not None]
    fast = [scores(vector, vectors) for vector in vectors[:10]]
    monkeypatch.setattr(vector_search, "has_numpy", lambda: False)
    assert [scores(vector, vectors) for vector in vectors[:10]] == fast
    assert scores(vectors[0], []) == []


def test_a_similarity_of_its_own_score_is_reached() -> None:
    for score in (-ALIKE, -1, 0, 1, 123_457, ALIKE):
        assert least_score(score / ALIKE) == score
    assert least_score(0.7) == 700_000


def test_a_vector_with_one_component_is_compared_too() -> None:
    vector = pack([0, 3, 0])
    assert scorer(vector)(pack([5, 2, 1])) == 6
    assert scorer(pack([0, 0]))(pack([1, 1])) == 0
