"""Invented expressions of every kind of value, the same for the same seed.

An expression is written from templates: `$int` in one stands for another expression that gives an integer. What Neo4j is
known to do otherwise than the TCK asks is not written at all, or made alike by `alike` (docs/cypher.md has the list). Nor are
longitudes far beyond the antimeridian, which Neo4j brings back turn by turn, for ever if they are large enough.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

TEMPORAL = ("date", "localtime", "time", "localdatetime", "datetime")
LEAVES: dict[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "-1", "-7", "3", "10", "42", "2147483648", "9223372036854775807"),
    "few": ("0", "1", "2", "3", "4"),
    "float": ("0.0", "1.5", "-2.25", "1e3", "0.1", "3.7", "-0.5", "2.5", "1e-3", "12345.678", "pi()", "e()"),
    "text": ("''", "'a'", "'ab'", "'Ab c'", "'Zoë'", "'ß'", "'  x '", "'a,b,,c'", "'12'", "'-3.5'", "'true'", "'x\\'y'",
             "'日本'"),
    "bool": ("true", "false"),
    "list": ("[]", "[1, 2]", "['a', null]", "[1.5, true]"),
    "ints": ("[]", "[3]", "[1, null, 2]", "range(0, 3)", "range(2, -1, -1)", "range(-2, 5, 2)"),
    "map": ("{}", "{a: 1}", "{a: 'x', b: null}", "{c: [1, 2]}"),
    "year": ("1984", "2015", "2000", "1900", "2016", "1", "9999", "1970"),
    "dated": ("year: $year, month: 3, day: 31", "year: $year, week: 17, dayOfWeek: 5", "year: $year, ordinalDay: 365",
              "year: $year, quarter: 3, dayOfQuarter: 92", "year: $year, month: 2, day: 28"),
    "timed": ("hour: 7", "hour: 23, minute: 59", "hour: 0, minute: 5, second: 59",
              "hour: 12, minute: 31, second: 14, nanosecond: 645876123",
              "hour: 12, minute: 31, second: 14, millisecond: 1, microsecond: 2, nanosecond: 3"),
    "offset": ("'+01:00'", "'-05:30'", "'Z'", "'+18:00'"),
    "zone": ("$offset", "'Europe/Stockholm'", "'America/New_York'", "'Asia/Tokyo'"),
    "date": ("date({$dated})", "date('2015-07-21')", "date('20150721')", "date('2015-W30-2')", "date('2015202')",
             "date('1984-02-29')", "date('2015')"),
    "localtime": ("localtime({$timed})", "localtime('21:40:32.142')", "localtime('214032')", "localtime('21')"),
    "time": ("time({$timed, timezone: $offset})", "time('21:40:32.142+0100')", "time('2140-02')", "time('214032Z')"),
    "localdatetime": ("localdatetime({$dated, $timed})", "localdatetime('2015-W30-2T214032.142')",
                      "localdatetime('20150721T21:40')"),
    "datetime": ("datetime({$dated, $timed, timezone: $zone})", "datetime('2015-07-21T21:40:32.142+0100')",
                 "datetime('2015-07-21T21:40:32.142[Europe/London]')", "datetime({epochSeconds: 416779, nanosecond: 23})",
                 "datetime('1818-07-21T21:40:32.142[Europe/Stockholm]')", "datetime({epochMillis: 237821673987})"),
    "point": ("point({x: $int, y: $float})", "point({x: $few, y: $few})", "point({x: $few, y: $few, z: $float})",
              "point({longitude: $few, latitude: $few})", "point({x: $few, y: $few, crs: 'wgs-84'})",
              "point({longitude: $few, latitude: $few, height: $float})", "point({x: $few, y: $few, srid: 7203})"),
    "type": ("INTEGER", "FLOAT NOT NULL", "STRING", "BOOLEAN", "LIST<INTEGER>", "LIST<ANY>", "MAP", "DATE", "POINT", "ANY NOT NULL",
             "INTEGER | STRING", "ZONED DATETIME | DURATION"),
    "odd": ("INF", "-INF", "NaN", "-Infinity", "$float"),
    "any": ("$int", "$float", "$text", "$bool", "$list", "$map", "$date", "$datetime", "$duration", "$point", "null"),
    "duration": ("duration({days: 14, hours: 16, minutes: 12})", "duration({months: 5, days: 1.5})",
                 "duration({years: 12, months: -5, seconds: 70})", "duration('P0.75M')", "duration('PT-1.5S')",
                 "duration({weeks: 2.5})", "duration({milliseconds: 1, nanoseconds: -3})", "duration('P-1M2D')"),
}  # fmt: skip
WHOLE: dict[str, tuple[str, ...]] = {
    "int": ("($int + $few)", "($int - $few)", "($few * $int)", "($int / $few)", "($int % $few)", "size($text)",
            "size($list)", "abs($few)", "sign($int)", "sign($float)", "toInteger($text)", "toInteger($float)", "(-$few)",
            "coalesce($int, $int)", "CASE WHEN $bool THEN $int ELSE $int END",
            "CASE $few WHEN $few THEN $int WHEN $few THEN $int END", "reduce(sum = 0, v IN $ints | sum + v)",
            "head($ints)", "last($ints)", "$ints[$few]", "$date.year", "$date.quarter", "$date.week", "$date.weekYear",
            "$date.dayOfQuarter", "$date.ordinalDay", "$date.weekDay", "$time.hour", "$localtime.microsecond",
            "$datetime.epochMillis", "$datetime.offsetMinutes", "$localdatetime.day", "$duration.months",
            "$duration.days", "$duration.hours", "$duration.nanosecondsOfSecond", "$duration.monthsOfYear",
            "$duration.quartersOfYear", "$duration.minutesOfHour", "char_length($text)", "$point.srid", "nullIf($few, $few)",
            "CASE $int WHEN > 1 THEN $few WHEN IS NULL THEN 7 WHEN 0, 1 THEN $int ELSE 5 END", "1_000", "0x_1f",
            "toIntegerOrNull($any)", "size(toIntegerList($list))"),
    "float": ("($float + $int)", "($float * $few)", "($float / 2.0)", "($float ^ 2)", "ceil($float)", "floor($float)",
              "round($float)", "round($float, 1)", "sqrt(abs($float))", "toFloat($text)", "toFloat($int)", "$point.x", "point.distance($point, $point)", "toFloatOrNull($any)",
              "($odd + 1)", "($odd * $float)", "(0 - $odd)",
              "round($float, 1, 'HALF_EVEN')", "cot($float)", "haversin($float)",
              "round(vector.similarity.euclidean([$float, $few], [$few, 1]), 5)"),
    "text": ("($text + $text)", "toUpper($text)", "toLower($text)", "trim($text)", "ltrim($text)", "rtrim($text)",
             "reverse($text)", "replace($text, $text, $text)", "substring($text, $few)", "substring($text, $few, $few)",
             "left($text, $few)", "right($text, $few)", "toString($int)", "toString($float)", "toString($bool)",
             "split($text, ',')[$few]", "coalesce($text, $text)", "CASE WHEN $bool THEN $text ELSE $text END", "($text || $text)", "valueType($any)",
             "trim(BOTH 'x' FROM $text)", "trim(LEADING 'a' FROM $text)", "trim(TRAILING FROM $text)", "btrim($text, 'ab')", "ltrim($text, ' a')", "rtrim($text, 'b ')",
             "normalize($text, NFKC)", "toStringOrNull($any)", "$point.crs", "toString($point)", "valueType($odd)",
             "CASE $text WHEN STARTS WITH 'a' THEN 'first' WHEN = 'x' THEN 'x' WHEN ENDS WITH 'b' THEN 'b' END"),
    "bool": ("($bool AND $bool)", "($bool OR $bool)", "($bool XOR $bool)", "(NOT $bool)", "($int < $float)",
             "($int <= $int)", "($text >= $text)", "($few < $few <= $few)", "($int = $float)", "($text <> $int)",
             "($list = $list)", "($map = $map)", "($int IN $list)", "($text IN $list)", "($text STARTS WITH $text)",
             "($text ENDS WITH $text)", "($text CONTAINS $text)", "($text =~ '[a-z]+')", "($text =~ '(?i)AB.*')",
             "($text IS NULL)", "($int IS NOT NULL)", "all(v IN $ints WHERE v > 0)", "any(v IN $ints WHERE v = 2)",
             "none(v IN $ints WHERE v < 1)", "single(v IN $ints WHERE v = 3)", "isEmpty($text)", "isEmpty($list)",
             "toBoolean($text)", "($date < $date)", "($datetime >= $datetime)", "($localtime = $localtime)",
             "($time < $time)", "($duration = $duration)", "($any IS :: $type)", "($any IS NOT :: $type)",
             "($text IS NORMALIZED)", "($text IS NOT NFKD NORMALIZED)", "isNaN($odd)", "($odd <= $float)", "($point = $point)", "($point <> $point)",
             "($point <= $point)", "($point < $point)", "point.withinBBox($point, $point, $point)", "($point IN [$point, $point])",
             "toBooleanOrNull($any)", "(INF > $int)", "(NaN = $float)"),
    "list": ("[$int, $text, $bool]", "[$list, $map]", "($list + $list)", "($list + $int)", "tail($list)",
             "reverse($list)", "$list[1..]", "$list[..2]", "$list[-2..-1]", "split($text, ' ')", "$ints",
             "[v IN $ints WHERE v > 0 | v * 2]", "[v IN $list WHERE v IS NOT NULL]", "keys($map)",
             "[v IN range(0, $few) | {n: v}]", "($list || $list)", "toStringList($list)", "toFloatList($ints)", "toBooleanList($list)",
             "[v IN [$any, $any] | valueType(v)]"),
    "map": ("{a: $int, b: $text}", "{c: $list}", "{a: $map, b: $float}"),
    "date": ("date($datetime)", "date($localdatetime)", "date({date: $date, day: 11})", "date({date: $date, week: 10})",
             "date.truncate('century', $date)", "date.truncate('week', $datetime, {dayOfWeek: 3})",
             "date.truncate('quarter', $localdatetime)", "($date + $duration)", "($date - $duration)"),
    "localtime": ("localtime($time)", "localtime($datetime)", "localtime({time: $localtime, minute: 7})",
                  "localtime.truncate('minute', $time)", "localtime.truncate('day', $datetime)",
                  "($localtime + $duration)", "($localtime - $duration)"),
    "time": ("time($datetime)", "time({time: $time, second: 42, timezone: $offset})", "time({time: $localtime, hour: 1})",
             "time.truncate('hour', $datetime)", "($time + $duration)", "($time - $duration)"),
    "localdatetime": ("localdatetime($datetime)", "localdatetime({date: $date, time: $time})",
                      "localdatetime({date: $datetime, time: $localtime, second: 42})",
                      "localdatetime.truncate('decade', $datetime)", "($localdatetime + $duration)"),
    "datetime": ("datetime({datetime: $datetime, day: 28, timezone: $zone})", "($datetime + $duration)",
                 "datetime({datetime: $localdatetime, timezone: $zone})", "($datetime - $duration)",
                 "datetime({date: $date, time: $time, timezone: $zone})", "datetime.truncate('month', $datetime)",
                 "datetime.truncate('millisecond', $datetime, {nanosecond: 2})"),
    "duration": ("($duration + $duration)", "($duration - $duration)", "($duration * 2)",
                 "duration.between($date, $datetime)", "duration.between($localdatetime, $date)",
                 "duration.between($time, $localtime)", "duration.inMonths($date, $datetime)",
                 "duration.inDays($datetime, $localdatetime)", "duration.inSeconds($localtime, $localdatetime)"),
}  # fmt: skip
KINDS = ("int", "float", "text", "bool", "list", "map", "duration", "point", *TEMPORAL)
TOLD_AS_TEXT = ("duration", "point", *TEMPORAL)
NULLED = 0.03
_HOLE = re.compile(r"\$(\w+)")
_TIME = re.compile(r"(?<![\d+-])(\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(?=$|[Z+\-\[])")


def expression(random: Random) -> str:
    """An expression; one that gives a moment, a duration or a point gives its text."""
    kind = random.choice(KINDS)
    text = _written(kind, random.choice((1, 2, 2, 3)), random)
    return f"toString({text})" if kind in TOLD_AS_TEXT else text


def _written(kind: str, depth: int, random: Random) -> str:
    if kind in ("int", "text", "bool", "list") and random.random() < NULLED:
        return "null"
    found = random.choice(WHOLE[kind] if depth > 0 and kind in WHOLE else LEAVES[kind])
    return _HOLE.sub(lambda hole: _written(hole[1], depth - 1, random), found)


def alike(value: Any) -> Any:
    """A value without what Neo4j writes otherwise: it always prints seconds, and of their fraction no last zeros."""
    if isinstance(value, str):
        return _TIME.sub(_whole_time, value)
    if isinstance(value, list):
        return [alike(item) for item in value]
    if isinstance(value, dict):
        return {key: alike(item) for key, item in value.items()}
    return ("float", f"{value:.12g}") if isinstance(value, float) else (type(value).__name__, value)


def _whole_time(found: re.Match[str]) -> str:
    fraction = (found[3] or "").rstrip("0")
    return f"{found[1]}:{found[2] or '00'}{'.' if fraction else ''}{fraction}"
