"""Time zones: a fixed offset in seconds, or a named zone whose offset depends on the moment."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.temporal.calendar import DAY_SECONDS, year_month_day
from ugs.cypher.temporal.zone_files import is_safe

OFFSET = re.compile(r"([+-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?")
ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
MAX_OFFSET = 18 * 3600
Zone = int | str
"""Seconds east of UTC, or the name of a zone."""


@lru_cache(maxsize=512)
def zone_info(name: str) -> ZoneInfo:
    try:
        if not ZONE_NAME.fullmatch(name) or not is_safe(name):
            raise ValueError(name)
        return _packaged(name) or ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CypherArgumentError("InvalidArgumentValue", f"There is no time zone {name[:60]!r}") from None


def _packaged(name: str) -> ZoneInfo | None:
    """The zone from the `tzdata` package: the same history on every machine, whatever its system knows."""
    try:
        place = files("tzdata.zoneinfo").joinpath(*name.split("/"))
        with place.open("rb") as data:
            return ZoneInfo.from_file(data, key=name)
    except (ModuleNotFoundError, FileNotFoundError, IsADirectoryError):
        return None


def parse_zone(text: str) -> Zone:
    """The zone a text names: `Z`, `+01:00` or `Europe/Stockholm`."""
    if text in ("Z", "z"):
        return 0
    match = OFFSET.fullmatch(text)
    if match is None:
        zone_info(text)
        return text
    seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60 + int(match[4] or 0)
    if seconds > MAX_OFFSET:
        raise CypherArgumentError("InvalidArgumentValue", f"The offset {text} is larger than 18 hours")
    return -seconds if match[1] == "-" else seconds


def offset_text(offset: int) -> str:
    """`Z`, `+01:00`, or `+00:53:28` where seconds are needed."""
    if offset == 0:
        return "Z"
    hours, rest = divmod(abs(offset), 3600)
    minutes, seconds = divmod(rest, 60)
    text = f"{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"
    return f"{text}:{seconds:02}" if seconds else text


def offset_of_local(zone: Zone, day: int, second: int) -> int:
    """The offset at a local time; in a gap or an overlap the one before the change."""
    if isinstance(zone, int):
        return zone
    moment = _nearby(day, second).replace(tzinfo=zone_info(zone))
    return _seconds(moment.utcoffset())


def offset_at_instant(zone: Zone, epoch_second: int) -> int:
    """The offset at a moment."""
    if isinstance(zone, int):
        return zone
    day, second = divmod(epoch_second, DAY_SECONDS)
    moment = _nearby(day, second).replace(tzinfo=UTC).astimezone(zone_info(zone))
    return _seconds(moment.utcoffset())


def _nearby(day: int, second: int) -> datetime:
    """The moment in the range that Python knows; beyond it, rules repeat every 400 years."""
    year, month, of_month = year_month_day(day)
    if year < 2:
        year = 2
        of_month = min(of_month, 28)
    elif year > 9998:
        year = 9200 + year % 400
    return datetime(year, month, of_month) + timedelta(seconds=second)


def _seconds(offset: timedelta | None) -> int:
    return 0 if offset is None else int(offset.total_seconds())
