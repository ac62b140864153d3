"""Every function and operator with extreme values: whatever comes, it is an answer or an error with a code.

The arguments are parameters, so that the values come through as they are, and literals, so that the parser sees them.
Seeds are fixed: what fails here fails again.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import msgspec
import pytest

from ugs.cypher import Limits
from ugs.cypher import api as cypher_api
from ugs.cypher.functions import FUNCTIONS
from ugs.cypher.functions.aggregates import AGGREGATES, TWO_ARGUMENTS
from ugs.errors import UgsError
from ugs.system import System

INTEGERS = [0, 1, -1, 2, 31, 32, 300, 301, 9999, 10**6, 2**31 - 1, -(2**31), 2**53, 2**63 - 1, -(2**63), 2**63, 10**30]
FLOATS = [
    0.0,
    -0.0,
    0.5,
    -1.5,
    1e-320,
    5e-324,
    1e15,
    1e16,
    1e22,
    1.7976931348623157e308,
    -1e308,
    float("inf"),
    float("nan"),
]
TEXTS = [
    "", " ", "a", "0", "-1", "1e400", "1" * 399, "1" * 401, "9" * 10_000, "0x1F", "NaN", "true", "1.5", "\U0001f600", "\u0000",
    "a" * 100_000, "((((", "a{1000}{1000}", "2024-02-30", "2024-02-29T25:00", "P1Y", "P" + "9" * 5000 + "Y", "-P1.5W",
    "12:00[Europe/Berlin]", "+999999999-12-31", "-999999999-01-01", "10000000000-01-01", "UTC", "%s%n", "year", "NFC", "HALF_UP",
    "\u0130\u1e9e\ufb03",
]  # fmt: skip
MOMENTS = [
    {"@date": "2024-02-29"}, {"@date": "-999999999-01-01"}, {"@date": "+999999999-12-31"}, {"@localtime": "23:59:59.999999999"},
    {"@time": "00:00+18:00"}, {"@localdatetime": "+999999999-12-31T23:59:59.999999999"}, {"@datetime": "0000-01-01T00:00Z"},
    {"@datetime": "2024-03-31T02:30[Europe/Berlin]"}, {"@duration": "P1Y2M3DT4.5S"},
    {"@duration": "P999999999999Y"}, {"@duration": "-PT9223372036854775807S"}, {"@duration": "PT0S"},
    {"@point": {"x": 1e308, "y": -1e308}}, {"@point": {"x": 0, "y": 0, "z": 5e-324}}, {"@point": {"longitude": 1e300, "latitude": -90}},
    {"@point": {"longitude": -180, "latitude": 90, "height": 1e308}},
]  # fmt: skip
CONTAINERS: list[Any] = [
    [], [None], [1, "a", None, 2.5], [[]], [[[[[[1]]]]]], list(range(1000)), {}, {"a": None}, {"a": {"b": {"c": []}}},
    {"year": 2**62, "month": -1}, {"year": 999_999_999, "day": 40}, {"hour": 1e308}, {"timezone": 5}, {"epochMillis": 2**63 - 1},
    {"epochSeconds": 10**30}, {"date": "x"}, {"seconds": float("inf")}, {"months": 2**63 - 1, "days": -(2**63)}, {"years": 1e300},
    {"datetime": {"@datetime": "2024-01-01T00:00Z"}, "timezone": "Nowhere/None"}, {"week": 99, "year": 1}, {"quarter": 1e18},
    {"nanosecond": 2**63 - 1}, {"year": "x"}, {"year": float("nan")}, {"x": 1, "y": 2, "srid": 10**30}, {"x": float("inf"), "y": 0},
    {"longitude": 10**300, "latitude": 0, "crs": []}, {"x": 10**400, "y": 0},
]  # fmt: skip
VALUES: list[Any] = [None, True, False, *INTEGERS, *FLOATS, *TEXTS, *MOMENTS, *CONTAINERS]
BINARIES = ["+", "-", "*", "/", "%", "^", "=", "<>", "<", ">=", "IN", "STARTS WITH", "CONTAINS", "=~", "AND", "XOR"]
SHAPES = [
    "$a[$b]", "$a[$b..]", "$a[..$b]", "$a[$b..$b]", "-$a", "NOT $a", "$a.year", "$a.epochMillis", "$a IS NULL", "$a {.*}", "$a {.x, y: $b}",
    "[x IN $a WHERE x = $b]", "all(x IN $a WHERE x > $b)", "reduce(s = $b, x IN $a | s + x)", "CASE $a WHEN $b THEN 1 END",
    "single(x IN [$a, $b] WHERE x = $a)", "$a.offset", "$a.timezone", "$a.weekYear", "$a.x", "$a.height", "$a.srid",
]  # fmt: skip
LIMITS = Limits(seconds=5, rows=1000)
PAIRS = 250
TRIPLES = 60


async def check(system: System, query: str, params: dict[str, Any]) -> None:
    """An answer that can be written as JSON, or an error with a code."""
    try:
        found = await cypher_api.ask(system, query, params, limits=LIMITS)
        msgspec.json.encode(await cypher_api.render_rows(found))
    except UgsError as error:
        if error.code == "INTERNAL":
            raise
    except Exception as error:
        shown = {name: str(value)[:60] for name, value in params.items()}
        raise AssertionError(f"{query} with {shown}: {type(error).__name__} {error}") from error


def argument_lists(count: int, seed: str) -> list[tuple[Any, ...]]:
    """All values alone; a fixed choice of the pairs and triples of them."""
    if count < 2:
        return list(product(VALUES, repeat=count))
    chance = random.Random(seed)
    return [tuple(chance.choice(VALUES) for _ in range(count)) for _ in range(PAIRS if count == 2 else TRIPLES)]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
async def test_every_function_takes_extreme_values(name: str) -> None:
    function = FUNCTIONS[name]
    most = function.low + 2 if function.high is None else function.high
    async with System.at_url("memory:") as system:
        for count in range(function.low, most + 1):
            names = "abcdefgh"[:count]
            query = f"RETURN {function.name}({', '.join(f'${one}' for one in names)}) AS x"
            for values in argument_lists(count, name):
                await check(system, query, dict(zip(names, values, strict=True)))


@pytest.mark.parametrize("name", sorted(AGGREGATES))
async def test_every_aggregation_takes_extreme_values(name: str) -> None:
    second = ", $b" if name in TWO_ARGUMENTS else ""
    async with System.at_url("memory:") as system:
        for first, other in argument_lists(2, name):
            await check(
                system, f"UNWIND [$a, $a, $b, null] AS v RETURN {name}(v{second}) AS x", {"a": first, "b": other}
            )
            await check(
                system, f"UNWIND [$a, $b] AS v RETURN {name}(DISTINCT v{second}) AS x", {"a": first, "b": other}
            )


@pytest.mark.parametrize("operator", BINARIES)
async def test_every_operator_takes_extreme_values(operator: str) -> None:
    async with System.at_url("memory:") as system:
        for first, second in argument_lists(2, operator):
            await check(system, f"RETURN $a {operator} $b AS x", {"a": first, "b": second})


@pytest.mark.parametrize("shape", SHAPES)
async def test_every_shape_of_expression_takes_extreme_values(shape: str) -> None:
    async with System.at_url("memory:") as system:
        for first, second in argument_lists(2, shape):
            await check(system, f"WITH $a AS a, $b AS b RETURN {shape} AS x", {"a": first, "b": second})


async def test_sorting_grouping_and_cutting_take_extreme_values() -> None:
    async with System.at_url("memory:") as system:
        for first, second in argument_lists(2, "rows"):
            params = {"a": first, "b": second}
            await check(system, "UNWIND [$a, $b, $a] AS v WITH v ORDER BY v DESC RETURN collect(v) AS x", params)
            await check(system, "UNWIND [$a, $b, $a] AS v RETURN DISTINCT v, count(*) AS n", params)
            await check(system, "UNWIND $a AS v RETURN v SKIP $b", params)
            await check(system, "UNWIND $a AS v RETURN v LIMIT $b", params)
            await check(system, "MATCH (n {name: $a}) WHERE n.x > $b OR id(n) = $a RETURN n", params)
            await check(system, "MATCH (n) WHERE n.x IN $a AND n.y STARTS WITH $b RETURN n", params)


@pytest.mark.parametrize("digits", [18, 19, 20, 399, 400, 401, 4299, 4301, 10_000])
async def test_numbers_of_many_digits_in_the_text(digits: int) -> None:
    number = "9" * digits
    async with System.at_url("memory:") as system:
        for query in (
            "RETURN {0} AS x", "RETURN -{0} AS x", "RETURN {0}.{0} AS x", "RETURN 1e{0} AS x", "RETURN 0x{0} AS x", "RETURN .{0} AS x",
            "MATCH (a)-[*{0}]->(b) RETURN a", "MATCH (a)-[*1..{0}]->(b) RETURN a", "MATCH (a) RETURN a LIMIT {0}", "RETURN [1][{0}] AS x",
            "MATCH (a) RETURN a SKIP {0}", "RETURN toInteger('{0}') AS x", "RETURN toFloat('{0}') AS x", "RETURN 'a' =~ 'a{{{0}}}' AS x",
            "RETURN duration('P{0}D') AS x", "RETURN date('{0}-01-01') AS x", "RETURN localtime('12:00:00.{0}') AS x", "RETURN $p AS {0}",
        ):  # fmt: skip
            await check(system, query.format(number), {"p": int(number[:4000])})


@pytest.mark.parametrize(
    "text",
    ["RETURN -", "RETURN +", "RETURN NOT", "RETURN 1 +", "RETURN [", "RETURN {", "RETURN (", "RETURN 1 IN", "RETURN x.", "RETURN $", "RETURN a[",
     "MATCH", "MATCH (", "MATCH (n", "MATCH (n)-", "MATCH (n)-[", "MATCH (n)-[*", "MATCH (n)-->", "WITH", "UNWIND", "RETURN CASE", "RETURN count(",
     "RETURN all(", "RETURN reduce(", "RETURN EXISTS {", "RETURN [x IN", "RETURN n {", "RETURN 1 AS", "RETURN 1 ORDER BY", "RETURN 1 LIMIT", "UNION",
     "RETURN 1 UNION", "EXPLAIN", "PROFILE", "RETURN 1 =", "RETURN 1 < 2 <", "RETURN x IS", "RETURN x STARTS", "RETURN /* ", "RETURN '", "RETURN `"],
)  # fmt: skip
async def test_texts_that_end_too_early(text: str) -> None:
    async with System.at_url("memory:") as system:
        for end in ("", " ", ";", " //", "\n"):
            await check(system, text + end, {})


async def test_limits_are_answers_too() -> None:
    async with System.at_url("memory:") as system:
        for query in (
            f"RETURN range({-(2**63)}, {2**63 - 1}) AS x",
            f"RETURN size(range({-(2**63)}, {2**63 - 1}, {2**63 - 1})) AS x",
            "RETURN round(1.5, 30) AS x, round(1e300, 300) AS y",
            "RETURN round(123456789012345.678, 299, 'HALF_EVEN') AS x",
        ):
            await check(system, query, {})
        found = await cypher_api.ask(system, "RETURN round(1.25, 30) AS x, round(-2.5, 1) AS y, round(1e300, 5) AS z")
        assert found.rows == [(1.25, -2.5, 1e300)]
