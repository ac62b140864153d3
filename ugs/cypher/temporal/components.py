"""The parts of a moment that a query can ask for: `d.year`, `t.hour`, `dt.epochMillis`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher.temporal import duration
from ugs.cypher.temporal.calendar import NS, day_number, week_day, year_month_day, year_week
from ugs.cypher.temporal.duration import Duration
from ugs.cypher.temporal.types import Date, DateTime, LocalDateTime, LocalTime, Time
from ugs.cypher.temporal.zones import offset_text

Field = Callable[[Any], Any]


def quarter_start(day: int) -> int:
    year, month, _ = year_month_day(day)
    return day_number(year, (month - 1) // 3 * 3 + 1, 1)


def zone_text(moment: Time | DateTime) -> str:
    zone = moment.zone
    return zone if isinstance(zone, str) else offset_text(zone)


OF_DATE: dict[str, Field] = {
    "year": lambda m: year_month_day(m.day)[0],
    "quarter": lambda m: (year_month_day(m.day)[1] - 1) // 3 + 1,
    "month": lambda m: year_month_day(m.day)[1],
    "week": lambda m: year_week(m.day)[1],
    "weekYear": lambda m: year_week(m.day)[0],
    "day": lambda m: year_month_day(m.day)[2],
    "ordinalDay": lambda m: m.day - day_number(year_month_day(m.day)[0], 1, 1) + 1,
    "weekDay": lambda m: week_day(m.day),
    "dayOfWeek": lambda m: week_day(m.day),
    "dayOfQuarter": lambda m: m.day - quarter_start(m.day) + 1,
}
OF_TIME: dict[str, Field] = {
    "hour": lambda m: m.ns // (3600 * NS),
    "minute": lambda m: m.ns // (60 * NS) % 60,
    "second": lambda m: m.ns // NS % 60,
    "millisecond": lambda m: m.ns % NS // 1_000_000,
    "microsecond": lambda m: m.ns % NS // 1000,
    "nanosecond": lambda m: m.ns % NS,
}
OF_ZONE: dict[str, Field] = {
    "timezone": zone_text,
    "offset": lambda m: offset_text(m.offset),
    "offsetMinutes": lambda m: m.offset // 60,
    "offsetSeconds": lambda m: m.offset,
}
OF_INSTANT: dict[str, Field] = {
    "epochSeconds": lambda m: m.epoch_ns // NS,
    "epochMillis": lambda m: m.epoch_ns // 1_000_000,
}
FIELDS: dict[type, dict[str, Field]] = {
    Date: OF_DATE,
    LocalTime: OF_TIME,
    Time: OF_TIME | OF_ZONE,
    LocalDateTime: OF_DATE | OF_TIME,
    DateTime: OF_DATE | OF_TIME | OF_ZONE | OF_INSTANT,
    Duration: duration.FIELDS,
}


def field_of(moment: Any, name: str) -> Any:
    """A part of a moment or duration, or None when it has no such part."""
    found = FIELDS[type(moment)].get(name)
    return None if found is None else found(moment)
