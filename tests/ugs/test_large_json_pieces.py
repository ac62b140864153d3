"""Large values into JSON: in pieces that are short to encode, and together the text of the value."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugs import large_json
from ugs.large_json import json_pieces

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=6),
    max_leaves=30,
)


@given(value=VALUES, weight=st.integers(1, 8))
def test_the_pieces_are_the_text_of_the_value(value: Any, weight: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_json, "PIECE_WEIGHT", weight)
        patch.setattr(large_json, "CHARS_OF_WEIGHT", 2)
        assert b"".join(json_pieces(value)) == msgspec.json.encode(value)


@pytest.mark.parametrize(
    "value",
    [
        list(range(100_000)),
        [[number, [str(number)] * 3] for number in range(30_000)],
        {str(number): [{}] * 50 for number in range(2_000)},
        ["x" * 1_000] * 5_000,
        [[[[list(range(50_000))]]]],
    ],
    ids=["list", "lists", "map", "texts", "deep"],
)
def test_no_piece_takes_long(value: Any) -> None:
    pieces = list(json_pieces(value))
    assert json.loads(b"".join(pieces)) == value
    assert max(map(len, pieces)) < 2 * large_json.PIECE_WEIGHT * large_json.CHARS_OF_WEIGHT and len(pieces) > 10


def test_values_inside_are_converted() -> None:
    value = [complex(number, 1) for number in range(5_000)]
    found = b"".join(json_pieces(value, lambda one: one.imag if isinstance(one, complex) else one))
    assert json.loads(found) == [1.0] * 5_000
