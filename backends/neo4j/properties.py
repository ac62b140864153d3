"""A key of a JSON object against a value: by the vertex's native property where that is exact.

Elsewhere (records, odd keys, nested values) the canonical text narrows the search: a top-level key stands in it as
`"key":`, and a text or truth value right behind. That lets nested look-alikes through, which the matcher removes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backends.neo4j.columns import EXACT, TEXTUAL
from backends.neo4j.conditions import COMPARISONS, NEVER, Condition, Parameters, negated
from backends.neo4j.layout import MORE, Layout, is_native_key
from backends.neo4j.texts import same_order_everywhere
from ugs.reads.where import Op, Property
from ugs.values import comparable, to_text


def compare(parameters: Parameters, layout: Layout, n: str, where: Property) -> Condition:
    """The comparison as Cypher, exact where Neo4j can be."""
    if _never_holds(where):
        return NEVER
    if where.op is Op.NE:
        return negated(compare(parameters, layout, n, Property(where.field, where.key, Op.EQ, where.value)))
    if layout.vertex is None or layout.vertex.properties != where.field or not is_native_key(layout, where.key):
        return _in_text(parameters, f"{n}.{layout.columns[where.field]}", where)
    return _native(parameters, n, where)


def _never_holds(where: Property) -> bool:
    """Kinds are never mixed, and only numbers and texts have an order."""
    if where.op is Op.IN:
        return not where.value
    if where.op in (Op.EQ, Op.NE, Op.EXISTS):
        return False
    kinds = ("string",) if where.op in TEXTUAL else ("string", "number")
    return comparable(where.value)[0] not in kinds


def _native(parameters: Parameters, n: str, where: Property) -> Condition:
    key = parameters.add(where.key)
    if _is_exact(where):
        value = [_number(item) for item in where.value] if where.op is Op.IN else _number(where.value)
        return Condition(f"{n}[{key}] {COMPARISONS[where.op]} {parameters.add(value)}")
    present = Condition(f"({n}[{key}] IS NOT NULL OR {key} IN {n}.{MORE})", exact=where.op is Op.EXISTS)
    if where.op is Op.EQ and (where.value is None or isinstance(where.value, dict)):
        return Condition(f"{key} IN {n}.{MORE}", exact=False)
    return present


def _is_exact(where: Property) -> bool:
    """Whether Neo4j compares native values with this one as the reference does."""
    op, value = where.op, where.value
    if op is Op.EXISTS:
        return False
    if op is Op.IN:
        return all(map(_is_plain, value))
    ordered = op not in TEXTUAL and op is not Op.EQ
    return _is_plain(value) and not (ordered and isinstance(value, str) and not same_order_everywhere(value))


def _is_plain(value: Any) -> bool:
    if isinstance(value, bool | str):
        return True
    return isinstance(value, int | float) and -EXACT < value < EXACT


def _number(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value


def _in_text(parameters: Parameters, column: str, where: Property) -> Condition:
    wanted: Sequence[Any] = (where.value,) if where.op is Op.EQ else ()
    ends = [to_text(value) for value in wanted if value is None or isinstance(value, bool | str)]
    fragment = f"{to_text(where.key)}:{ends[0] if ends else ''}"
    return Condition(f"{column} CONTAINS {parameters.add(fragment)}", exact=False)
