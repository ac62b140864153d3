"""Building moments from maps of parts: `date({year: 2024, week: 7})`, `datetime({date: d, hour: 9, timezone: z})`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.temporal.calendar import (
    MAX_YEAR,
    NS,
    day_number,
    first_week,
    is_leap,
    month_length,
    week_day,
    weeks_in,
    year_month_day,
    year_week,
)
from ugs.cypher.temporal.components import quarter_start
from ugs.cypher.temporal.types import Date, DateTime, LocalDateTime, LocalTime, Time, at_instant, in_zone
from ugs.cypher.temporal.zones import Zone, offset_at_instant, offset_of_local, parse_zone

DATE_PARTS = ("year", "month", "day", "week", "dayOfWeek", "quarter", "dayOfQuarter", "ordinalDay")
CLOCK_PARTS = ("hour", "minute", "second", "millisecond", "microsecond", "nanosecond")
BASES = ("date", "time", "datetime")
EPOCHS = ("epochSeconds", "epochMillis")
FRACTIONS = {"millisecond": 1_000_000, "microsecond": 1000, "nanosecond": 1}
Parts = Mapping[str, Any]


def _check_range(parts: Mapping[str, int | None], name: str, default: int, low: int, high: int) -> int:
    value = parts.get(name)
    value = default if value is None else value
    if not low <= value <= high:
        raise CypherArgumentError("InvalidArgumentValue", f"{name} lies between {low} and {high}, not {value}")
    return value


def day_from_parts(parts: Mapping[str, int | None], base: int | None = None) -> int:
    """The day that the parts name; what they leave open comes from the base, or is the first."""
    if parts.get("week") is not None:
        return _by_week(parts, base)
    year = _check_range(parts, "year", 0 if base is None else year_month_day(base)[0], -MAX_YEAR, MAX_YEAR)
    if parts.get("ordinalDay") is not None:
        return day_number(year, 1, 1) + _check_range(parts, "ordinalDay", 1, 1, 366 if is_leap(year) else 365) - 1
    if parts.get("quarter") is not None:
        return _by_quarter(year, parts, base)
    return _by_month(year, parts, base)


def _by_week(parts: Mapping[str, int | None], base: int | None) -> int:
    year = _check_range(parts, "year", 0 if base is None else year_week(base)[0], -MAX_YEAR, MAX_YEAR)
    week = _check_range(parts, "week", 1, 1, weeks_in(year))
    day = _check_range(parts, "dayOfWeek", 1 if base is None else week_day(base), 1, 7)
    return first_week(year) + (week - 1) * 7 + day - 1


def _by_quarter(year: int, parts: Mapping[str, int | None], base: int | None) -> int:
    quarter = _check_range(parts, "quarter", 1, 1, 4)
    start = day_number(year, quarter * 3 - 2, 1)
    length = day_number(year + (quarter == 4), quarter * 3 % 12 + 1, 1) - start
    default = 1 if base is None else min(base - quarter_start(base) + 1, length)
    return start + _check_range(parts, "dayOfQuarter", default, 1, length) - 1


def _by_month(year: int, parts: Mapping[str, int | None], base: int | None) -> int:
    _, base_month, base_day = (0, 1, 1) if base is None else year_month_day(base)
    month = _check_range(parts, "month", base_month, 1, 12)
    default = min(base_day, month_length(year, month))
    return day_number(year, month, _check_range(parts, "day", default, 1, month_length(year, month)))


def clock_from_parts(parts: Mapping[str, int | None], base: int | None = None) -> int:
    """The nanosecond of the day that the parts name, the rest from the base."""
    base = base or 0
    hour = _check_range(parts, "hour", base // (3600 * NS), 0, 23)
    minute = _check_range(parts, "minute", base // (60 * NS) % 60, 0, 59)
    second = _check_range(parts, "second", base // NS % 60, 0, 59)
    return ((hour * 60 + minute) * 60 + second) * NS + _fraction(parts, base % NS)


def _fraction(parts: Mapping[str, int | None], base: int) -> int:
    given = {name: value for name in FRACTIONS if (value := parts.get(name)) is not None}
    if not given:
        return base
    total = sum(_check_range(given, name, 0, 0, NS // FRACTIONS[name] - 1) * FRACTIONS[name] for name in given)
    if total >= NS:
        raise CypherArgumentError("InvalidArgumentValue", "The fractions add up to more than a second")
    return total


def check_parts(parts: Parts, allowed: tuple[str, ...], what: str) -> None:
    for name, value in parts.items():
        if name not in allowed:
            raise CypherArgumentError("InvalidArgumentValue", f"A {what} has no {name}")
        whole = name in DATE_PARTS or name in CLOCK_PARTS or name in EPOCHS
        if whole and value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise CypherArgumentError("InvalidArgumentType", f"{name} must be a whole number")


def _base(parts: Parts, name: str, needs: str) -> Any:
    """The moment to start from, if one is given; it must have a day (`day`) or a clock (`ns`)."""
    moment = parts.get(name)
    if moment is not None and not hasattr(moment, needs):
        raise CypherArgumentError("InvalidArgumentType", f"{name} cannot be taken from {moment}")
    return moment


def _day(parts: Parts) -> int:
    base = _base(parts, "datetime", "day") or _base(parts, "date", "day")
    if base is None and parts.get("year") is None:
        raise CypherArgumentError("InvalidArgumentValue", "A date needs at least a year")
    return day_from_parts({name: parts.get(name) for name in DATE_PARTS}, None if base is None else base.day)


def _clock_base(parts: Parts) -> Any:
    return _base(parts, "datetime", "ns") or _base(parts, "time", "ns")


def _clock(parts: Parts) -> int:
    base = _clock_base(parts)
    return clock_from_parts({name: parts.get(name) for name in CLOCK_PARTS}, None if base is None else base.ns)


def _zone(parts: Parts) -> Zone | None:
    text = parts.get("timezone")
    if text is not None and not isinstance(text, str):
        raise CypherArgumentError("InvalidArgumentType", "timezone must be text")
    return None if text is None else parse_zone(text)


def build_date(parts: Parts) -> Date:
    check_parts(parts, (*DATE_PARTS, "date", "datetime"), "date")
    return Date(_day(parts))


def build_localtime(parts: Parts) -> LocalTime:
    check_parts(parts, (*CLOCK_PARTS, "time", "datetime"), "local time")
    return LocalTime(_clock(parts))


def build_time(parts: Parts, today: int = 0) -> Time:
    check_parts(parts, (*CLOCK_PARTS, "time", "datetime", "timezone"), "time")
    base, zone = _clock_base(parts), _zone(parts)
    found = Time(_clock(parts), getattr(base, "offset", None) or 0)
    if zone is None:
        return found
    return (
        shift_time(found, zone, today) if hasattr(base, "offset") else Time(found.ns, _combine(zone, today, found.ns))
    )


def _combine(zone: Zone, day: int, ns: int) -> int:
    return offset_of_local(zone, day, ns // NS)


def shift_time(time: Time, zone: Zone, today: int = 0) -> Time:
    """The same moment of the day seen from another zone."""
    moment = today * 86_400 * NS + time.ns - time.offset * NS
    offset = offset_at_instant(zone, moment // NS)
    return Time((moment + offset * NS) % (86_400 * NS), offset)


def build_localdatetime(parts: Parts) -> LocalDateTime:
    check_parts(parts, (*DATE_PARTS, *CLOCK_PARTS, *BASES), "local date-time")
    return LocalDateTime(_day(parts), _clock(parts))


def build_datetime(parts: Parts) -> DateTime:
    check_parts(parts, (*DATE_PARTS, *CLOCK_PARTS, *BASES, *EPOCHS, "timezone"), "date-time")
    zone = _zone(parts)
    for name, factor in zip(EPOCHS, (NS, 1_000_000), strict=True):
        if parts.get(name) is not None:
            return at_instant(parts[name] * factor + _fraction(parts, 0), zone or 0)
    own = getattr(_clock_base(parts), "zone", None)
    if own is None:
        return in_zone(_day(parts), _clock(parts), zone if zone is not None else 0)
    moment = in_zone(_day(parts), _clock(parts), own)
    return moment if zone is None else moment.to_zone(zone)
