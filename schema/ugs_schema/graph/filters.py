"""Filter inputs, and their translation to conditions."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from typing import Any

import strawberry
from strawberry import UNSET

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.graph.batches import in_scope
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
from ugs.values import check_key, check_type, check_value
from ugs_schema.scalars import Json, Millis

MAX_CONDITIONS = 100
MAX_IDS = 1_000
MAX_RELATION_DEPTH = 3
"""How many times in a row a filter follows edges."""
MAX_RELATED_CONDITIONS = 32


@strawberry.enum(description="How a property is compared")
class PropertyOp(Enum):
    EQ = strawberry.enum_value("EQ", description="Is exactly this value; numbers by value, 1 equals 1.0")
    NE = strawberry.enum_value("NE", description="Is anything else, or is missing")
    LT = strawberry.enum_value("LT", description="Is a smaller number, or a text that sorts before")
    LTE = strawberry.enum_value("LTE", description="LT or EQ")
    GT = strawberry.enum_value("GT", description="Is a greater number, or a text that sorts behind")
    GTE = strawberry.enum_value("GTE", description="GT or EQ")
    IN = strawberry.enum_value("IN", description="Is one of a list of values")
    CONTAINS = strawberry.enum_value("CONTAINS", description="Is a text that contains this one")
    STARTS_WITH = strawberry.enum_value("STARTS_WITH", description="Is a text that begins with this one")
    ENDS_WITH = strawberry.enum_value("ENDS_WITH", description="Is a text that ends with this one")
    EXISTS = strawberry.enum_value("EXISTS", description="Is there at all; with value false: is missing")
    IS_NULL = strawberry.enum_value("IS_NULL", description="Is missing or null; with value false: is neither")


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


@strawberry.input(description="A condition on one property")
class PropertyFilter:
    key: str = strawberry.field(description="The property's name")
    op: PropertyOp = strawberry.field(default=PropertyOp.EQ, description="How to compare")
    value: Json | None = strawberry.field(default=UNSET, description="What to compare with; a list for IN")


@strawberry.enum(description="What is compared of a node")
class NodeField(Enum):
    ID = strawberry.enum_value("ID", description="The id, a text")
    TYPE = strawberry.enum_value("TYPE", description="The type, a text")
    CREATED = strawberry.enum_value("CREATED", description="When the node was created, in Unix milliseconds")
    MODIFIED = strawberry.enum_value("MODIFIED", description="When it was last changed, in Unix milliseconds")
    VERSION = strawberry.enum_value("VERSION", description="How often it was changed")


@strawberry.enum(description="What is compared of an edge")
class EdgeField(Enum):
    ID = strawberry.enum_value("ID", description="The id, a text")
    TYPE = strawberry.enum_value("TYPE", description="The type, a text")
    FROM = strawberry.enum_value("FROM", description="The id of the node it leaves from")
    TO = strawberry.enum_value("TO", description="The id of the node it arrives at")
    WEIGHT = strawberry.enum_value("WEIGHT", description="The weight")
    CREATED = strawberry.enum_value("CREATED", description="When the edge was created, in Unix milliseconds")
    MODIFIED = strawberry.enum_value("MODIFIED", description="When it was last changed, in Unix milliseconds")
    VERSION = strawberry.enum_value("VERSION", description="How often it was changed")


@strawberry.input(description="A condition on a field of nodes")
class NodeFieldFilter:
    field: NodeField = strawberry.field(description="What to compare")
    op: PropertyOp = strawberry.field(default=PropertyOp.EQ, description="How to compare")
    value: Json | None = strawberry.field(default=UNSET, description="What to compare with; a list for IN")


@strawberry.input(description="A condition on a field of edges")
class EdgeFieldFilter:
    field: EdgeField = strawberry.field(description="What to compare")
    op: PropertyOp = strawberry.field(default=PropertyOp.EQ, description="How to compare")
    value: Json | None = strawberry.field(default=UNSET, description="What to compare with; a list for IN")


@strawberry.input(description="Which edges a node has on one side; all conditions that are given must hold")
class RelatedEdgesFilter:
    some: EdgeFilter | None = strawberry.field(default=UNSET, description="At least one edge meets this")
    none: EdgeFilter | None = strawberry.field(default=UNSET, description="No edge meets this")
    every: EdgeFilter | None = strawberry.field(default=UNSET, description="No edge fails to meet this")


@strawberry.input(description="Which nodes; all conditions that are given must hold")
class NodeFilter:
    ids: list[strawberry.ID] | None = strawberry.field(default=UNSET, description="One of these ids")
    type: str | None = strawberry.field(default=UNSET, description="Of this type; null for nodes without one")
    types: list[str] | None = strawberry.field(default=UNSET, description="Of one of these types")
    scope: Scope | None = strawberry.field(default=UNSET, description="In this scope")
    properties: list[PropertyFilter] | None = strawberry.field(default=UNSET, description="All of these hold")
    match: Json | None = strawberry.field(default=UNSET, description="An object: each of its properties is equal")
    text: str | None = strawberry.field(default=UNSET, description="Contains all of these words")
    created_after: Millis | None = strawberry.field(default=UNSET, description="Created later than this")
    created_before: Millis | None = strawberry.field(default=UNSET, description="Created earlier than this")
    modified_after: Millis | None = strawberry.field(default=UNSET, description="Changed later than this")
    has_content: bool | None = strawberry.field(default=UNSET, description="Has content, or with false: has none")
    fields: list[NodeFieldFilter] | None = strawberry.field(default=UNSET, description="All of these hold")
    outgoing: RelatedEdgesFilter | None = strawberry.field(default=UNSET, description="Of the edges that leave from it")
    incoming: RelatedEdgesFilter | None = strawberry.field(default=UNSET, description="Of the edges that arrive at it")
    and_: list[NodeFilter] | None = strawberry.field(default=UNSET, name="and", description="All of these hold")
    or_: list[NodeFilter] | None = strawberry.field(default=UNSET, name="or", description="One of these holds")
    not_: NodeFilter | None = strawberry.field(default=UNSET, name="not", description="This does not hold")


@strawberry.input(description="Which edges; all conditions that are given must hold")
class EdgeFilter:
    ids: list[strawberry.ID] | None = strawberry.field(default=UNSET, description="One of these ids")
    from_: strawberry.ID | None = strawberry.field(default=UNSET, name="from", description="Leaves from this node")
    to: strawberry.ID | None = strawberry.field(default=UNSET, description="Arrives at this node")
    touching: strawberry.ID | None = strawberry.field(default=UNSET, description="Leaves from or arrives at it")
    type: str | None = strawberry.field(default=UNSET, description="Of this type; null for edges without one")
    types: list[str] | None = strawberry.field(default=UNSET, description="Of one of these types")
    scope: Scope | None = strawberry.field(default=UNSET, description="Its own id is in this scope")
    properties: list[PropertyFilter] | None = strawberry.field(default=UNSET, description="All of these hold")
    match: Json | None = strawberry.field(default=UNSET, description="An object: each of its properties is equal")
    dangling: bool | None = strawberry.field(default=UNSET, description="One of its nodes does not exist")
    min_weight: float | None = strawberry.field(default=UNSET, description="At least this weight")
    max_weight: float | None = strawberry.field(default=UNSET, description="At most this weight")
    fields: list[EdgeFieldFilter] | None = strawberry.field(default=UNSET, description="All of these hold")
    from_node: NodeFilter | None = strawberry.field(
        default=UNSET, description="The node it leaves from exists and meets this"
    )
    to_node: NodeFilter | None = strawberry.field(
        default=UNSET, description="The node it arrives at exists and meets this"
    )
    and_: list[EdgeFilter] | None = strawberry.field(default=UNSET, name="and", description="All of these hold")
    or_: list[EdgeFilter] | None = strawberry.field(default=UNSET, name="or", description="One of these holds")
    not_: EdgeFilter | None = strawberry.field(default=UNSET, name="not", description="This does not hold")


PROPERTIES_FIELD = "properties_text"
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


def build_field_where(values: FilterValues, columns: Mapping[str, str], numbers: Container[str]) -> Where:
    """Translate a condition on a field of the row; `numbers` are the columns that hold numbers."""
    name, value = _to_name(values["field"]), values.get("value")
    op, column = _to_name(values.get("op") or "EQ"), columns[name]
    check_value(value)
    if op in ("EXISTS", "IS_NULL"):
        there = Compare(column, Op.EXISTS)
        return there if (op == "EXISTS") is (value is not False) else Not(there)
    operands = value if op == "IN" and isinstance(value, list) else [value]
    _check_operands(name, op, value, operands, column in numbers)
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


NODE_FIELDS = {"ID": "id", "TYPE": "type", "CREATED": "created", "MODIFIED": "modified", "VERSION": "version"}
EDGE_FIELDS = {**NODE_FIELDS, "FROM": "source", "TO": "target", "WEIGHT": "weight"}
NUMBER_FIELDS = frozenset({"created", "modified", "version", "weight"})


def _build_node_parts(values: FilterValues, depth: int) -> Iterator[Where]:
    for condition in values.get("fields") or ():
        yield build_field_where(condition, NODE_FIELDS, NUMBER_FIELDS)
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
        yield build_field_where(condition, EDGE_FIELDS, NUMBER_FIELDS)
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
