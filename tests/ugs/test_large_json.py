"""Values of large requests are checked once: what was found is found again, and only for the same value."""

from __future__ import annotations

from contextvars import copy_context

import pytest

from ugs.errors import InvalidJSON, UgsError
from ugs.large_json import LARGE_BYTES, LARGE_COUNT, check_once, is_large, parse_bounded, share_verdicts

BAD = {"a": {"": 1}}


async def test_a_large_text_is_checked_when_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    value, verdicts = await parse_bounded(b'{"rows": [' + b"1," * LARGE_BYTES + b"1]}", 10)
    assert isinstance(value, dict) and is_large(value)
    checked: list[object] = []
    monkeypatch.setattr("ugs.large_json.check_value", checked.append)
    context = copy_context()
    context.run(share_verdicts, verdicts)
    context.run(check_once, value)
    assert checked == []
    context.run(check_once, {"other": 1})
    assert checked == [{"other": 1}]


async def test_a_short_text_is_checked_where_it_is_used() -> None:
    assert await parse_bounded(b'{"a": [1]}', 10) == ({"a": [1]}, {})
    with pytest.raises(UgsError):
        check_once(BAD)
    check_once({"a": 1})


def test_what_was_found_is_raised_again_and_for_no_other_value() -> None:
    error, other = InvalidJSON("found before"), {"a": 1}
    context = copy_context()
    context.run(share_verdicts, {id(BAD): (BAD, error), id(other): (object(), error)})
    with pytest.raises(InvalidJSON, match="found before"):
        context.run(check_once, BAD)
    context.run(check_once, other)  # has the id of a value that is gone


@pytest.mark.parametrize(("count", "large"), [(LARGE_COUNT - 2, False), (LARGE_COUNT, False), (LARGE_COUNT + 1, True)])
def test_a_value_is_large_by_its_parts(count: int, large: bool) -> None:
    assert is_large([1] * count) is large
