"""Compiles comparisons of JSON properties: by the vertex's native property where that is exact.

Elsewhere (records, odd keys, nested values) the canonical text narrows the search: a top-level key occurs in it as
`"key":`, directly followed by a text or boolean. Nested keys match as well, which the matcher removes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ugs.reads.filters import Op, Property
from ugs.values import comparable, to_text
from ugs_backends.neo4j.cypher_fragments import COMPARISONS, NEVER, Condition, Parameters, negate
from ugs_backends.neo4j.indexes.collation import has_portable_order
from ugs_backends.neo4j.layout import MORE, Layout, is_native_key
from ugs_backends.neo4j.read.column_filters import MAX_EXACT_INTEGER, TEXTUAL


def compare(parameters: Parameters, layout: Layout, n: str, where: Property) -> Condition:
    """The comparison as Cypher, exact where Neo4j can be."""
    if _is_impossible(where):
        return NEVER
    if where.op is Op.NE:
        return negate(compare(parameters, layout, n, Property(where.field, where.key, Op.EQ, where.value)))
    if layout.vertex is None or layout.vertex.properties != where.field or not is_native_key(layout, where.key):
        return _compare_in_text(parameters, f"{n}.{layout.columns[where.field]}", where)
    return _compare_native(parameters, n, where)


def _is_impossible(where: Property) -> bool:
    """Whether no value can match: only numbers and texts are ordered, and only texts have substrings."""
    if where.op is Op.IN:
        return not where.value
    if where.op in (Op.EQ, Op.NE, Op.EXISTS):
        return False
    kinds = ("string",) if where.op in TEXTUAL else ("string", "number")
    return comparable(where.value)[0] not in kinds


def _compare_native(parameters: Parameters, n: str, where: Property) -> Condition:
    key = parameters.add(where.key)
    if _is_exact(where):
        value = [_compare_number(item) for item in where.value] if where.op is Op.IN else _compare_number(where.value)
        return Condition(f"{n}[{key}] {COMPARISONS[where.op]} {parameters.add(value)}")
    present = Condition(f"({n}[{key}] IS NOT NULL OR {key} IN {n}.{MORE})", exact=where.op is Op.EXISTS)
    if where.op is Op.EQ and (where.value is None or isinstance(where.value, dict)):
        return Condition(f"{key} IN {n}.{MORE}", exact=False)
    return present


def _is_exact(where: Property) -> bool:
    """Whether Neo4j compares native values with this one as the reference matcher does."""
    op, value = where.op, where.value
    if op is Op.EXISTS:
        return False
    if op is Op.IN:
        return all(map(_is_plain, value))
    ordered = op not in TEXTUAL and op is not Op.EQ
    return _is_plain(value) and not (ordered and isinstance(value, str) and not has_portable_order(value))


def _is_plain(value: Any) -> bool:
    if isinstance(value, bool | str):
        return True
    return isinstance(value, int | float) and -MAX_EXACT_INTEGER < value < MAX_EXACT_INTEGER


def _compare_number(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value


def _compare_in_text(parameters: Parameters, column: str, where: Property) -> Condition:
    wanted: Sequence[Any] = (where.value,) if where.op is Op.EQ else ()
    ends = [to_text(value) for value in wanted if value is None or isinstance(value, bool | str)]
    fragment = f"{to_text(where.key)}:{ends[0] if ends else ''}"
    return Condition(f"{column} CONTAINS {parameters.add(fragment)}", exact=False)
