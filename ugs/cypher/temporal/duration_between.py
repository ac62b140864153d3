"""The time from one moment to another, in mixed or single units.

A moment without a day takes the other's day, one without a clock is at midnight, one without a zone takes the
other's zone.
"""

from __future__ import annotations

from typing import Any

from ugs.cypher.temporal.calendar import DAY_NS, months_between, plus_months, truncate_toward_zero
from ugs.cypher.temporal.duration import Duration, duration_of
from ugs.cypher.temporal.types import DateTime, in_zone
from ugs.cypher.temporal.zones import Zone

Local = tuple[int, int]
"""A day and a nanosecond of it."""


def _aligned(start: Any, end: Any) -> tuple[Local, Local, Zone]:
    """Both moments as local times of one zone."""
    zone: Zone = _zone(start, _zone(end, 0))
    first = _local(start, end, zone)
    last = _local(end, start, zone)
    return first, last, zone


def _zone(moment: Any, other: Zone) -> Zone:
    zone: Zone = getattr(moment, "zone", other)
    return zone


def _local(moment: Any, other: Any, zone: Zone) -> Local:
    day = getattr(moment, "day", getattr(other, "day", 0))
    ns = getattr(moment, "ns", 0)
    own = getattr(moment, "zone", None)
    if own is None or own == zone:
        return day, ns
    offset = moment.offset if isinstance(moment, DateTime) else own
    there = in_zone(day, ns, offset).to_zone(zone)
    return there.day, there.ns


def _whole_days(start: Local, end: Local) -> int:
    return truncate_toward_zero(_flat(end) - _flat(start), DAY_NS)


def _flat(local: Local) -> int:
    return local[0] * DAY_NS + local[1]


def _whole_months(start: Local, end: Local) -> int:
    last = end[0]
    if end[0] > start[0] and end[1] < start[1]:
        last -= 1
    elif end[0] < start[0] and end[1] > start[1]:
        last += 1
    return months_between(start[0], last)


def _exact_end(moment: Any, local: Local, zone: Zone) -> int:
    """A moment that knows its offset is that moment, also where clocks are put back."""
    return moment.epoch_ns if isinstance(moment, DateTime) else in_zone(*local, zone).epoch_ns


def between(start: Any, end: Any) -> Duration:
    """Whole months, then whole days, then the rest."""
    first, last, zone = _aligned(start, end)
    months = _whole_months(first, last)
    first = plus_months(first[0], months), first[1]
    days = _whole_days(first, last)
    first = first[0] + days, first[1]
    begin = in_zone(*first, zone).epoch_ns if months or days else _exact_end(start, first, zone)
    return duration_of(months, days, _exact_end(end, last, zone) - begin)


def in_months(start: Any, end: Any) -> Duration:
    first, last, _ = _aligned(start, end)
    return duration_of(_whole_months(first, last), 0, 0)


def in_days(start: Any, end: Any) -> Duration:
    first, last, _ = _aligned(start, end)
    return duration_of(0, _whole_days(first, last), 0)


def in_seconds(start: Any, end: Any) -> Duration:
    first, last, zone = _aligned(start, end)
    return duration_of(0, 0, _exact_end(end, last, zone) - _exact_end(start, first, zone))
