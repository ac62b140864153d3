"""Filters as clients write them, and the conditions they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

import strawberry
from strawberry import UNSET

from schema.scalars import Json, Millis
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.graph.batches import in_scope
from ugs.graph.text import split_words
from ugs.identity import Scope, is_identifier
from ugs.reads.where import (
    EVERYTHING,
    NOTHING,
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

MOST_CONDITIONS = 100
MOST_IDS = 1_000


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
    and_: list[EdgeFilter] | None = strawberry.field(default=UNSET, name="and", description="All of these hold")
    or_: list[EdgeFilter] | None = strawberry.field(default=UNSET, name="or", description="One of these holds")
    not_: EdgeFilter | None = strawberry.field(default=UNSET, name="not", description="This does not hold")


PROPERTIES = "properties_text"
Given = Mapping[str, Any]
"""A filter as the query gives it, by the names of the schema."""


def node_where(given: Given | None) -> Where:
    """The condition a node filter means."""
    return _where(given, node_where, _node_parts)


def edge_where(given: Given | None) -> Where:
    """The condition an edge filter means."""
    return _where(given, edge_where, _edge_parts)


def _where(given: Given | None, again: Any, parts: Any) -> Where:
    if not given:
        return EVERYTHING
    found = [*_common_parts(given), *parts(given)]
    found += [again(inner) for inner in given.get("and") or ()]
    if given.get("or") is not None:
        found.append(any_of(*(again(inner) for inner in given["or"])))
    if given.get("not") is not None:
        found.append(Not(again(given["not"])))
    if len(found) > MOST_CONDITIONS:
        raise LimitExceeded(f"a filter has at most {MOST_CONDITIONS} conditions", limit=MOST_CONDITIONS)
    return all_of(*found)


def _common_parts(given: Given) -> Iterator[Where]:
    if given.get("ids") is not None:
        yield _one_of("id", given["ids"])
    if "type" in given:
        yield eq("type", check_type(given["type"]))
    if given.get("types") is not None:
        yield in_("type", [check_type(type) for type in given["types"]])
    if given.get("scope") is not None:
        yield in_scope(Scope(given["scope"]))
    for condition in given.get("properties") or ():
        yield property_where(condition)
    for key, value in _matched(given.get("match")).items():
        yield Property(PROPERTIES, check_key(key), Op.EQ, value)


def _one_of(field: str, ids: Iterable[str]) -> Where:
    wanted = [id for id in ids if is_identifier(id)]
    if len(wanted) > MOST_IDS:
        raise LimitExceeded(f"a filter names at most {MOST_IDS} ids", limit=MOST_IDS)
    return in_(field, wanted) if wanted else NOTHING


def _matched(value: Any) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise InvalidSyntax("match takes an object of properties and the values they must have")
    return value or {}


def property_where(given: Given) -> Where:
    """The condition on one property."""
    op = OPS[getattr(given.get("op"), "value", given.get("op")) or "EQ"]
    key, value = check_key(given["key"]), given.get("value")
    check_value(value)
    if op is Op.EXISTS:
        there = Property(PROPERTIES, key, op)
        return Not(there) if value is False else there
    if op is not Op.IN:
        return Property(PROPERTIES, key, op, value)
    if not isinstance(value, list):
        raise InvalidSyntax(f"the property {key!r} is compared by IN, which takes a list of values")
    return Property(PROPERTIES, key, op, tuple(value))


def _node_parts(given: Given) -> Iterator[Where]:
    for name, field, op in (
        ("createdAfter", "created", Op.GT),
        ("createdBefore", "created", Op.LT),
        ("modifiedAfter", "modified", Op.GT),
    ):
        if given.get(name) is not None:
            yield Compare(field, op, given[name])
    if given.get("hasContent") is not None:
        yield Linked("content") if given["hasContent"] else Not(Linked("content"))
    if given.get("text") is not None:
        words = split_words(given["text"])
        yield all_of(*(Has(word) for word in words)) if words else NOTHING


def _edge_parts(given: Given) -> Iterator[Where]:
    for name, fields in (("from", ["source"]), ("to", ["target"]), ("touching", ["source", "target"])):
        if given.get(name) is not None:
            yield any_of(*(_one_of(field, [given[name]]) for field in fields))
    if given.get("dangling") is not None:
        whole = Linked("source_node") & Linked("target_node")
        yield Not(whole) if given["dangling"] else whole
    if given.get("minWeight") is not None:
        yield Compare("weight", Op.GE, given["minWeight"])
    if given.get("maxWeight") is not None:
        yield Compare("weight", Op.LE, given["maxWeight"])
