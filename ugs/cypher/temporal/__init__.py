"""Dates, times and durations with nanoseconds, over a range of years that Python's own types do not have."""

from ugs.cypher.temporal.duration import Duration
from ugs.cypher.temporal.types import Date, DateTime, LocalDateTime, LocalTime, Temporal, Time

__all__ = ["Date", "DateTime", "Duration", "LocalDateTime", "LocalTime", "Temporal", "Time"]
