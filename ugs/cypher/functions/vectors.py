"""Functions on vectors, which are lists of numbers. They are computed in single precision, as vectors are stored."""

from __future__ import annotations

import math
import operator
import struct
from typing import Any

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.functions.registry import function, wrong_type
from ugs.cypher.values.arithmetic import is_number

MAX_DIMENSIONS = 4096


def _vector(name: str, value: Any) -> list[float]:
    if not isinstance(value, list):
        raise wrong_type(name, value)
    if not 1 <= len(value) <= MAX_DIMENSIONS or not all(map(is_number, value)):
        raise _invalid(f"{name}() takes lists of 1 to {MAX_DIMENSIONS} numbers")
    try:
        return [_single(one) for one in value]
    except OverflowError:
        raise _invalid(f"{name}() takes numbers of single precision") from None


def _single(value: float) -> float:
    """The nearest number of single precision."""
    if not math.isfinite(value):
        raise OverflowError
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def _pair(name: str, one: Any, other: Any) -> tuple[list[float], list[float]]:
    first, second = _vector(name, one), _vector(name, other)
    if len(first) != len(second):
        raise _invalid(f"{name}() takes two vectors of the same number of dimensions")
    return first, second


def _invalid(message: str) -> CypherArgumentError:
    return CypherArgumentError("InvalidArgumentValue", message)


@function("vector.similarity.cosine", "list, list", "float")
def cosine(one: Any, other: Any) -> float:
    first, second = _pair("vector.similarity.cosine", one, other)
    lengths = math.hypot(*first) * math.hypot(*second)
    if lengths == 0:
        raise _invalid("vector.similarity.cosine() takes no vector of length 0")
    return _single((1 + math.fsum(map(operator.mul, first, second)) / lengths) / 2)


@function("vector.similarity.euclidean", "list, list", "float")
def euclidean(one: Any, other: Any) -> float:
    first, second = _pair("vector.similarity.euclidean", one, other)
    return _single(1 / (1 + math.dist(first, second) ** 2))
