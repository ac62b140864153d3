"""Property definitions of types, and the check of values against them.

Definitions are optional. A type without any takes plain values under every key, as in the seed; a type with some is
restricted only in the keys it defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ugs.errors import LimitExceeded, UgsError
from ugs.ontology.errors import InvalidArgument, InvalidPropertyValue, RequiredPropertyMissing
from ugs.reads.expressions import is_of_type
from ugs.regex.json_schema_pattern import MAX_TEXT_CHARS, pattern
from ugs.values import FORBIDDEN_TEXT, MAX_INT, MIN_INT

MAX_PROPERTIES = 200
MAX_CHOICES = 500
MAX_DESCRIPTION = 2_000
MAX_KEY = 256

Plain = str | int | float | bool


class Owner(StrEnum):
    """Whether a definition belongs to a node type or a connection type."""

    NODE = "node"
    CONNECTION = "connection"


class PropertyKind(StrEnum):
    """The value types of a property."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"


def is_of_kind(kind: PropertyKind, value: object) -> bool:
    """Whether a value is of a kind; a boolean is no number."""
    return is_of_type(kind.value, value)


class PropertyDefinition(Struct, frozen=True, omit_defaults=True):
    """The constraints on one property of a type."""

    name: str
    kind: PropertyKind
    required: bool = False
    enum: tuple[Plain, ...] = ()
    """The allowed values; empty: any."""
    pattern: str | None = None
    """A regular expression that a text must match (`ugs.regex.json_schema_pattern`, linear time)."""
    default: Plain | None = None
    """The value that a new element gets when none is given."""
    description: str = ""

    def find_objection(self, value: object) -> str | None:
        """Why the value is not allowed, as text for the error; None if it is."""
        if not is_of_kind(self.kind, value):
            return f"must be of kind {self.kind.value}"
        if self.enum and value not in self.enum:
            return f"must be one of {', '.join(str(choice) for choice in self.enum[:20])}"
        if self.pattern is not None and isinstance(value, str):
            if len(value) > MAX_TEXT_CHARS:
                return f"has a pattern and may have at most {MAX_TEXT_CHARS} characters"
            if not pattern(self.pattern).matches(value):
                return f"does not look like {self.pattern}"
        return None


Definitions = tuple[PropertyDefinition, ...]


def with_defaults(definitions: Definitions, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a new element, completed by the defaults of its type."""
    given = {one.name: one.default for one in definitions if one.default is not None}
    return {**given, **properties}


def check_complete(type: str, owner: Owner, definitions: Definitions, properties: Mapping[str, Any]) -> None:
    """Refuse if a required property is missing."""
    required = [one.name for one in definitions if one.required]
    missing = [name for name in required if name not in properties]
    if missing:
        raise RequiredPropertyMissing(type, required, missing, owner.value)


def check_values(definitions: Definitions, properties: Mapping[str, Any]) -> None:
    """Refuse values that the definitions do not allow."""
    for one in definitions:
        reason = one.find_objection(properties[one.name]) if one.name in properties else None
        if reason is not None:
            raise InvalidPropertyValue(one.name, reason, "")


def check_definitions(definitions: Sequence[PropertyDefinition], known: Iterable[PropertyDefinition] = ()) -> None:
    """Refuse contradictory or oversized definitions, alone or together with those the type already has."""
    names = {one.name for one in known}
    if len(names) + len(definitions) > MAX_PROPERTIES:
        raise LimitExceeded(f"a type has at most {MAX_PROPERTIES} property definitions", limit=MAX_PROPERTIES)
    for one in definitions:
        if one.name in names:
            raise InvalidArgument(f"the property {one.name[:80]} is defined already", argument="properties")
        names.add(one.name)
        _check_one(one)


def _check_one(one: PropertyDefinition) -> None:
    if not one.name.strip() or len(one.name) > MAX_KEY or FORBIDDEN_TEXT.search(one.name):
        raise InvalidArgument(f"a property's name is text of 1 to {MAX_KEY} characters", argument="name")
    if len(one.description) > MAX_DESCRIPTION or FORBIDDEN_TEXT.search(one.description):
        raise InvalidArgument(f"a description has at most {MAX_DESCRIPTION} characters", argument="description")
    if len(one.enum) > MAX_CHOICES:
        raise LimitExceeded(f"an enum has at most {MAX_CHOICES} values", limit=MAX_CHOICES)
    if one.pattern is not None:
        _check_pattern(one)
    for value in one.enum:
        if not is_of_kind(one.kind, value) or not _is_storable(value):
            raise InvalidArgument(f"{one.name}: {str(value)[:80]!r} in enum is no {one.kind.value}", argument="enum")
    reason = None if one.default is None else one.find_objection(one.default)
    if reason is not None or not _is_storable(one.default):
        raise InvalidArgument(f"{one.name}: the default {reason or 'cannot be stored'}", argument="default")


def _check_pattern(one: PropertyDefinition) -> None:
    if one.kind is not PropertyKind.STRING:
        raise InvalidArgument(f"{one.name}: only a string can have a pattern", argument="pattern")
    try:
        pattern(one.pattern or "")
    except UgsError as error:
        raise InvalidArgument(f"{one.name}: {error.message}", argument="pattern") from error


def _is_storable(value: object) -> bool:
    if isinstance(value, str):
        return FORBIDDEN_TEXT.search(value) is None
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    return not isinstance(value, int) or MIN_INT <= value <= MAX_INT
