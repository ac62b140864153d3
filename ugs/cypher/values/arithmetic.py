"""`+ - * / % ^` on every kind of value that has them. Integers have 64 bits; what does not fit is an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from ugs.cypher.errors import CypherArithmeticError, CypherTypeError
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.temporal.calendar import truncated
from ugs.cypher.temporal.duration import exact
from ugs.cypher.values.naming import kind_name
from ugs.errors import LimitExceeded
from ugs.values import MAX_INT, MIN_INT

MAX_LIST = 2_000_000
MAX_TEXT = 16 << 20


def fitting(value: int) -> int:
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CypherArithmeticError("IntegerOverflow", "The result does not fit a 64-bit integer")


def is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def unusable(op: str, left: Any, right: Any) -> CypherTypeError:
    return CypherTypeError("InvalidArgumentType", f"{op} cannot join {kind_name(left)} and {kind_name(right)}")


def bounded(value: Any) -> Any:
    """A text or list that has not grown out of hand."""
    most = MAX_TEXT if isinstance(value, str) else MAX_LIST
    if len(value) > most:
        raise LimitExceeded(f"A value grew beyond {most} characters or elements", limit=most)
    return value


def add(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    kind, other = type(left), type(right)
    if kind is int and other is int:
        return fitting(left + right)
    if is_number(left) and is_number(right):
        return left + right
    if kind is str or other is str:
        return _joined(left, right) if list not in (kind, other) else _concatenated(left, right)
    if kind is list or other is list:
        return _concatenated(left, right)
    return _add_times(left, right)


def _joined(left: Any, right: Any) -> str:
    for value in (left, right):
        if type(value) is not str and not is_number(value):
            raise unusable("+", left, right)
    return str(bounded(text_of(left) + text_of(right)))


def _concatenated(left: Any, right: Any) -> list[Any]:
    first = left if type(left) is list else [left]
    second = right if type(right) is list else [right]
    bounded(range(len(first) + len(second)))
    return [*first, *second]


def _add_times(left: Any, right: Any) -> Any:
    if isinstance(left, Duration) and isinstance(right, Duration):
        return left + right
    if isinstance(left, Duration) and isinstance(right, Temporal):
        left, right = right, left
    if isinstance(left, Temporal) and isinstance(right, Duration):
        return left.plus(right)  # type: ignore[attr-defined]
    raise unusable("+", left, right)


def subtract(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        return fitting(left - right)
    if is_number(left) and is_number(right):
        return left - right
    if isinstance(right, Duration) and isinstance(left, Duration | Temporal):
        return _add_times(left, -right)
    raise unusable("-", left, right)


def multiply(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        return fitting(left * right)
    if is_number(left) and is_number(right):
        return left * right
    if is_number(left) and isinstance(right, Duration):
        left, right = right, left
    if isinstance(left, Duration) and is_number(right):
        return left.times(exact(right))
    raise unusable("*", left, right)


def divide(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        return fitting(truncated(_nonzero(left, right), abs(right)) * (1 if right > 0 else -1))
    if is_number(left) and is_number(right):
        return _float_quotient(float(left), float(right))
    if isinstance(left, Duration) and is_number(right) and right:
        return left.times(1 / exact(right))
    raise unusable("/", left, right)


def _nonzero(left: int, right: int) -> int:
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
        rest = abs(_nonzero(left, right)) % abs(right)
        return -rest if left < 0 else rest
    if is_number(left) and is_number(right):
        return math.fmod(left, right) if right and math.isfinite(left) else math.nan
    raise unusable("%", left, right)


def power(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if not (is_number(left) and is_number(right)):
        raise unusable("^", left, right)
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
        return fitting(-value)
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
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
    "^": power,
}
