"""Event ids: the lead of a foreign log's counters, and what a check of a log reports."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ugs.events import Event
from ugs.log.event_ids import MAX_COUNTER, MAX_PROBLEMS, EventIdCheck, counter_lead, parse_event_id
from ugs.values import JsonText


def event(position: int, id: str) -> Event:
    return Event(position, id, 1, "NodeAdded", JsonText("{}"))


@pytest.mark.parametrize(
    ("counters", "lead"),
    [([1, 2, 3], 0), ([7, 2, 3], 4), ([MAX_COUNTER - 1], MAX_COUNTER - 4), ([MAX_COUNTER], 0), ([], 0)],
)
def test_the_counter_goes_on_behind_the_greatest(counters: list[int], lead: int) -> None:
    assert counter_lead([event(1, f"evt_5_{counter}") for counter in counters], 3) == lead


def test_other_ids_have_no_counter() -> None:
    assert parse_event_id("evt_5_1") == (5, 1)
    assert [parse_event_id(id) for id in ("evt_5", "evt_5_x", "x", "evt_5_1 ")] == [None] * 4


@pytest.mark.parametrize(
    ("ids", "problems"),
    [
        (["evt_5_1", "evt_5_2", "evt_6_1"], []),
        (["evt_5_1", "evt_5_1"], ["event 2 has the id of event 1: evt_5_1 behind evt_5_1"]),
        (["evt_5_2", "evt_5_1"], ["event 2 has an id that does not follow that of event 1: evt_5_1 behind evt_5_2"]),
        (["evt_5_3", "evt_5_1", "evt_5_2"], ["event 2 has an id", "event 3 has an id"]),
        (["x", "evt_5_1", "x"], ["event 3 has the id of event 1: x"]),
    ],
)
def test_repeated_and_falling_ids_are_reported(ids: list[str], problems: list[str]) -> None:
    check = EventIdCheck()
    check.add([event(position, id) for position, id in enumerate(ids, 1)])
    assert len(check.problems) == len(problems)
    assert all(found.startswith(told) for found, told in zip(check.problems, problems, strict=True))


def test_an_event_that_is_seen_twice_is_no_problem_and_the_report_has_an_end() -> None:
    check, other = EventIdCheck(), event(1, "x")
    check.add([other, other])
    assert check.problems == []
    check.add([replace(other, position=position) for position in range(2, MAX_PROBLEMS + 10)])
    assert len(check.problems) == MAX_PROBLEMS
