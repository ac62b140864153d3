"""Instants: UTC microseconds as whole numbers inside, ISO 8601 with Z outside.

A whole number sorts and compares exactly on every store. The kernel's clock counts milliseconds, so "now" lasts until
the end of the running one; that leaves room to put changes of one millisecond in order.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ugs.facts.errors import InvalidFact

Instant = int
"""UTC microseconds since 1970."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
FIRST = (datetime.min.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
LAST = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND


def instant_of(moment: datetime | str | int, what: str = "instant") -> Instant:
    """The instant that a time from outside means; a clock time without a zone means none."""
    if isinstance(moment, int) and not isinstance(moment, bool):
        return _within(moment, what)
    if isinstance(moment, str):
        moment = _parsed(moment, what)
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidFact(f"{what}: {str(moment)[:40]!r} names no zone: add Z or an offset", field=what)
    return _within((moment - EPOCH) // MICROSECOND, what)


def _parsed(text: str, what: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidFact(f"{what}: {text[:40]!r} is not a time such as 2026-01-31T12:00:00Z", field=what) from None


def _within(instant: int, what: str) -> Instant:
    if not FIRST <= instant <= LAST:
        raise InvalidFact(f"{what}: only the years 1 to 9999 can be kept", field=what)
    return instant


def datetime_of(instant: Instant) -> datetime:
    return EPOCH + instant * MICROSECOND


def instant_text(instant: Instant) -> str:
    """ISO 8601 with Z, and with microseconds only where there are some."""
    return datetime_of(instant).isoformat().replace("+00:00", "Z")


def start_of(millis: int) -> Instant:
    """The beginning of a millisecond of the kernel's clock."""
    return millis * 1_000


def end_of(millis: int) -> Instant:
    """The last microsecond of it: what begins within the running millisecond has begun now."""
    return millis * 1_000 + 999
