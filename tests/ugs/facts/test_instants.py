"""Instants: exact to the microsecond, with a zone, in both directions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugs.facts.errors import InvalidFact
from ugs.facts.temporal.instants import FIRST, LAST, datetime_of, end_of, instant_of, instant_text, start_of


@given(st.integers(FIRST, LAST))
def test_an_instant_survives_being_written_and_read(instant: int) -> None:
    assert instant_of(instant_text(instant)) == instant
    assert instant_of(datetime_of(instant)) == instant


@given(st.integers(FIRST, LAST - 1))
def test_a_later_instant_is_a_greater_number(instant: int) -> None:
    assert datetime_of(instant) < datetime_of(instant + 1)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-01-05T00:00:00Z", "2026-01-05T00:00:00Z"),
        ("2026-01-05T02:00:00+02:00", "2026-01-05T00:00:00Z"),
        ("2026-01-05T00:00:00.5Z", "2026-01-05T00:00:00.500000Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
    ],
)
def test_times_are_written_in_utc(text: str, written: str) -> None:
    assert instant_text(instant_of(text)) == written


def test_a_datetime_of_any_zone_is_the_same_instant() -> None:
    moment = datetime(2026, 1, 5, 12, tzinfo=UTC)
    assert instant_of(moment.astimezone(timezone(timedelta(hours=-7)))) == instant_of(moment)


@pytest.mark.parametrize("bad", ["2026-01-05T00:00:00", "", "soon", datetime(2026, 1, 5), FIRST - 1, LAST + 1])
def test_what_is_no_instant_is_refused(bad: datetime | str | int) -> None:
    with pytest.raises(InvalidFact):
        instant_of(bad)


def test_a_millisecond_of_the_clock_lasts_a_thousand_microseconds() -> None:
    assert end_of(7) - start_of(7) == 999
    assert start_of(8) == end_of(7) + 1
