"""Durations: months, days and seconds are kept apart, since none of them is a fixed number of another."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ugs.cypher.errors import CypherArgumentError, CypherArithmeticError
from ugs.cypher.temporal.calendar import DAY_SECONDS, NS, truncate_toward_zero
from ugs.values import MAX_INT

MONTH_SECONDS = 2_629_746
"""The mean length of a Gregorian month, for fractions of months and for ordering."""

IN_MONTHS = {"years": 12, "quarters": 3, "months": 1}
IN_DAYS = {"weeks": 7, "days": 1}
IN_NS = {
    "hours": 3600 * NS,
    "minutes": 60 * NS,
    "seconds": NS,
    "milliseconds": 1_000_000,
    "microseconds": 1000,
    "nanoseconds": 1,
}
UNITS = (*IN_MONTHS, *IN_DAYS, *IN_NS)
NUMBER = r"[-+]?\d+(?:[.,]\d+)?"
BY_UNIT = re.compile(
    rf"([-+])?P(?:({NUMBER})Y)?(?:({NUMBER})M)?(?:({NUMBER})W)?(?:({NUMBER})D)?"
    rf"(?:T(?:({NUMBER})H)?(?:({NUMBER})M)?(?:({NUMBER})S)?)?",
    re.IGNORECASE,
)
BY_DATE = re.compile(r"P(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d(?:[.,]\d+)?)", re.IGNORECASE)
WRITTEN_UNITS = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
DATE_UNITS = ("years", "months", "days", "hours", "minutes", "seconds")


@dataclass(frozen=True, slots=True)
class Duration:
    """An amount of time. Nanoseconds lie in [0, 10^9), so seconds carry the sign."""

    months: int
    days: int
    seconds: int
    nanoseconds: int = 0

    @property
    def total_ns(self) -> int:
        return self.seconds * NS + self.nanoseconds

    @property
    def length(self) -> tuple[int, int, int, int, int]:
        """For ordering: the mean length in nanoseconds, then the parts."""
        mean = (self.months * MONTH_SECONDS + self.days * DAY_SECONDS) * NS + self.total_ns
        return mean, self.months, self.days, self.seconds, self.nanoseconds

    def __add__(self, other: Duration) -> Duration:
        ns = self.total_ns + other.total_ns
        return duration_of(self.months + other.months, self.days + other.days, ns)

    def __neg__(self) -> Duration:
        return duration_of(-self.months, -self.days, -self.total_ns)

    def times(self, factor: Fraction) -> Duration:
        """All parts multiplied; what is no whole month or day moves to the next smaller part."""
        return spread(self.months * factor, self.days * factor, self.total_ns * factor)

    def __str__(self) -> str:
        return _text(self)


def duration_of(months: int, days: int, ns: int) -> Duration:
    if max(abs(months), abs(days), abs(ns) // NS) > MAX_INT:
        raise CypherArithmeticError("IntegerOverflow", "The duration does not fit 64 bits")
    seconds, nanoseconds = divmod(ns, NS)
    return Duration(months, days, seconds, nanoseconds)


def spread(months: Fraction, days: Fraction, ns: Fraction) -> Duration:
    """A duration of parts that need not be whole."""
    whole_months = int(months)
    days += (months - whole_months) * MONTH_SECONDS / DAY_SECONDS
    whole_days = int(days)
    ns += (days - whole_days) * DAY_SECONDS * NS
    return duration_of(whole_months, whole_days, int(ns))


def exact(value: int | float) -> Fraction:
    """The decimal number that was written, without the noise of binary floats."""
    if isinstance(value, float) and not math.isfinite(value):
        raise CypherArgumentError("NumberOutOfRange", "A duration is made of finite numbers")
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def duration_from_map(parts: dict[str, Any]) -> Duration:
    """`duration({days: 1.5, hours: 2})`."""
    for unit, value in parts.items():
        if unit not in UNITS:
            raise CypherArgumentError("InvalidArgumentValue", f"A duration has no {unit}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise CypherArgumentError("InvalidArgumentType", f"{unit} must be a number")
    amounts = {unit: exact(value) for unit, value in parts.items()}
    return _sum_units(amounts)


def _sum_units(amounts: dict[str, Fraction]) -> Duration:
    zero = Fraction(0)
    months = sum((amounts.get(unit, zero) * factor for unit, factor in IN_MONTHS.items()), zero)
    days = sum((amounts.get(unit, zero) * factor for unit, factor in IN_DAYS.items()), zero)
    ns = sum((amounts.get(unit, zero) * factor for unit, factor in IN_NS.items()), zero)
    return spread(months, days, ns)


MAX_DURATION_CHARS = 500


def parse_duration(text: str) -> Duration:
    """`P1Y2M3DT4H5M6.7S`, `P2.5W`, or `P2012-02-02T14:37:21.545`."""
    if len(text) > MAX_DURATION_CHARS:
        raise CypherArgumentError("InvalidArgumentValue", f"{text[:60]!r} is not a duration")
    dated = BY_DATE.fullmatch(text)
    match = dated or BY_UNIT.fullmatch(text)
    if match is None or not any(match.groups()[0 if dated else 1 :]) or text[-1] in "tT":
        raise CypherArgumentError("InvalidArgumentValue", f"{text[:60]!r} is not a duration")
    numbers = match.groups() if dated else match.groups()[1:]
    units = DATE_UNITS if dated else WRITTEN_UNITS
    amounts = {unit: Fraction(n.replace(",", ".")) for unit, n in zip(units, numbers, strict=True) if n}
    found = _sum_units(amounts)
    return -found if not dated and match[1] == "-" else found


def _text(duration: Duration) -> str:
    years = truncate_toward_zero(duration.months, 12)
    date = _parts((years, "Y"), (duration.months - years * 12, "M"), (duration.days, "D"))
    ns = duration.total_ns
    hours = truncate_toward_zero(ns, 3600 * NS)
    ns -= hours * 3600 * NS
    minutes = truncate_toward_zero(ns, 60 * NS)
    ns -= minutes * 60 * NS
    time = _parts((hours, "H"), (minutes, "M")) + (f"{_decimal(ns)}S" if ns else "")
    return f"P{date}T{time}" if time else f"P{date}" if date else "PT0S"


def _parts(*parts: tuple[int, str]) -> str:
    return "".join(f"{value}{unit}" for value, unit in parts if value)


def _decimal(ns: int) -> str:
    seconds, rest = divmod(abs(ns), NS)
    text = f"{seconds}.{rest:09}".rstrip("0").rstrip(".")
    return f"-{text}" if ns < 0 else text


def _of(total: int, unit: int, within: int | None = None) -> int:
    """Whole units, counted within a larger unit when one is given."""
    whole = truncate_toward_zero(total, unit)
    return whole if within is None else whole - truncate_toward_zero(total, within) * (within // unit)


FIELDS: dict[str, Any] = {
    "years": lambda d: truncate_toward_zero(d.months, 12),
    "quarters": lambda d: truncate_toward_zero(d.months, 3),
    "months": lambda d: d.months,
    "weeks": lambda d: truncate_toward_zero(d.days, 7),
    "days": lambda d: d.days,
    "hours": lambda d: truncate_toward_zero(d.seconds, 3600),
    "minutes": lambda d: truncate_toward_zero(d.seconds, 60),
    "seconds": lambda d: d.seconds,
    "milliseconds": lambda d: truncate_toward_zero(d.total_ns, 1_000_000),
    "microseconds": lambda d: truncate_toward_zero(d.total_ns, 1000),
    "nanoseconds": lambda d: d.total_ns,
    "quartersOfYear": lambda d: _of(d.months, 3, 12),
    "monthsOfYear": lambda d: _of(d.months, 1, 12),
    "monthsOfQuarter": lambda d: _of(d.months, 1, 3),
    "daysOfWeek": lambda d: _of(d.days, 1, 7),
    "minutesOfHour": lambda d: _of(d.seconds, 60, 3600),
    "secondsOfMinute": lambda d: _of(d.seconds, 1, 60),
    "millisecondsOfSecond": lambda d: d.nanoseconds // 1_000_000,
    "microsecondsOfSecond": lambda d: d.nanoseconds // 1000,
    "nanosecondsOfSecond": lambda d: d.nanoseconds,
}
