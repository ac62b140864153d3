"""A condition on a property as tests of its encoded text (see `encoding`), which any database can do exactly."""

from __future__ import annotations

from typing import Any

from backends.sql.encoding import NUMBER, TEXT, after_kind, sought
from backends.sql.fitting import ORDERED, Fitted, fitted
from ugs.catalog import Kind
from ugs.reads.where import Op, Property
from ugs.values import FORBIDDEN_TEXT

Test = tuple[Op, Any]
"""How the encoded value compares with a text (`IN`: with several); CONTAINS and ENDS look behind its first letter."""


def property_tests(where: Property) -> list[Test] | None:
    """What the encoded value must meet beside being there; None when nothing stored can meet it."""
    if FORBIDDEN_TEXT.search(where.key):
        return None
    if where.op is Op.EXISTS:
        return []
    if where.op is Op.IN:
        return _one_of(where.value)
    text = sought(where.value)
    if text is None:
        return None
    if where.op is Op.EQ:
        return _compared(Op.EQ, text)
    if where.op in ORDERED:
        return _ordered(where.op, text)
    return _textual(where.op, where.value)


def _compared(op: Op, text: str) -> list[Test] | None:
    test = fitted(Kind.TEXT, op, text)
    return [(test.op, test.value)] if isinstance(test, Fitted) else None


def _one_of(values: Any) -> list[Test] | None:
    texts = {text for value in values if (text := sought(value)) is not None and not FORBIDDEN_TEXT.search(text)}
    return [(Op.IN, sorted(texts))] if texts else None


def _ordered(op: Op, text: str) -> list[Test] | None:
    kind = text[0]
    if kind not in (NUMBER, TEXT):
        return None
    bound = (Op.GE, kind) if op in (Op.LT, Op.LE) else (Op.LT, after_kind(kind))
    return [*(_compared(op, text) or ()), bound]


def _textual(op: Op, value: Any) -> list[Test] | None:
    if not isinstance(value, str) or FORBIDDEN_TEXT.search(value):
        return None
    if op is Op.STARTS or not value:
        return [(Op.STARTS, TEXT + value)]
    return [(Op.GE, TEXT), (Op.LT, after_kind(TEXT)), (op, value)]
