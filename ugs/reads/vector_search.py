"""Exact nearest-neighbour search over vectors.

All vectors have the same length, and integer components. So every partial sum of an inner product is an integer below
2**24, which even 32-bit floats represent exactly: every store computes the same scores in any order of addition, and
rankings agree exactly. `nearest_of` is the reference implementation; a native one must agree with it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from heapq import nsmallest
from importlib.util import find_spec
from itertools import product
from operator import attrgetter, itemgetter, mul
from typing import Any

from msgspec import Struct

from ugs.reads.filters import EVERYTHING, Where
from ugs.tables import Row, Table

Vector = bytes
"""32-bit floats, little-endian."""

LENGTH = 1_000
"""Euclidean length of every vector."""
ALIKE = LENGTH * LENGTH
"""The score of a vector with itself."""
BALANCE = 4
"""Extra components that make the length exact: every natural number is a sum of four squares (Lagrange)."""


class Near(Struct, frozen=True):
    """The rows whose vector has at least the score `least` with this one, best first, ties by key."""

    field: str
    vector: Vector
    limit: int
    least: int = 1
    where: Where = EVERYTHING


class Scored(Struct, frozen=True):
    """A row, and its inner product with the query vector."""

    row: Row
    score: int

    @property
    def similarity(self) -> float:
        return self.score / ALIKE


def least_score(similarity: float) -> int:
    """The smallest score that reaches a similarity."""
    return math.ceil(similarity * ALIKE - 1e-6)


# ── making vectors ───────────────────────────────────────────────────────────


def on_sphere(values: Sequence[float]) -> Vector | None:
    """The integer vector of exact length in the direction of these values; None if all are zero."""
    return placed({place: value for place, value in enumerate(values) if value}, len(values))


def placed(values: Mapping[int, float], dimension: int) -> Vector | None:
    """As `on_sphere`, for sparse values by index; the result has `dimension + BALANCE` components."""
    length = math.sqrt(math.fsum(value * value for value in values.values()))
    if not length:
        return None
    whole = [0.0] * (dimension + BALANCE)
    scale, owed = LENGTH / length, 0.0
    for place in sorted(values):
        # Round up if the accumulated squares leave room, else down, so that the remainder for `BALANCE` stays small.
        exact = abs(values[place] * scale)
        owed += exact * exact
        part = math.floor(exact)
        if (part + 1) * (part + 1) <= owed:
            part += 1
        owed -= part * part
        whole[place] = math.copysign(part, values[place])
    left = ALIKE - int(sum(map(mul, whole, whole)))
    whole[dimension:] = four_squares(left)
    return pack(whole)


@lru_cache(maxsize=10_000)
def four_squares(number: int) -> tuple[int, ...]:
    """Four numbers whose squares add up to this one."""
    for first in range(math.isqrt(number), -1, -1):
        for second, third in product(range(math.isqrt(number - first * first), -1, -1), repeat=2):
            rest = number - first * first - second * second - third * third
            if rest >= 0 and math.isqrt(rest) ** 2 == rest:
                return first, second, third, math.isqrt(rest)
    raise ValueError(f"{number} is negative")


def pack(values: Sequence[float]) -> Vector:
    """Encode components as a stored vector."""
    return struct.pack(f"<{len(values)}f", *values)


def unpack(vector: Vector) -> tuple[float, ...]:
    """The components of a stored vector."""
    return struct.unpack(f"<{len(vector) // 4}f", vector)


# ── comparing them ───────────────────────────────────────────────────────────


def scorer(vector: Vector) -> Callable[[Vector], int]:
    """A function from a vector to its inner product with this one."""
    places = [(place, value) for place, value in enumerate(unpack(vector)) if value]
    if len(places) < 2:
        return lambda other: int(sum(value * unpack(other)[place] for place, value in places))
    pick, values = itemgetter(*(place for place, _ in places)), [value for _, value in places]
    return lambda other: int(sum(map(mul, values, pick(unpack(other)))))


def scores(vector: Vector, others: Sequence[Vector]) -> list[int]:
    """The inner products of a vector with many; uses numpy if installed, with the same result."""
    if not has_numpy() or not others:
        return list(map(scorer(vector), others))
    import numpy

    matrix = numpy.frombuffer(b"".join(others), dtype="<f4").reshape(len(others), -1)
    found: list[int] = products(matrix, vector).tolist()
    return found


def products(matrix: Any, vector: Vector) -> Any:
    """The inner products of a vector with the rows of a numpy matrix, as integers."""
    import numpy

    # Not `@`: BLAS would start threads, whose synchronisation on a busy machine costs more than the sums.
    return numpy.einsum("ij,j->i", matrix, numpy.frombuffer(vector, dtype="<f4")).astype("i4")


@cache
def has_numpy() -> bool:
    """Whether numpy is installed."""
    return find_spec("numpy") is not None


def nearest_of(rows: Sequence[Row], table: Table, near: Near) -> list[Scored]:
    """The reference implementation, for rows in memory that already meet the condition."""
    vectors = list(map(attrgetter(near.field), rows))
    found = [Scored(row, score) for row, score in zip(rows, scores(near.vector, vectors), strict=True)]
    return best(found, table, near)


def best(found: Iterable[Scored], table: Table, near: Near) -> list[Scored]:
    """The best rows within limit and least score, in order."""

    def place(scored: Scored) -> tuple[int, Any]:
        return -scored.score, table.key_of(scored.row)

    return nsmallest(near.limit, (scored for scored in found if scored.score >= near.least), key=place)
