"""Reading a program's text takes time that grows with its length only, whatever it is made of."""

from __future__ import annotations

import contextlib
import time

import pytest

from tests.work import TIMED
from ugs.errors import UgsError
from ugs.programs.text.parser import parse_program, parse_text
from ugs.programs.text.queries import split_limit

LENGTH = 60_000
TEXTS = {
    "comment lines": ("", "-- a\n", "MATCH (n) RETURN n;"),
    "comments that are never closed": ("MATCH (n)\n", "/* a\n", ""),
    "comments that are closed at last": ("MATCH (n)\n", "/* a\n", "*/ RETURN n"),
    "comment lines in a query": ("MATCH (n)\n", "-- a\n", "RETURN n;"),
    "lines of slashes": ("MATCH (n)\n", "// a\n", "RETURN n;"),
    "spaces in a quote": ("MATCH (n) RETURN '", " ", "'"),
    "spaces before a number": ("MATCH (n) RETURN n LIMIT", " ", "5x"),
    "declarations": ("", "@param a: string = 1\n", ""),
    "annotations": ("", "-- @block x a=1\n", ""),
    "quotes": ("@param a: string = ", "'", ""),
}


@TIMED
@pytest.mark.parametrize("name", TEXTS)
def test_no_text_takes_longer_than_its_length(name: str) -> None:
    head, line, tail = TEXTS[name]
    began = time.process_time()
    with contextlib.suppress(UgsError):
        parse_program(head + line * (LENGTH // len(line)) + tail)
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "text", ['@api x {"a": %s}', "@param a: integer = %s\nMATCH (n) RETURN n", "-- @block x a=%s\nMATCH (n) RETURN n", "MATCH (n) RETURN n LIMIT %s"]
)  # fmt: skip
def test_numbers_of_many_digits_are_no_fault_of_ours(text: str) -> None:
    try:
        parse_text(text % ("9" * 10_000))
    except UgsError as error:
        assert error.code != "INTERNAL"  # noqa: PT017


@pytest.mark.parametrize(
    ("query", "limit"),
    [("RETURN 1 LIMIT 5", 5), ("RETURN 1 limit  12", 12), ("RETURN 1 LIMIT 05", None), ("RETURN xLIMIT 5", None), ("RETURN 1 LIMIT5", None),
     ("RETURN 1 LIMIT 0", None), ("RETURN 1 LIMIT " + "9" * 17, None), ("RETURN 5", None), ("LIMIT 5", None), ("RETURN 1 LIMIT 5 ", None)],
)  # fmt: skip
def test_the_last_limit_of_a_query(query: str, limit: int | None) -> None:
    assert split_limit(query)[1] == limit
