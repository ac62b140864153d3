"""The filter algebra: conditions on rows.

Small on purpose, since every store must implement every operator. The logic is two-valued: a comparison with a missing
value is false, and `NE` is exactly `Not(EQ)`. Texts compare by code point. `matcher` is the reference implementation;
a native one must agree with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from operator import ge, gt, le, lt
from typing import Any

from msgspec import Struct

from ugs.values import comparable, from_text, same_value, to_text


class Op(StrEnum):
    """Comparison operators."""

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    IN = "in"
    CONTAINS = "contains"
    STARTS = "starts"
    ENDS = "ends"
    EXISTS = "exists"


class Where(Struct, frozen=True):
    """A condition on one row."""

    def __and__(self, other: Where) -> Where:
        return all_of(self, other)

    def __or__(self, other: Where) -> Where:
        return any_of(self, other)

    def parameterised(self, hole: Callable[[Any], Any]) -> Where | None:
        """A store's own condition with placeholders for its values; None where these decide the statement."""
        return None

    def __invert__(self) -> Where:
        return Not(self)


class Everything(Where, frozen=True):
    """True for every row."""


class Compare(Where, frozen=True):
    """Compare a column with a value; a null column matches only with `EQ`, `NE` and `IN`."""

    field: str
    op: Op
    value: Any = None


class Property(Where, frozen=True):
    """Compare a key of a JSON object column with a JSON value: numbers by value, different types are never equal."""

    field: str
    key: str
    op: Op
    value: Any = None


class Has(Where, frozen=True):
    """The row's derived words (`Table.words`) include this one."""

    word: str


class Linked(Where, frozen=True):
    """At least one related row meets the condition (a semi-join)."""

    relation: str
    where: Where = Everything()


class All(Where, frozen=True):
    """Every part holds."""

    parts: tuple[Where, ...]


class Any_(Where, frozen=True):
    """At least one part holds."""

    parts: tuple[Where, ...]


class Not(Where, frozen=True):
    """The part does not hold."""

    part: Where


EVERYTHING = Everything()
NOTHING = Not(EVERYTHING)


def all_of(*parts: Where) -> Where:
    """The conjunction, flattened."""
    flat = [leaf for part in parts for leaf in (part.parts if isinstance(part, All) else (part,))]
    kept = tuple(leaf for leaf in flat if not isinstance(leaf, Everything))
    return kept[0] if len(kept) == 1 else All(kept) if kept else EVERYTHING


def any_of(*parts: Where) -> Where:
    """The disjunction; false without parts."""
    if not parts:
        return NOTHING
    return parts[0] if len(parts) == 1 else Any_(parts)


def eq(field: str, value: Any) -> Where:
    return Compare(field, Op.EQ, value)


def in_(field: str, values: Iterable[Any]) -> Where:
    return Compare(field, Op.IN, tuple(values))


Matcher = Callable[[Any], bool]

_ORDERED: dict[Op, Callable[[Any, Any], bool]] = {Op.LT: lt, Op.LE: le, Op.GT: gt, Op.GE: ge}
_TEXTUAL: dict[Op, Callable[[str, str], bool]] = {
    Op.CONTAINS: lambda have, want: want in have,
    Op.STARTS: str.startswith,
    Op.ENDS: str.endswith,
}


def matcher(where: Where, words: Callable[[Any], Iterable[str]] | None = None) -> Matcher:
    """Compile a condition into a predicate on a row. `Linked` is not supported: it needs other rows."""
    if isinstance(where, Compare):
        return _column_matcher(where)
    if isinstance(where, Property):
        return _property_matcher(where)
    if isinstance(where, Has):
        return _word_matcher(where.word, words)
    return _composite_matcher(where, words)


def _composite_matcher(where: Where, words: Callable[[Any], Iterable[str]] | None) -> Matcher:
    if isinstance(where, Everything):
        return lambda row: True
    if isinstance(where, Not):
        inner = matcher(where.part, words)
        return lambda row: not inner(row)
    if isinstance(where, All | Any_):
        parts = [matcher(part, words) for part in where.parts]
        many = all if isinstance(where, All) else any
        return lambda row: many(part(row) for part in parts)
    raise TypeError(f"{type(where).__name__} cannot be decided on a single row")


def _word_matcher(word: str, words: Callable[[Any], Iterable[str]] | None) -> Matcher:
    if words is None:
        return lambda row: False
    return lambda row: word in words(row)


def _column_matcher(where: Compare) -> Matcher:
    field, op, value = where.field, where.op, where.value
    if op is Op.EQ:
        return lambda row: getattr(row, field) == value
    if op is Op.NE:
        return lambda row: getattr(row, field) != value
    if op is Op.IN:
        wanted = frozenset(value)
        return lambda row: getattr(row, field) in wanted
    if op is Op.EXISTS:
        return lambda row: getattr(row, field) is not None
    if op is Op.CONTAINS:
        return lambda row: (have := getattr(row, field)) is not None and value in have
    test = _ORDERED.get(op) or _TEXTUAL[op]
    return lambda row: (have := getattr(row, field)) is not None and test(have, value)


_MISSING = object()


def _property_matcher(where: Property) -> Matcher:
    field, key = where.field, where.key
    test = property_test(where.op, where.value)
    name, part = _traces(where)

    def matches(row: Any) -> bool:
        text = getattr(row, field)
        return name in text and part in text and test(from_text(text).get(key, _MISSING))

    return matches


def _traces(where: Property) -> tuple[str, str]:
    """Substrings that the JSON text of every matching object has: testing for them is far cheaper than decoding."""
    if where.op is Op.NE:  # also true for objects that lack the property
        return "", ""
    textual = where.op in _TEXTUAL or where.op is Op.EQ
    return f"{_written(where.key)}:", _written(where.value)[1:-1] if textual and isinstance(where.value, str) else ""


def _written(text: str) -> str:
    """A text in canonical JSON; empty (no pre-filter) for one that cannot be encoded."""
    try:
        return to_text(text)
    except UnicodeError:
        return ""


def property_test(op: Op, value: Any) -> Callable[[Any], bool]:
    """The predicate on a decoded property value (or its absence)."""
    if op is Op.EXISTS:
        return lambda have: have is not _MISSING
    if op is Op.EQ:
        return lambda have: have is not _MISSING and same_value(have, value)
    if op is Op.NE:
        return lambda have: have is _MISSING or not same_value(have, value)
    if op is Op.IN:
        wanted = frozenset(comparable(item) for item in value)
        return lambda have: have is not _MISSING and comparable(have) in wanted
    return _kindred_test(op, value)


def _kindred_test(op: Op, value: Any) -> Callable[[Any], bool]:
    kind = comparable(value)[0]
    if op in _TEXTUAL:
        textual = _TEXTUAL[op]
        return lambda have: kind == "string" and isinstance(have, str) and textual(have, value)
    ordered = _ORDERED[op]
    if kind not in ("number", "string"):
        return lambda have: False
    return lambda have: have is not _MISSING and comparable(have)[0] == kind and ordered(have, value)


def conditions(where: Where) -> Iterator[Where]:
    """The conjuncts of a condition, so that a store can choose one with an index."""
    if isinstance(where, All):
        yield from where.parts
    else:
        yield where


def mentions(where: Where, kind: type[Where]) -> bool:
    """Whether a condition of this class occurs anywhere inside."""
    if isinstance(where, kind):
        return True
    if isinstance(where, All | Any_):
        return any(mentions(part, kind) for part in where.parts)
    return mentions(where.part, kind) if isinstance(where, Not) else False
