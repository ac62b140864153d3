"""Functions on numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Decimal,
    localcontext,
)
from typing import Any

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.functions.registry import function, wrong_type
from ugs.cypher.values.arithmetic import check_int64, is_number

NUMBER = "integer|float|number"
ROUNDINGS = {
    "UP": ROUND_UP,
    "DOWN": ROUND_DOWN,
    "CEILING": ROUND_CEILING,
    "FLOOR": ROUND_FLOOR,
    "HALF_UP": ROUND_HALF_UP,
    "HALF_DOWN": ROUND_HALF_DOWN,
    "HALF_EVEN": ROUND_HALF_EVEN,
}


def _number(name: str, value: Any) -> Any:
    if is_number(value):
        return value
    raise wrong_type(name, value)


@function("abs", NUMBER, "number")
def absolute(value: Any) -> Any:
    number = abs(_number("abs", value))
    return check_int64(number) if isinstance(number, int) else number


@function("sign", NUMBER, "integer")
def sign(value: Any) -> int:
    number = _number("sign", value)
    return int(number > 0) - int(number < 0)


@function("round", f"{NUMBER}, integer, string", "float", min_arguments=1)
def round_number(value: Any, digits: Any = 0, mode: Any = None) -> float:
    number = float(_number("round", value))
    if not math.isfinite(number):
        return number
    if digits == 0 and mode is None:
        return float(math.floor(number + 0.5)) if abs(number) < 2**52 else number
    if mode is not None and (not isinstance(mode, str) or mode not in ROUNDINGS):
        raise CypherArgumentError("InvalidArgumentValue", f"There is no rounding mode {str(mode)[:40]!r}")
    if type(digits) is not int or not 0 <= digits <= 300:
        raise CypherArgumentError("NumberOutOfRange", "round() takes 0 to 300 digits")
    # A float has at most 309 digits before the point.
    with localcontext(prec=digits + 320):
        return float(Decimal(repr(number)).quantize(Decimal(1).scaleb(-digits), ROUNDINGS[mode or "HALF_UP"]))


def _whole(code: Callable[[float], int]) -> Callable[[float], float]:
    # A whole number knows no zero below zero, and ceil(-0.5) is one.
    return lambda number: math.copysign(code(number), number) if math.isfinite(number) else number


def _log(number: float) -> float:
    return -math.inf if number == 0 else math.log(number)


def _cot(number: float) -> float:
    return math.inf if number == 0 else 1 / math.tan(number)


REAL: dict[str, Callable[[float], float]] = {
    "ceil": _whole(math.ceil),
    "ceiling": _whole(math.ceil),
    "floor": _whole(math.floor),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": _log,
    "log10": lambda number: -math.inf if number == 0 else math.log10(number),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "cot": _cot,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "degrees": math.degrees,
    "radians": math.radians,
    "haversin": lambda number: (1 - math.cos(number)) / 2,
}


def _real(name: str, code: Callable[[float], float]) -> Callable[[Any], float]:
    def compute(value: Any) -> float:
        try:
            return code(float(_number(name, value)))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return compute


for _name, _code in REAL.items():
    function(_name, NUMBER, "float")(_real(_name, _code))


@function("atan2", f"{NUMBER}, {NUMBER}", "float")
def atan2(y: Any, x: Any) -> float:
    return math.atan2(_number("atan2", y), _number("atan2", x))


@function("isNaN", NUMBER, "boolean")
def is_nan(value: Any) -> bool:
    return bool(math.isnan(_number("isNaN", value)))


@function("pi", "", "float")
def pi() -> float:
    return math.pi


@function("e", "", "float")
def e() -> float:
    return math.e


@function("rand", "", "float", live=True)
def rand(run: Any) -> float:
    return run.random.random()  # type: ignore[no-any-return]
