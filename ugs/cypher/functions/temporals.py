"""Functions that make, cut and measure moments and durations."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.functions.registry import function, wrong_type
from ugs.cypher.temporal import (
    Date,
    DateTime,
    Duration,
    LocalDateTime,
    LocalTime,
    Temporal,
    Time,
    constructors,
    duration_between,
    parser,
    truncation,
)
from ugs.cypher.temporal.calendar import NS
from ugs.cypher.temporal.duration import duration_from_map, parse_duration
from ugs.cypher.temporal.types import at_instant
from ugs.cypher.temporal.zones import parse_zone

PARSERS: dict[str, Callable[[str], Any]] = {
    "date": parser.parse_date,
    "localtime": parser.parse_localtime,
    "time": parser.parse_time,
    "localdatetime": parser.parse_localdatetime,
    "datetime": parser.parse_datetime,
}
BUILDERS: dict[str, Callable[[Any], Any]] = {
    "date": constructors.build_date,
    "localtime": constructors.build_localtime,
    "time": constructors.build_time,
    "localdatetime": constructors.build_localdatetime,
    "datetime": constructors.build_datetime,
}
TRUNCATIONS: dict[str, Callable[..., Any]] = {
    "date": truncation.truncate_date,
    "localtime": truncation.truncate_localtime,
    "time": truncation.truncate_time,
    "localdatetime": truncation.truncate_localdatetime,
    "datetime": truncation.truncate_datetime,
}
SLICES: dict[str, Callable[[DateTime], Any]] = {
    "date": lambda m: Date(m.day),
    "localtime": lambda m: LocalTime(m.ns),
    "time": lambda m: Time(m.ns, m.offset),
    "localdatetime": lambda m: LocalDateTime(m.day, m.ns),
    "datetime": lambda m: m,
}
SOURCES = {"date": "date", "localtime": "time", "time": "time", "localdatetime": "datetime", "datetime": "datetime"}
"""Under which name of a map another moment is taken over."""


def _current(kind: str, epoch_ns: int, zone: Any) -> Any:
    if zone is not None and not isinstance(zone, str | dict):
        raise wrong_type(kind, zone)
    name = zone.get("timezone", "Z") if isinstance(zone, dict) else zone
    if name is not None and not isinstance(name, str):
        raise wrong_type(kind, name)
    return SLICES[kind](at_instant(epoch_ns, parse_zone(name or "Z")))


def _convert(kind: str, moment: Any) -> Any:
    name = SOURCES[kind]
    if name == "datetime" and not (hasattr(moment, "day") and hasattr(moment, "ns")):
        name = "date" if hasattr(moment, "day") else "time"
    return BUILDERS[kind]({name: moment})


def _constructor(kind: str) -> Callable[..., Any]:
    def construct(run: Any, *arguments: Any) -> Any:
        if not arguments:
            return _current(kind, run.now_ns, None)
        value = arguments[0]
        if value is None:
            return None
        if isinstance(value, str):
            return PARSERS[kind](value)
        if isinstance(value, dict):
            return _from_map(kind, run, value)
        if isinstance(value, Temporal):
            return _convert(kind, value)
        raise wrong_type(kind, value)

    return construct


def _from_map(kind: str, run: Any, parts: dict[str, Any]) -> Any:
    if set(parts) == {"timezone"} and kind != "time":
        return _current(kind, run.now_ns, parts)
    return BUILDERS[kind](parts)


def _clock(kind: str, now: Callable[[Any], int]) -> Callable[..., Any]:
    def current(run: Any, *zone: Any) -> Any:
        if zone and zone[0] is None:
            return None
        return _current(kind, now(run), zone[0] if zone else None)

    return current


def _cutter(kind: str) -> Callable[..., Any]:
    def cut(run: Any, unit: Any, *rest: Any) -> Any:
        moment = rest[0] if rest else _current("datetime", run.now_ns, None)
        if unit is None or moment is None:
            return None
        parts = rest[1] if len(rest) > 1 else None
        if not isinstance(unit, str) or not isinstance(moment, Temporal) or not isinstance(parts, dict | None):
            raise wrong_type(f"{kind}.truncate", moment if isinstance(unit, str) else unit)
        return TRUNCATIONS[kind](unit, moment, parts)

    return cut


for _kind in BUILDERS:
    function(_kind, "any", _kind, min_arguments=0, strict=False, live=True)(_constructor(_kind))
    function(f"{_kind}.truncate", "any, any, any", _kind, min_arguments=1, strict=False, live=True)(_cutter(_kind))
    for _name in ("transaction", "statement"):
        function(f"{_kind}.{_name}", "any", _kind, min_arguments=0, strict=False, live=True)(
            _clock(_kind, lambda run: int(run.now_ns))
        )
    function(f"{_kind}.realtime", "any", _kind, min_arguments=0, strict=False, live=True)(
        _clock(_kind, lambda run: time.time_ns())
    )


@function("datetime.fromEpoch", "any, any", "datetime")
def from_epoch(seconds: Any, nanoseconds: Any) -> DateTime:
    if type(seconds) is not int or type(nanoseconds) is not int:
        raise CypherArgumentError("InvalidArgumentType", "datetime.fromEpoch() takes whole numbers")
    return at_instant(seconds * NS + nanoseconds, 0)


@function("datetime.fromEpochMillis", "any", "datetime")
def from_epoch_millis(milliseconds: Any) -> DateTime:
    if type(milliseconds) is not int:
        raise CypherArgumentError("InvalidArgumentType", "datetime.fromEpochMillis() takes a whole number")
    return at_instant(milliseconds * 1_000_000, 0)


@function("duration", "any", "duration")
def duration(value: Any) -> Duration:
    if isinstance(value, Duration):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, dict):
        return duration_from_map({unit: amount for unit, amount in value.items() if amount is not None})
    raise wrong_type("duration", value)


def _measure(name: str, code: Callable[[Any, Any], Duration]) -> Callable[[Any, Any], Duration]:
    def measure(start: Any, end: Any) -> Duration:
        for moment in (start, end):
            if not isinstance(moment, Temporal):
                raise wrong_type(name, moment)
        return code(start, end)

    return measure


MEASURES = {
    "between": duration_between.between,
    "inMonths": duration_between.in_months,
    "inDays": duration_between.in_days,
    "inSeconds": duration_between.in_seconds,
}
for _name, _measured in MEASURES.items():
    function(f"duration.{_name}", "any, any", "duration")(_measure(f"duration.{_name}", _measured))
