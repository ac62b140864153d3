"""Cutting a moment down to a unit, then setting smaller parts: `date.truncate('week', d, {dayOfWeek: 2})`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.temporal.calendar import NS, day_number, first_week, week_day, year_month_day, year_week
from ugs.cypher.temporal.components import quarter_start
from ugs.cypher.temporal.constructors import CLOCK_PARTS, DATE_PARTS, FRACTIONS, check_parts, day_from_parts
from ugs.cypher.temporal.types import Date, DateTime, LocalDateTime, LocalTime, Time, in_zone
from ugs.cypher.temporal.zones import Zone, offset_of_local, parse_zone


def _first_of_years(count: int) -> Callable[[int], int]:
    return lambda day: day_number(year_month_day(day)[0] // count * count, 1, 1)


DAYS: dict[str, Callable[[int], int]] = {
    "millennium": _first_of_years(1000),
    "century": _first_of_years(100),
    "decade": _first_of_years(10),
    "year": _first_of_years(1),
    "weekyear": lambda day: first_week(year_week(day)[0]),
    "quarter": quarter_start,
    "month": lambda day: day_number(*year_month_day(day)[:2], 1),
    "week": lambda day: day - week_day(day) + 1,
    "day": lambda day: day,
}
CLOCKS = {"hour": 3600 * NS, "minute": 60 * NS, "second": NS, "millisecond": 1_000_000, "microsecond": 1000}
CLOCK_UNITS = {"hour": 3600 * NS, "minute": 60 * NS, "second": NS}


def _cut(unit: str, day: int | None, ns: int) -> tuple[int | None, int]:
    if unit in DAYS:
        return (None if day is None else DAYS[unit](day)), 0
    if unit not in CLOCKS:
        raise CypherArgumentError("InvalidArgumentValue", f"{unit!r} is no unit; use {', '.join((*DAYS, *CLOCKS))}")
    return day, ns - ns % CLOCKS[unit]


def _with_clock(ns: int, parts: Mapping[str, Any]) -> int:
    """The clock with parts replaced, each only in its own digits."""
    for name, value in parts.items():
        if value is None or name not in CLOCK_PARTS:
            continue
        size = CLOCK_UNITS.get(name) or FRACTIONS[name]
        span = {"hour": 24, "minute": 60, "second": 60}.get(name, 1000)
        if not 0 <= value < (span if name not in FRACTIONS else NS // FRACTIONS[name]):
            raise CypherArgumentError("InvalidArgumentValue", f"{name} cannot be {value}")
        ns += (value - ns // size % span) * size
    return ns


def _parts(parts: Mapping[str, Any] | None, allowed: tuple[str, ...], what: str) -> Mapping[str, Any]:
    parts = parts or {}
    check_parts(parts, allowed, what)
    return parts


def _truncate(unit: str, moment: Any, parts: Mapping[str, Any]) -> tuple[int | None, int]:
    day, ns = _cut(unit.lower(), getattr(moment, "day", None), getattr(moment, "ns", 0))
    if day is not None and any(parts.get(name) is not None for name in DATE_PARTS):
        wanted = dict(parts)
        if wanted.get("dayOfWeek") is not None:
            wanted.setdefault("week", year_week(day)[1])
        elif wanted.get("dayOfQuarter") is not None:
            wanted.setdefault("quarter", (year_month_day(day)[1] - 1) // 3 + 1)
        day = day_from_parts({name: wanted.get(name) for name in DATE_PARTS}, day)
    return day, _with_clock(ns, parts)


def _needs_day(day: int | None, what: str) -> int:
    if day is None:
        raise CypherArgumentError("InvalidArgumentType", f"{what} cannot be taken from a time of day")
    return day


def _zone(parts: Mapping[str, Any], moment: Any) -> Zone:
    text = parts.get("timezone")
    own: Zone = getattr(moment, "zone", 0)
    return own if text is None else parse_zone(text)


def truncate_date(unit: str, moment: Any, parts: Mapping[str, Any] | None = None) -> Date:
    if unit.lower() in CLOCKS:
        raise CypherArgumentError("InvalidArgumentValue", f"A date has no {unit}")
    day, _ = _truncate(unit, moment, _parts(parts, DATE_PARTS, "date"))
    return Date(_needs_day(day, "A date"))


def truncate_localtime(unit: str, moment: Any, parts: Mapping[str, Any] | None = None) -> LocalTime:
    return LocalTime(_clock_only(unit, moment, _parts(parts, CLOCK_PARTS, "local time")))


def _clock_only(unit: str, moment: Any, parts: Mapping[str, Any]) -> int:
    if unit.lower() in DAYS and unit.lower() != "day":
        raise CypherArgumentError("InvalidArgumentValue", f"A time of day has no {unit}")
    if not hasattr(moment, "ns"):
        raise CypherArgumentError("InvalidArgumentType", "A time cannot be taken from a date")
    return _truncate(unit, moment, parts)[1]


def truncate_time(unit: str, moment: Any, parts: Mapping[str, Any] | None = None) -> Time:
    parts = _parts(parts, (*CLOCK_PARTS, "timezone"), "time")
    ns = _clock_only(unit, moment, parts)
    if parts.get("timezone") is None:
        return Time(ns, getattr(moment, "offset", 0))
    return Time(ns, offset_of_local(_zone(parts, moment), getattr(moment, "day", 0), ns // NS))


def truncate_localdatetime(unit: str, moment: Any, parts: Mapping[str, Any] | None = None) -> LocalDateTime:
    day, ns = _truncate(unit, moment, _parts(parts, (*DATE_PARTS, *CLOCK_PARTS), "local date-time"))
    return LocalDateTime(_needs_day(day, "A date-time"), ns)


def truncate_datetime(unit: str, moment: Any, parts: Mapping[str, Any] | None = None) -> DateTime:
    parts = _parts(parts, (*DATE_PARTS, *CLOCK_PARTS, "timezone"), "date-time")
    day, ns = _truncate(unit, moment, parts)
    return in_zone(_needs_day(day, "A date-time"), ns, _zone(parts, moment))
