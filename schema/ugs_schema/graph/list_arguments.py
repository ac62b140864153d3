"""Translates the arguments of lists of nodes and edges to conditions, orders and pages of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.graph.batches import in_scope
from ugs.graph.model import EDGES, NODES
from ugs.graph.text.tokenizer import split_words
from ugs.identity import Scope, is_identifier
from ugs.reads.filters import (
    EVERYTHING,
    NOTHING,
    All,
    Any_,
    Compare,
    Has,
    Linked,
    Not,
    Op,
    Property,
    Where,
    all_of,
    any_of,
    eq,
    in_,
)
from ugs.reads.plan import Order
from ugs.reads.sort_keys import FIRST, LAST, SortKey
from ugs.values import check_key, check_type, check_value
from ugs_schema.compiler.aggregates import PROPERTIES_FIELD
from ugs_schema.compiler.plan_templates import ReadCriteria
from ugs_schema.compiler.row_types import ROW_TYPES, RowType
from ugs_schema.pagination import DEFAULT_NESTED_ROWS, parse_page

MAX_CONDITIONS = 100
MAX_IDS = 1_000
MAX_RELATION_DEPTH = 3
"""How many times in a row a filter follows edges."""
MAX_RELATED_CONDITIONS = 32
BY_SEQUENCE = (Order("seq"),)
MAX_SORT_KEYS = 8

OPS = {
    "EQ": Op.EQ,
    "NE": Op.NE,
    "LT": Op.LT,
    "LTE": Op.LE,
    "GT": Op.GT,
    "GTE": Op.GE,
    "IN": Op.IN,
    "CONTAINS": Op.CONTAINS,
    "STARTS_WITH": Op.STARTS,
    "ENDS_WITH": Op.ENDS,
    "EXISTS": Op.EXISTS,
}


# ── pages of rows ────────────────────────────────────────────────────────────


def parse_node_list(arguments: dict[str, Any]) -> ReadCriteria:
    """`graphNodes`; default order by id."""
    order = parse_order(arguments.get("orderBy"), ROW_TYPES["GraphNode"].order_columns)
    return build_node_where(arguments.get("filter")), order, parse_page(arguments, NODES, order)


def parse_edge_list(arguments: dict[str, Any]) -> ReadCriteria:
    """`graphEdges`; default order by id."""
    order = parse_order(arguments.get("orderBy"), ROW_TYPES["GraphEdge"].order_columns)
    return build_edge_where(arguments.get("filter")), order, parse_page(arguments, EDGES, order)


def parse_edges_at_node(arguments: dict[str, Any]) -> ReadCriteria:
    """`outgoing` and `incoming`; default order by sequence."""
    order = parse_order(arguments.get("orderBy"), ROW_TYPES["GraphEdge"].order_columns) or BY_SEQUENCE
    type = arguments.get("type")
    of_type = EVERYTHING if type is None else eq("type", check_type(type))
    page = parse_page(arguments, EDGES, order, DEFAULT_NESTED_ROWS)
    return all_of(of_type, build_edge_where(arguments.get("filter"))), order, page


def parse_nodes_by_property(arguments: dict[str, Any]) -> ReadCriteria:
    """`findByProperty`."""
    value = arguments.get("value")
    check_value(value)
    where = Property(PROPERTIES_FIELD, check_key(arguments["key"]), Op.EQ, value)
    return where, (), parse_page(arguments, NODES, ())


def parse_root_nodes(arguments: dict[str, Any]) -> ReadCriteria:
    """`roots`."""
    return Not(Linked("incoming")), (), parse_page(arguments, NODES, ())


# ── orders ───────────────────────────────────────────────────────────────────


def parse_order(parts: Iterable[Mapping[str, Any]] | None, columns: Mapping[str, str]) -> tuple[Order, ...]:
    """Translate `orderBy`."""
    order = tuple(_parse_sort_key(part, columns) for part in parts or ())
    if len(order) > MAX_SORT_KEYS:
        raise LimitExceeded(f"orderBy has at most {MAX_SORT_KEYS} keys", limit=MAX_SORT_KEYS)
    if len({part.field for part in order}) < len(order):
        raise InvalidSyntax("orderBy names a field twice")
    return order


def _parse_sort_key(part: Mapping[str, Any], columns: Mapping[str, str]) -> Order:
    field, key, nulls = part.get("field"), part.get("property"), part.get("nulls")
    descending = _to_name(part.get("direction") or "ASC") == "DESC"
    if (field is None) == (key is None):
        raise InvalidSyntax("a sort key names either a field or a property")
    if key is None:
        if nulls is not None:
            raise InvalidSyntax("nulls goes with a property: fields have their own place for nothing")
        return Order(columns[_to_name(field)], descending)
    first = (not descending) if nulls is None else _to_name(nulls) == "FIRST"
    missing = FIRST if first is not descending else LAST
    return Order(SortKey(PROPERTIES_FIELD, check_key(key), missing).name, descending)


# ── filters ──────────────────────────────────────────────────────────────────

FilterValues = Mapping[str, Any]
"""A filter by the field names of the schema."""


def build_node_where(values: FilterValues | None, depth: int = 0) -> Where:
    """Translate a node filter; `depth` says how many relations lead to it from the rows that are filtered."""
    return _build_where(values, partial(build_node_where, depth=depth), partial(_build_node_parts, depth=depth))


def build_edge_where(values: FilterValues | None, depth: int = 0) -> Where:
    """Translate an edge filter."""
    return _build_where(values, partial(build_edge_where, depth=depth), partial(_build_edge_parts, depth=depth))


def _build_where(values: FilterValues | None, build_nested: Any, build_parts: Any) -> Where:
    if not values:
        return EVERYTHING
    found = [*_build_common_parts(values), *build_parts(values)]
    found += [build_nested(inner) for inner in values.get("and") or ()]
    if values.get("or") is not None:
        found.append(any_of(*(build_nested(inner) for inner in values["or"])))
    if values.get("not") is not None:
        found.append(Not(build_nested(values["not"])))
    if len(found) > MAX_CONDITIONS:
        raise LimitExceeded(f"a filter has at most {MAX_CONDITIONS} conditions", limit=MAX_CONDITIONS)
    where = all_of(*found)
    check_related(where)
    return where


def build_related(relation: str, values: FilterValues, build_inner: Callable[[Any], Where]) -> Iterator[Where]:
    """The conditions on the rows that a relation leads to, from `some`, `none` and `every`."""
    if values.get("some") is not None:
        yield Linked(relation, build_inner(values["some"]))
    if values.get("none") is not None:
        yield Not(Linked(relation, build_inner(values["none"])))
    if values.get("every") is not None:
        yield Not(Linked(relation, Not(build_inner(values["every"]))))


def check_depth(depth: int) -> int:
    """The depth, if filters may go that deep."""
    if depth > MAX_RELATION_DEPTH:
        reason = f"a filter follows edges at most {MAX_RELATION_DEPTH} times"
        raise LimitExceeded(reason, limit=MAX_RELATION_DEPTH)
    return depth


def check_related(where: Where) -> None:
    """Reject a condition on too many related rows: each is a look-up for every row."""
    if count_related(where) > MAX_RELATED_CONDITIONS:
        reason = f"a filter has at most {MAX_RELATED_CONDITIONS} conditions on related rows"
        raise LimitExceeded(reason, limit=MAX_RELATED_CONDITIONS)


def count_related(where: Where) -> int:
    """How many relations a condition follows."""
    if isinstance(where, Linked):
        return 1 + count_related(where.where)
    if isinstance(where, All | Any_):
        return sum(map(count_related, where.parts))
    return count_related(where.part) if isinstance(where, Not) else 0


def build_field_where(values: FilterValues, row_type: RowType) -> Where:
    """Translate a condition on a field of the row."""
    name, value = _to_name(values["field"]), values.get("value")
    op, column = _to_name(values.get("op") or "EQ"), row_type.filter_columns[name]
    check_value(value)
    if op in ("EXISTS", "IS_NULL"):
        there = Compare(column, Op.EXISTS)
        return there if (op == "EXISTS") is (value is not False) else Not(there)
    operands = value if op == "IN" and isinstance(value, list) else [value]
    _check_operands(name, op, value, operands, column in row_type.number_columns)
    return Compare(column, OPS[op], tuple(operands) if op == "IN" else value)


def _check_operands(name: str, op: str, value: object, operands: list[Any], is_number: bool) -> None:
    if op == "IN" and not isinstance(value, list):
        raise InvalidSyntax(f"{name} is compared by IN, which takes a list of values")
    if is_number and op in ("CONTAINS", "STARTS_WITH", "ENDS_WITH"):
        raise InvalidSyntax(f"{name} is a number, which {op} does not compare")
    nullable = op in ("EQ", "NE", "IN")
    kinds: Any = (int, float) if is_number else str
    for operand in operands:
        if not (nullable if operand is None else isinstance(operand, kinds) and not isinstance(operand, bool)):
            raise InvalidSyntax(f"{name} is compared by {op} with {'a number' if is_number else 'a text'}")


def _to_name(value: Any) -> str:
    return str(getattr(value, "value", value))


def _build_common_parts(values: FilterValues) -> Iterator[Where]:
    if values.get("ids") is not None:
        yield _build_id_where("id", values["ids"])
    if "type" in values:
        yield eq("type", check_type(values["type"]))
    if values.get("types") is not None:
        yield in_("type", [check_type(type) for type in values["types"]])
    if values.get("scope") is not None:
        yield in_scope(Scope(values["scope"]))
    for condition in values.get("properties") or ():
        yield build_property_where(condition)
    for key, value in _check_match(values.get("match")).items():
        yield Property(PROPERTIES_FIELD, check_key(key), Op.EQ, value)


def _build_id_where(field: str, ids: Iterable[str]) -> Where:
    known_ids = [id for id in ids if is_identifier(id)]
    if len(known_ids) > MAX_IDS:
        raise LimitExceeded(f"a filter names at most {MAX_IDS} ids", limit=MAX_IDS)
    return in_(field, known_ids) if known_ids else NOTHING


def _check_match(value: Any) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise InvalidSyntax("match takes an object of properties and the values they must have")
    return value or {}


def build_property_where(values: FilterValues) -> Where:
    """Translate a condition on one property."""
    name = _to_name(values.get("op") or "EQ")
    key, value = check_key(values["key"]), values.get("value")
    check_value(value)
    if name == "IS_NULL":
        return build_null_where(key, value is not False)
    op = OPS[name]
    if op is Op.EXISTS:
        exists = Property(PROPERTIES_FIELD, key, op)
        return Not(exists) if value is False else exists
    if op is not Op.IN:
        return Property(PROPERTIES_FIELD, key, op, value)
    if not isinstance(value, list):
        raise InvalidSyntax(f"the property {key!r} is compared by IN, which takes a list of values")
    return Property(PROPERTIES_FIELD, key, op, tuple(value))


def build_null_where(key: str, is_null: bool) -> Where:
    """The condition that a property is missing or null, or that it is neither."""
    null = Not(Property(PROPERTIES_FIELD, key, Op.EXISTS)) | Property(PROPERTIES_FIELD, key, Op.EQ, None)
    return null if is_null else Not(null)


def _build_node_parts(values: FilterValues, depth: int) -> Iterator[Where]:
    for condition in values.get("fields") or ():
        yield build_field_where(condition, ROW_TYPES["GraphNode"])
    for relation in ("outgoing", "incoming"):
        if values.get(relation) is not None:
            inner = partial(build_edge_where, depth=check_depth(depth + 1))
            yield from build_related(relation, values[relation], inner)
    for name, field, op in (
        ("createdAfter", "created", Op.GT),
        ("createdBefore", "created", Op.LT),
        ("modifiedAfter", "modified", Op.GT),
    ):
        if values.get(name) is not None:
            yield Compare(field, op, values[name])
    if values.get("hasContent") is not None:
        yield Linked("content") if values["hasContent"] else Not(Linked("content"))
    if values.get("text") is not None:
        words = split_words(values["text"])
        yield all_of(*(Has(word) for word in words)) if words else NOTHING


def _build_edge_parts(values: FilterValues, depth: int) -> Iterator[Where]:
    for condition in values.get("fields") or ():
        yield build_field_where(condition, ROW_TYPES["GraphEdge"])
    for name, relation in (("fromNode", "source_node"), ("toNode", "target_node")):
        if values.get(name) is not None:
            yield Linked(relation, build_node_where(values[name], check_depth(depth)))
    for name, fields in (("from", ["source"]), ("to", ["target"]), ("touching", ["source", "target"])):
        if values.get(name) is not None:
            yield any_of(*(_build_id_where(field, [values[name]]) for field in fields))
    if values.get("dangling") is not None:
        whole = Linked("source_node") & Linked("target_node")
        yield Not(whole) if values["dangling"] else whole
    if values.get("minWeight") is not None:
        yield Compare("weight", Op.GE, values["minWeight"])
    if values.get("maxWeight") is not None:
        yield Compare("weight", Op.LE, values["maxWeight"])
