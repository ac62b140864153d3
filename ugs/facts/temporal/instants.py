"""Instants: UTC microseconds as integers internally, ISO 8601 with Z externally.

An integer sorts and compares exactly on every store. The kernel's clock counts milliseconds, so "now" includes the
current millisecond to its end; that leaves room to order changes within one millisecond.
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
    """Convert a time from a client to an instant; raises `InvalidFact` if it has no time zone."""
    if isinstance(moment, int) and not isinstance(moment, bool):
        return _check_range(moment, what)
    if isinstance(moment, str):
        moment = _parsed(moment, what)
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidFact(f"{what}: {str(moment)[:40]!r} names no zone: add Z or an offset", field=what)
    return _check_range((moment - EPOCH) // MICROSECOND, what)


def _parsed(text: str, what: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidFact(f"{what}: {text[:40]!r} is not a time such as 2026-01-31T12:00:00Z", field=what) from None


def _check_range(instant: int, what: str) -> Instant:
    if not FIRST <= instant <= LAST:
        raise InvalidFact(f"{what}: only the years 1 to 9999 can be kept", field=what)
    return instant


def datetime_of(instant: Instant) -> datetime:
    return EPOCH + instant * MICROSECOND


def instant_text(instant: Instant) -> str:
    """ISO 8601 with Z, and with microseconds only if they are not zero."""
    return datetime_of(instant).isoformat().replace("+00:00", "Z")


def start_of(millis: int) -> Instant:
    """The first microsecond of a millisecond of the kernel's clock."""
    return millis * 1_000


def end_of(millis: int) -> Instant:
    """The last microsecond of a millisecond: what begins within the current millisecond has begun."""
    return millis * 1_000 + 999
