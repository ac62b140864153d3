"""The operators `+ - * / % ^`. Integers have 64 bits; overflow is an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from ugs.cypher.errors import CypherArithmeticError, CypherTypeError
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.temporal.calendar import truncate_toward_zero
from ugs.cypher.temporal.duration import exact
from ugs.cypher.values.point import Point
from ugs.cypher.values.type_names import kind_name
from ugs.errors import LimitExceeded
from ugs.values import MAX_INT, MIN_INT

MAX_LIST = 2_000_000
MAX_TEXT_CHARS = 4 << 20


def check_int64(value: int) -> int:
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CypherArithmeticError("IntegerOverflow", "The result does not fit a 64-bit integer")


def is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def operand_error(op: str, left: Any, right: Any) -> CypherTypeError:
    return CypherTypeError("InvalidArgumentType", f"{op} cannot join {kind_name(left)} and {kind_name(right)}")


def check_length(value: Any) -> Any:
    """Return a text or list that does not exceed the maximum length."""
    max_length = MAX_TEXT_CHARS if isinstance(value, str) else MAX_LIST
    if len(value) > max_length:
        raise LimitExceeded(f"A value grew beyond {max_length} characters or elements", limit=max_length)
    return value


def add(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    kind, other = type(left), type(right)
    if kind is int and other is int:
        return check_int64(left + right)
    if is_number(left) and is_number(right):
        return left + right
    if kind is str or other is str:
        return _concatenate_texts(left, right) if list not in (kind, other) else _concatenate_lists(left, right)
    if kind is list or other is list:
        return _concatenate_lists(left, right)
    return _add_times(left, right)


def concatenate(left: Any, right: Any) -> Any:
    """`left || right`: two strings or two lists."""
    if left is None or right is None:
        return None
    if type(left) is str and type(right) is str:
        return str(check_length(left + right))
    if type(left) is list and type(right) is list:
        return _concatenate_lists(left, right)
    raise operand_error("||", left, right)


def _concatenate_texts(left: Any, right: Any) -> str:
    for value in (left, right):
        if type(value) is not str and not is_number(value):
            raise operand_error("+", left, right)
    return str(check_length(text_of(left) + text_of(right)))


def _concatenate_lists(left: Any, right: Any) -> list[Any]:
    first = left if type(left) is list else [left]
    second = right if type(right) is list else [right]
    check_length(range(len(first) + len(second)))
    return [*first, *second]


def _add_times(left: Any, right: Any) -> Any:
    if isinstance(left, Duration) and isinstance(right, Duration):
        return left + right
    if isinstance(left, Duration) and isinstance(right, Temporal):
        left, right = right, left
    if isinstance(left, Temporal) and isinstance(right, Duration):
        return left.plus(right)  # type: ignore[attr-defined]
    raise operand_error("+", left, right)


def subtract(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        return check_int64(left - right)
    if is_number(left) and is_number(right):
        return left - right
    if isinstance(right, Duration) and isinstance(left, Duration | Temporal):
        return _add_times(left, -right)
    raise operand_error("-", left, right)


def multiply(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        return check_int64(left * right)
    if is_number(left) and is_number(right):
        return left * right
    if is_number(left) and isinstance(right, Duration):
        left, right = right, left
    if isinstance(left, Duration) and is_number(right):
        return left.times(exact(right))
    raise operand_error("*", left, right)


def divide(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        return check_int64(truncate_toward_zero(_require_nonzero(left, right), abs(right)) * (1 if right > 0 else -1))
    if is_number(left) and is_number(right):
        return _float_quotient(float(left), float(right))
    if isinstance(left, Duration) and is_number(right) and right:
        return left.times(1 / exact(right))
    raise operand_error("/", left, right)


def _require_nonzero(left: int, right: int) -> int:
    if right == 0:
        raise CypherArithmeticError("DivisionByZero", "An integer was divided by zero")
    return left


def _float_quotient(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        rest = abs(_require_nonzero(left, right)) % abs(right)
        return -rest if left < 0 else rest
    if is_number(left) and is_number(right):
        return math.fmod(left, right) if right and math.isfinite(left) else math.nan
    raise operand_error("%", left, right)


def power(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if not (is_number(left) and is_number(right)):
        raise operand_error("^", left, right)
    try:
        return math.pow(left, right)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan if left else math.inf


def negate(value: Any) -> Any:
    if value is None or type(value) is float:
        return None if value is None else -value
    if type(value) is int:
        return check_int64(-value)
    if isinstance(value, Duration):
        return -value
    raise CypherTypeError("InvalidArgumentType", f"- cannot be applied to {kind_name(value)}")


def affirm(value: Any) -> Any:
    if value is None or is_number(value):
        return value
    raise CypherTypeError("InvalidArgumentType", f"+ cannot be applied to {kind_name(value)}")


def text_of(value: Any) -> str:
    """How `toString` and string concatenation write a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Point):
        shown = [f"{name}: {float_text(one)}" for name, one in zip("xyz", value.coordinates, strict=False)]
        return f"point({{{', '.join(shown)}, crs: '{value.system.name}'}})"
    return float_text(value) if isinstance(value, float) else str(value)


def float_text(value: float) -> str:
    """As the language writes floats: plain from 0.001 up to ten million, else `1.0E10`."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    shown = "".join(map(str, digits))
    power = int(exponent) + len(shown) - 1
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{power}"


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "||": concatenate,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
    "^": power,
}
