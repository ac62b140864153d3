"""Reading moments from ISO 8601 text, basic and extended, whole and shortened."""

from __future__ import annotations

import re

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.temporal.calendar import NS
from ugs.cypher.temporal.constructors import day_from_parts
from ugs.cypher.temporal.types import Date, DateTime, LocalDateTime, LocalTime, Time, in_zone
from ugs.cypher.temporal.zones import Zone, parse_zone

YEAR = r"(?P<year>[-+]\d{1,9}|\d{4})"
DATE_FORMS = tuple(
    re.compile(YEAR + rest)
    for rest in (
        r"-(?P<month>\d\d?)-(?P<day>\d\d?)",
        r"(?P<month>\d\d)(?P<day>\d\d)",
        r"-(?P<month>\d\d)",
        r"(?P<month>\d\d)",
        r"-?W(?P<week>\d\d)-?(?P<dayOfWeek>\d)",
        r"-?W(?P<week>\d\d)",
        r"-Q(?P<quarter>\d)-(?P<dayOfQuarter>\d\d?)",
        r"-?(?P<ordinalDay>\d{3})",
        r"",
    )
)
TIME_FORM = re.compile(r"(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?")
ZONED = re.compile(r"(?P<time>[\d:.,]*)(?P<offset>Z|z|[+-][\d:]+)?(?:\[(?P<zone>[^\]]+)\])?")


def build_parse_error(text: str, what: str) -> CypherArgumentError:
    return CypherArgumentError("InvalidArgumentValue", f"{text[:60]!r} is not a {what}")


def read_day(text: str) -> int:
    for form in DATE_FORMS:
        match = form.fullmatch(text)
        if match is not None:
            return day_from_parts({name: int(value) for name, value in match.groupdict().items()})
    raise build_parse_error(text, "date")


def read_clock(text: str) -> int:
    match = TIME_FORM.fullmatch(text)
    if match is None:
        raise build_parse_error(text, "time")
    hour, minute, second = (int(match[n] or 0) for n in (1, 2, 3))
    if hour > 23 or minute > 59 or second > 59:
        raise build_parse_error(text, "time")
    return ((hour * 60 + minute) * 60 + second) * NS + int((match[4] or "").ljust(9, "0"))


def read_zoned(text: str) -> tuple[int, Zone, bool]:
    """The time, the zone, and whether an offset was written as well as a zone's name."""
    match = ZONED.fullmatch(text)
    if match is None:
        raise build_parse_error(text, "time")
    named, offset = match["zone"], match["offset"]
    zone = parse_zone(named) if named else parse_zone(offset) if offset else 0
    return read_clock(match["time"]), zone, bool(named and offset)


def parse_date(text: str) -> Date:
    return Date(read_day(text))


def parse_localtime(text: str) -> LocalTime:
    return LocalTime(read_clock(text))


def parse_time(text: str) -> Time:
    ns, zone, _ = read_zoned(text)
    if isinstance(zone, str):
        raise build_parse_error(text, "time with an offset")
    return Time(ns, zone)


def _halves(text: str) -> tuple[str, str]:
    day, _, time = text.partition("T")
    return day, time or "00"


def parse_localdatetime(text: str) -> LocalDateTime:
    day, time = _halves(text)
    return LocalDateTime(read_day(day), read_clock(time))


def parse_datetime(text: str) -> DateTime:
    day, time = _halves(text)
    ns, zone, both = read_zoned(time)
    moment = in_zone(read_day(day), ns, zone)
    if not both:
        return moment
    # The offset decides which of two equal clock times is meant when clocks are put back.
    match = ZONED.fullmatch(time)
    offset = parse_zone(match["offset"]) if match else 0
    return in_zone(read_day(day), ns, offset).to_zone(zone)
