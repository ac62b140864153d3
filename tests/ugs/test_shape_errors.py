"""Errors of JSON documents are told in words, never in those of the decoder."""

from typing import Annotated, Any

import msgspec
import pytest

from ugs.support.shape_errors import describe_shape_error


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    texts: list[str] = []
    name: Annotated[str, msgspec.Meta(min_length=1)] = "x"
    weight: int | float = 1


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({}, "`number` is missing"),
        ({"number": "1"}, "`number` must be a whole number, not a text"),
        ({"number": 1, "other": 1}, "`other` is not known here"),
        ({"number": 1, "texts": ["a", 1]}, "`texts[1]` must be a text, not a whole number"),
        ({"number": 1, "name": ""}, "`name` must be a text of length at least 1"),
        ({"number": 1, "weight": "x"}, "`weight` must be a number, not a text"),
        ([], "it must be an object, not a list"),
    ],
)
def test_a_wrong_shape_is_told_in_words(document: Any, told: str) -> None:
    with pytest.raises(msgspec.ValidationError) as failure:
        msgspec.convert(document, Shape)
    assert describe_shape_error(failure.value) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "it ends too early"),
        (b"nope", "invalid character (byte 4)"),
        (b'"\xff"', "it is not UTF-8 text"),
    ],
)
def test_what_is_no_json_is_told_in_words(text: bytes, told: str) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeError)) as failure:
        msgspec.json.decode(text)
    assert describe_shape_error(failure.value) == told
