"""The scalars GraphQL lacks: 64-bit times and positions, instants, and JSON as it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NewType
from uuid import UUID

import strawberry
from graphql import GraphQLError, Undefined, ValueNode, value_from_ast_untyped

from ugs.clock import utc
from ugs.errors import UgsError
from ugs.identity import Scope
from ugs.values import MAX_INT, check_value

Millis = NewType("Millis", int)
Position = NewType("Position", int)
Instant = NewType("Instant", datetime)
Json = NewType("Json", object)
Uuid = NewType("Uuid", str)


# Registered before any type mentions it, or Strawberry would make a second enum of the same name.
strawberry.enum(Scope, name="Scope", description="A namespace of ids: DEFAULT has no prefix")


def whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INT:
        raise GraphQLError(f"Expected a whole number from 0 to {MAX_INT}, got {str(value)[:40]!r}")
    return value


def json_value(value: Any) -> Any:
    try:
        check_value(value)
    except UgsError as error:
        raise GraphQLError(error.message) from error
    return value


def json_literal(node: ValueNode, variables: dict[str, Any] | None = None) -> Any:
    """JSON written into a document, with variables in it; while that is only validated, they have no values yet."""
    return json_value(_without_gaps(value_from_ast_untyped(node, variables)))


def _without_gaps(value: Any) -> Any:
    """Variables without a value leave a key out; in a list, where they would move others, they are null."""
    if isinstance(value, dict):
        return {key: _without_gaps(item) for key, item in value.items() if item is not Undefined}
    if isinstance(value, list):
        return [None if item is Undefined else _without_gaps(item) for item in value]
    return value


def instant_given(value: Any) -> datetime:
    """An instant must say its zone: a clock time alone means different moments in different places."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise GraphQLError(f"Expected a time such as 2026-01-31T12:00:00Z, got {str(value)[:40]!r}") from error
    if moment.tzinfo is None:
        raise GraphQLError(f"The time {value!r} names no zone: add Z or an offset such as +02:00")
    return moment


def _written(moment: datetime) -> str:
    # The graph counts milliseconds, facts count microseconds; nothing is lost and nothing is padded.
    timespec = "microseconds" if moment.microsecond % 1_000 else "milliseconds"
    return moment.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def _uuid(value: Any) -> str:
    try:
        return str(UUID(value))
    except (AttributeError, TypeError, ValueError) as error:
        raise GraphQLError(f"Expected a UUID, got {str(value)[:40]!r}") from error


SCALARS: dict[object, Any] = {
    Millis: strawberry.scalar(
        name="Millis", description="Unix time in milliseconds (64 bit)", serialize=int, parse_value=whole_number
    ),
    Position: strawberry.scalar(
        name="Position",
        description="Place in the event log (64 bit, from 1, gapless)",
        serialize=int,
        parse_value=whole_number,
    ),
    Instant: strawberry.scalar(
        name="DateTime", description="UTC time, ISO 8601 with Z", serialize=_written, parse_value=instant_given
    ),
    Uuid: strawberry.scalar(name="UUID", description="A UUID in its usual form", serialize=str, parse_value=_uuid),
    Json: strawberry.scalar(
        name="JSON",
        description="Any JSON value; strings that match @(…) are addresses",
        serialize=lambda value: value,
        parse_value=json_value,
        parse_literal=json_literal,
    ),
}


def instant_text(millis: int) -> str:
    """A stored time as a DateTime is written."""
    return _written(utc(millis / 1000))


def instant_of(millis: int) -> Instant:
    """The moment a stored time means."""
    return Instant(utc(millis / 1000))
