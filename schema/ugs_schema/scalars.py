"""Custom scalars: 64-bit times and positions, instants, UUIDs and JSON."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NewType
from uuid import UUID

import strawberry
from graphql import GraphQLError, Undefined, ValueNode, value_from_ast_untyped

from ugs.clock import utc
from ugs.errors import UgsError
from ugs.identity import Scope
from ugs.large_json import check_once
from ugs.values import MAX_INT

Millis = NewType("Millis", int)
Position = NewType("Position", int)
Instant = NewType("Instant", datetime)
Json = NewType("Json", object)
Uuid = NewType("Uuid", str)


# Registered before any type mentions it, or Strawberry would make a second enum of the same name.
strawberry.enum(Scope, name="Scope", description="A namespace of ids: DEFAULT has no prefix")


def parse_whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INT:
        raise GraphQLError(f"Expected a whole number from 0 to {MAX_INT}, got {str(value)[:40]!r}")
    return value


def parse_json_value(value: Any) -> Any:
    try:
        check_once(value)
    except UgsError as error:
        raise GraphQLError(error.message) from error
    return value


def parse_json_literal(node: ValueNode, variables: dict[str, Any] | None = None) -> Any:
    """A JSON literal, possibly with variables inside; during validation these have no values yet."""
    return parse_json_value(_drop_undefined(value_from_ast_untyped(node, variables)))


def _drop_undefined(value: Any) -> Any:
    """Omit keys whose variable has no value; in lists, where that would shift items, use null."""
    if isinstance(value, dict):
        return {key: _drop_undefined(item) for key, item in value.items() if item is not Undefined}
    if isinstance(value, list):
        return [None if item is Undefined else _drop_undefined(item) for item in value]
    return value


def parse_instant(value: Any) -> datetime:
    """Parse an instant, which must have a time zone to be unambiguous."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise GraphQLError(f"Expected a time such as 2026-01-31T12:00:00Z, got {str(value)[:40]!r}") from error
    if moment.tzinfo is None:
        raise GraphQLError(f"The time {value!r} names no zone: add Z or an offset such as +02:00")
    return moment


def _format_instant(moment: datetime) -> str:
    # Graph times have milliseconds, fact times microseconds: both are written without loss or padding.
    timespec = "microseconds" if moment.microsecond % 1_000 else "milliseconds"
    return moment.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def _parse_uuid(value: Any) -> str:
    try:
        return str(UUID(value))
    except (AttributeError, TypeError, ValueError) as error:
        raise GraphQLError(f"Expected a UUID, got {str(value)[:40]!r}") from error


SCALARS: dict[object, Any] = {
    Millis: strawberry.scalar(
        name="Millis", description="Unix time in milliseconds (64 bit)", serialize=int, parse_value=parse_whole_number
    ),
    Position: strawberry.scalar(
        name="Position",
        description="Place in the event log (64 bit, from 1, gapless)",
        serialize=int,
        parse_value=parse_whole_number,
    ),
    Instant: strawberry.scalar(
        name="DateTime", description="UTC time, ISO 8601 with Z", serialize=_format_instant, parse_value=parse_instant
    ),
    Uuid: strawberry.scalar(
        name="UUID", description="A UUID in its usual form", serialize=str, parse_value=_parse_uuid
    ),
    Json: strawberry.scalar(
        name="JSON",
        description="Any JSON value; strings that match @(…) are addresses",
        serialize=lambda value: value,
        parse_value=parse_json_value,
        parse_literal=parse_json_literal,
    ),
}


def instant_of(millis: int) -> Instant:
    """The instant of a stored time."""
    # Whole seconds first: a fraction of a large number of seconds is not exact.
    return Instant(utc(millis // 1_000) + timedelta(milliseconds=millis % 1_000))
