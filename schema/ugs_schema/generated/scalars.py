"""Types of every generated schema: scalars, filters, orders, pages and content."""

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

from ugs.log.at import At
from ugs.ontology.properties import PropertyKind
from ugs.values import MAX_INT, MIN_INT
from ugs_schema.graph.order_by import BY_PROPERTY, NULLS
from ugs_schema.scalars import parse_instant, parse_json_literal, parse_json_value, parse_whole_number


def return_unchanged(value: Any) -> Any:
    return value


def _parse_long(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not MIN_INT <= value <= MAX_INT:
        raise GraphQLError(f"Expected a whole number of 64 bits, got {str(value)[:40]!r}")
    return value


def non_null_list(type: Any) -> Any:
    """A non-null list of non-null items."""
    return GraphQLNonNull(GraphQLList(GraphQLNonNull(type)))


JSON = GraphQLScalarType("JSON", return_unchanged, parse_json_value, parse_json_literal, description="Any JSON value")
LONG = GraphQLScalarType("Long", return_unchanged, _parse_long, description="A whole number of 64 bits")
MILLIS = GraphQLScalarType(
    "Millis", return_unchanged, parse_whole_number, description="Unix time in milliseconds (64 bit)"
)
DATE_TIME = GraphQLScalarType("DateTime", return_unchanged, parse_instant, description="UTC time, ISO 8601 with Z")
POSITION = GraphQLScalarType(
    "Position", return_unchanged, parse_whole_number, description="Place in the event log (64 bit)"
)

KINDS: Mapping[PropertyKind, GraphQLScalarType] = {
    PropertyKind.STRING: GraphQLString,
    PropertyKind.INTEGER: LONG,
    PropertyKind.NUMBER: GraphQLFloat,
    PropertyKind.BOOLEAN: GraphQLBoolean,
}
"""The GraphQL type of each kind of property."""

AT = GraphQLInputObjectType(
    "At",
    {
        "position": GraphQLInputField(POSITION, description="After this event"),
        "instant": GraphQLInputField(DATE_TIME, description="At this time"),
    },
    is_one_of=True,
    description="Where in time to read",
)


def to_at(value: Any) -> At | None:
    """The point in time of an `at` argument."""
    if value is None:
        return None
    position = value.get("position")
    return At.time(value["instant"]) if position is None else At(position=position)


def _make_where_type(name: str, type: Any, subject: str, *extra_ops: str) -> GraphQLInputObjectType:
    descriptions = {
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
    fields = {op: GraphQLInputField(type, description=descriptions[op]) for op in ("eq", "ne", *extra_ops)}
    fields["in"] = GraphQLInputField(GraphQLList(GraphQLNonNull(type)), description="Is one of these")
    fields["isNull"] = GraphQLInputField(GraphQLBoolean, description="Is missing or null, or with false: is neither")
    fields["exists"] = GraphQLInputField(GraphQLBoolean, description="Is there at all, or with false: is missing")
    return GraphQLInputObjectType(name, fields, description=f"Conditions on {subject}; all that are given must hold")


COMPARED = ("lt", "lte", "gt", "gte")
STRING_WHERE = _make_where_type("StringWhere", GraphQLString, "a text", *COMPARED, "contains", "startsWith", "endsWith")
LONG_WHERE = _make_where_type("LongWhere", LONG, "a whole number", *COMPARED)
FLOAT_WHERE = _make_where_type("FloatWhere", GraphQLFloat, "a number", *COMPARED)
BOOLEAN_WHERE = _make_where_type("BooleanWhere", GraphQLBoolean, "a switch")
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


def _make_enum(name: str, values: dict[str, str], description: str) -> GraphQLEnumType:
    found = {value: GraphQLEnumValue(value, description=descriptions) for value, descriptions in values.items()}
    return GraphQLEnumType(name, found, description=description)


ENCODING = _make_enum("Encoding", {"UTF8": "As text", "BASE64": "As base64 of any bytes"}, "How content is written")
CHANGE_KIND = _make_enum(
    "ChangeKind",
    {"ADDED": "It is new", "CHANGED": "It was changed", "DELETED": "It is gone"},
    "What happened to a node",
)
NULLS_ORDER = _make_enum(
    "NullsOrder",
    {"FIRST": "Before all values", "LAST": "Behind all values"},
    "Where rows without a value stand; they are smallest unless told",
)
DIRECTION = _make_enum("SortDirection", {"ASC": "Smallest first", "DESC": "Greatest first"}, "Which way to sort")
ORDER_FIELD = _make_enum(
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
        "field": GraphQLInputField(ORDER_FIELD, description="What to sort by,"),
        "property": GraphQLInputField(GraphQLString, description=BY_PROPERTY),
        "direction": GraphQLInputField(DIRECTION, default_value="ASC", description="Which way"),
        "nulls": GraphQLInputField(NULLS_ORDER, description=NULLS),
    },
    description="One sort key: a field or a property",
)


def pick_by_key(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    """Resolver that picks the value under the field's response key."""
    return source[info.path.key]


def field(type: Any, description: str) -> GraphQLField:
    """A field whose value was rendered together with its parent."""
    return GraphQLField(type, resolve=pick_by_key, description=description)


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
