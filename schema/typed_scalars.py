"""What every generated schema has: scalars, filters, orders, pages and content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLError,
    GraphQLField,
    GraphQLFloat,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLString,
)

from schema.scalars import instant_given, json_literal, json_value, whole_number
from ugs.moments import At
from ugs.ontology.properties import PropertyKind
from ugs.values import MAX_INT, MIN_INT


def as_it_is(value: Any) -> Any:
    return value


def _long(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not MIN_INT <= value <= MAX_INT:
        raise GraphQLError(f"Expected a whole number of 64 bits, got {str(value)[:40]!r}")
    return value


def nth(type: Any) -> Any:
    """A list without holes."""
    return GraphQLNonNull(GraphQLList(GraphQLNonNull(type)))


JSON = GraphQLScalarType("JSON", as_it_is, json_value, json_literal, description="Any JSON value")
LONG = GraphQLScalarType("Long", as_it_is, _long, description="A whole number of 64 bits")
MILLIS = GraphQLScalarType("Millis", as_it_is, whole_number, description="Unix time in milliseconds (64 bit)")
DATE_TIME = GraphQLScalarType("DateTime", as_it_is, instant_given, description="UTC time, ISO 8601 with Z")
POSITION = GraphQLScalarType("Position", as_it_is, whole_number, description="Place in the event log (64 bit)")

KINDS: Mapping[PropertyKind, GraphQLScalarType] = {
    PropertyKind.STRING: GraphQLString,
    PropertyKind.INTEGER: LONG,
    PropertyKind.NUMBER: GraphQLFloat,
    PropertyKind.BOOLEAN: GraphQLBoolean,
}
"""What each kind of property is in GraphQL."""

AT = GraphQLInputObjectType(
    "At",
    {
        "position": GraphQLInputField(POSITION, description="After this event"),
        "instant": GraphQLInputField(DATE_TIME, description="At this time"),
    },
    is_one_of=True,
    description="Where in time to read",
)


def at_of(given: Any) -> At | None:
    """The place in time that an argument means."""
    if given is None:
        return None
    position = given.get("position")
    return At.time(given["instant"]) if position is None else At(position=position)


def _where(name: str, type: Any, what: str, *more: str) -> GraphQLInputObjectType:
    told = {
        "eq": "Is this",
        "ne": "Is anything else, or is missing",
        "lt": "Is smaller",
        "lte": "Is smaller or this",
        "gt": "Is greater",
        "gte": "Is greater or this",
        "contains": "Contains this",
        "startsWith": "Begins with this",
        "endsWith": "Ends with this",
    }
    fields = {op: GraphQLInputField(type, description=told[op]) for op in ("eq", "ne", *more)}
    fields["in"] = GraphQLInputField(GraphQLList(GraphQLNonNull(type)), description="Is one of these")
    fields["exists"] = GraphQLInputField(GraphQLBoolean, description="Is there at all, or with false: is missing")
    return GraphQLInputObjectType(name, fields, description=f"Conditions on {what}; all that are given must hold")


COMPARED = ("lt", "lte", "gt", "gte")
STRING_WHERE = _where("StringWhere", GraphQLString, "a text", *COMPARED, "contains", "startsWith", "endsWith")
LONG_WHERE = _where("LongWhere", LONG, "a whole number", *COMPARED)
FLOAT_WHERE = _where("FloatWhere", GraphQLFloat, "a number", *COMPARED)
BOOLEAN_WHERE = _where("BooleanWhere", GraphQLBoolean, "a switch")
MILLIS_WHERE = GraphQLInputObjectType(
    "MillisWhere",
    {
        "lt": GraphQLInputField(MILLIS, description="Earlier than this"),
        "lte": GraphQLInputField(MILLIS, description="Not later than this"),
        "gt": GraphQLInputField(MILLIS, description="Later than this"),
        "gte": GraphQLInputField(MILLIS, description="Not earlier than this"),
    },
    description="Conditions on a time",
)


def _enum(name: str, values: dict[str, str], description: str) -> GraphQLEnumType:
    found = {value: GraphQLEnumValue(value, description=told) for value, told in values.items()}
    return GraphQLEnumType(name, found, description=description)


ENCODING = _enum("Encoding", {"UTF8": "As text", "BASE64": "As base64 of any bytes"}, "How content is written")
CHANGE_KIND = _enum(
    "ChangeKind",
    {"ADDED": "It is new", "CHANGED": "It was changed", "DELETED": "It is gone"},
    "What happened to a node",
)
DIRECTION = _enum("SortDirection", {"ASC": "Smallest first", "DESC": "Greatest first"}, "Which way to sort")
ORDER_FIELD = _enum(
    "MemoryOrderField",
    {
        "ID": "The id, by code point",
        "CREATED": "When it was created",
        "MODIFIED": "When it was last changed",
        "DEGREE": "How many connections touch it; a loop counts on both sides",
    },
    "What nodes are sorted by",
)
ORDER = GraphQLInputObjectType(
    "MemoryOrder",
    {
        "field": GraphQLInputField(GraphQLNonNull(ORDER_FIELD), description="What to sort by"),
        "direction": GraphQLInputField(DIRECTION, default_value="ASC", description="Which way"),
    },
    description="One sort key",
)


def by_key(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    """What was written under the response key of the field."""
    return source[info.path.key]


def field(type: Any, description: str) -> GraphQLField:
    """A field that was written with its parent."""
    return GraphQLField(type, resolve=by_key, description=description)


CONTENT = GraphQLObjectType(
    "Content",
    {
        "format": field(GraphQLNonNull(GraphQLString), "What kind of content it is, such as markdown"),
        "encoding": field(GraphQLNonNull(ENCODING), "How the body is written"),
        "size": field(GraphQLNonNull(GraphQLInt), "How many bytes it has"),
        "path": field(GraphQLNonNull(GraphQLString), "Where the file projection keeps it"),
        "body": field(GraphQLNonNull(GraphQLString), "The content itself"),
    },
    description="What a node or a connection says",
)
PAGE_INFO = GraphQLObjectType(
    "PageInfo",
    {
        "hasNextPage": field(GraphQLNonNull(GraphQLBoolean), "More rows follow this page"),
        "hasPreviousPage": field(GraphQLNonNull(GraphQLBoolean), "Rows stand before this page"),
        "startCursor": field(GraphQLString, "Cursor of the first row; null on an empty page"),
        "endCursor": field(GraphQLString, "Cursor of the last row; null on an empty page"),
    },
    description="Where a page stands among all rows",
)
