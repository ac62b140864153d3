"""Translates property conditions to tests of the encoded text (see `property_codec`), exact in any database."""

from __future__ import annotations

from typing import Any

from ugs.reads.filters import Op, Property
from ugs.reads.sort_keys import NUMBER, TEXT
from ugs.tables import Kind
from ugs.values import FORBIDDEN_TEXT
from ugs_backends.sql.compiler.comparison_coercion import ORDERED, CoercedComparison, coerce_comparison
from ugs_backends.sql.compiler.property_codec import encode_search_value, find_kind_end

Test = tuple[Op, Any]
"""A comparison of the encoded value with a text (`IN`: several texts); CONTAINS and ENDS skip the first letter."""


def compile_property_tests(where: Property) -> list[Test] | None:
    """The tests that the encoded value must pass besides existing; None if no stored value can pass."""
    if FORBIDDEN_TEXT.search(where.key):
        return None
    if where.op is Op.EXISTS:
        return []
    if where.op is Op.IN:
        return _compare_list(where.value)
    text = encode_search_value(where.value)
    if text is None:
        return None
    if where.op is Op.EQ:
        return _compare(Op.EQ, text)
    if where.op in ORDERED:
        return _compare_order(where.op, text)
    return _compare_text(where.op, where.value)


def _compare(op: Op, text: str) -> list[Test] | None:
    test = coerce_comparison(Kind.TEXT, op, text)
    return [(test.op, test.value)] if isinstance(test, CoercedComparison) else None


def _compare_list(values: Any) -> list[Test] | None:
    texts = {
        text for value in values if (text := encode_search_value(value)) is not None and not FORBIDDEN_TEXT.search(text)
    }
    return [(Op.IN, sorted(texts))] if texts else None


def _compare_order(op: Op, text: str) -> list[Test] | None:
    kind = text[0]
    if kind not in (NUMBER, TEXT):
        return None
    bound = (Op.GE, kind) if op in (Op.LT, Op.LE) else (Op.LT, find_kind_end(kind))
    return [*(_compare(op, text) or ()), bound]


def _compare_text(op: Op, value: Any) -> list[Test] | None:
    if not isinstance(value, str) or FORBIDDEN_TEXT.search(value):
        return None
    if op is Op.STARTS or not value:
        return [(Op.STARTS, TEXT + value)]
    return [(Op.GE, TEXT), (Op.LT, find_kind_end(TEXT)), (op, value)]
