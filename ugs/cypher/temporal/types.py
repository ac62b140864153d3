"""The five kinds of moment. Each knows its text, its place in the order, and how a duration moves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.temporal.calendar import (
    DAY_NS,
    DAY_SECONDS,
    MAX_YEAR,
    NS,
    day_number,
    plus_months,
    truncate_toward_zero,
    year_month_day,
)
from ugs.cypher.temporal.duration import Duration
from ugs.cypher.temporal.zones import Zone, offset_at_instant, offset_of_local, offset_text

FIRST_DAY, LAST_DAY = day_number(-MAX_YEAR, 1, 1), day_number(MAX_YEAR, 12, 31)


def check_day(day: int) -> int:
    if not FIRST_DAY <= day <= LAST_DAY:
        raise CypherArgumentError("InvalidArgumentValue", f"Years lie between -{MAX_YEAR} and {MAX_YEAR}")
    return day


def date_text(day: int) -> str:
    year, month, of_month = year_month_day(day)
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{'-' if year < 0 else '+'}{abs(year):04}"
    return f"{shown}-{month:02}-{of_month:02}"


def time_text(ns: int) -> str:
    """Seconds and fractions are shown when there are any, fractions in threes."""
    seconds, fraction = divmod(ns, NS)
    minutes, second = divmod(seconds, 60)
    text = f"{minutes // 60:02}:{minutes % 60:02}"
    if fraction == 0:
        return f"{text}:{second:02}" if second else text
    digits = f"{fraction:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{text}:{second:02}.{digits}"


class Temporal:
    """A moment of some kind."""

    __slots__ = ()
    kind: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Date(Temporal):
    """A day."""

    kind: ClassVar[str] = "date"
    day: int

    @property
    def place(self) -> tuple[int, ...]:
        return (self.day,)

    def plus(self, by: Duration) -> Date:
        moved = plus_months(self.day, by.months) + by.days + truncate_toward_zero(by.seconds, DAY_SECONDS)
        return Date(check_day(moved))

    def __str__(self) -> str:
        return date_text(self.day)


@dataclass(frozen=True, slots=True)
class LocalTime(Temporal):
    """A time of day, anywhere."""

    kind: ClassVar[str] = "localtime"
    ns: int

    @property
    def place(self) -> tuple[int, ...]:
        return (self.ns,)

    def plus(self, by: Duration) -> LocalTime:
        return LocalTime((self.ns + by.total_ns) % DAY_NS)

    def __str__(self) -> str:
        return time_text(self.ns)


@dataclass(frozen=True, slots=True)
class Time(Temporal):
    """A time of day at an offset from UTC."""

    kind: ClassVar[str] = "time"
    ns: int
    offset: int

    @property
    def place(self) -> tuple[int, ...]:
        return self.ns - self.offset * NS, self.offset

    @property
    def zone(self) -> Zone:
        return self.offset

    def plus(self, by: Duration) -> Time:
        return Time((self.ns + by.total_ns) % DAY_NS, self.offset)

    def __str__(self) -> str:
        return time_text(self.ns) + offset_text(self.offset)


@dataclass(frozen=True, slots=True)
class LocalDateTime(Temporal):
    """A day and a time, anywhere."""

    kind: ClassVar[str] = "localdatetime"
    day: int
    ns: int

    @property
    def place(self) -> tuple[int, ...]:
        return self.day, self.ns

    def plus(self, by: Duration) -> LocalDateTime:
        return LocalDateTime(*moved(self.day, self.ns, by))

    def __str__(self) -> str:
        return f"{date_text(self.day)}T{time_text(self.ns)}"


@dataclass(frozen=True, slots=True)
class DateTime(Temporal):
    """A moment: a day and a time in a zone."""

    kind: ClassVar[str] = "datetime"
    day: int
    ns: int
    offset: int
    zone: Zone

    @property
    def epoch_ns(self) -> int:
        return self.day * DAY_NS + self.ns - self.offset * NS

    @property
    def place(self) -> tuple[int, int, str]:
        return self.epoch_ns, self.offset, str(self.zone)

    def plus(self, by: Duration) -> DateTime:
        """Months and days move the calendar, seconds move the clock."""
        day = check_day(plus_months(self.day, by.months) + by.days)
        there = in_zone(day, self.ns, self.zone)
        return at_instant(there.epoch_ns + by.total_ns, self.zone)

    def to_zone(self, zone: Zone) -> DateTime:
        return at_instant(self.epoch_ns, zone)

    def __str__(self) -> str:
        text = f"{date_text(self.day)}T{time_text(self.ns)}{offset_text(self.offset)}"
        return f"{text}[{self.zone}]" if isinstance(self.zone, str) else text


def moved(day: int, ns: int, by: Duration) -> tuple[int, int]:
    total = plus_months(day, by.months) * DAY_NS + by.days * DAY_NS + ns + by.total_ns
    day, ns = divmod(total, DAY_NS)
    return check_day(day), ns


def in_zone(day: int, ns: int, zone: Zone) -> DateTime:
    """The moment of a local time; one that the clock skips is moved on by the gap."""
    offset = offset_of_local(zone, day, ns // NS)
    return at_instant(day * DAY_NS + ns - offset * NS, zone)


def at_instant(epoch_ns: int, zone: Zone) -> DateTime:
    """The moment so many nanoseconds after 1970-01-01T00:00Z, in a zone."""
    offset = offset_at_instant(zone, epoch_ns // NS)
    day, ns = divmod(epoch_ns + offset * NS, DAY_NS)
    return DateTime(check_day(day), ns, offset, zone)
