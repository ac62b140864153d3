"""Names: one normal form, ids in order, and likely slips."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugs.facts.duplicates import edit_distance
from ugs.facts.normalization import Space, is_uuid, new_id, normalize_name, scope_keys


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalize_name(text)
    assert " ".join(once.split()) == once
    assert normalize_name(once) == once or once.lower() != once


@given(st.lists(st.text(min_size=1).filter(lambda word: word.split() != []), min_size=1))
def test_spaces_around_words_make_no_difference(words: list[str]) -> None:
    assert normalize_name("\t " + "  \n".join(words) + " ") == normalize_name(" ".join(words))


def test_ids_are_uuids_in_the_order_of_making() -> None:
    made = [new_id() for _ in range(10_000)]
    assert made == sorted(set(made))
    assert {UUID(id).version for id in made} == {7}
    assert all(is_uuid(id) for id in made)


@pytest.mark.parametrize("text", ["", "x", "{" + "0" * 36, "00000000000040008000000000000000", "A" * 36])
def test_anything_else_is_no_id(text: str) -> None:
    assert not is_uuid(text)


def test_the_scope_keys_of_the_seed() -> None:
    assert scope_keys(Space("tenant-a", "project-b")) == ("tenant-a:project-b", "__project__:project-b", "__global__")


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("", "", 0),
        ("abc", "abc", 0),
        ("abc", "ab", 1),
        ("abc", "abd", 1),
        ("abc", "acb", 1),
        ("abc", "xyz", 3),
        ("", "ab", 2),
    ],
)
def test_edit_distance(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == distance
