"""Property definitions: what an ontology may say about the properties of a type, and whether values keep to it.

They are optional. A type without definitions takes any plain value under any key, as the seed has it; a type with
some is bound only in the keys it defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ugs.errors import LimitExceeded, UgsError
from ugs.ontology.errors import InvalidArgument, InvalidPropertyValue, RequiredPropertyMissing
from ugs.patterns import MAX_TEXT, pattern
from ugs.values import FORBIDDEN_TEXT, MAX_INT, MIN_INT

MAX_PROPERTIES = 200
MAX_CHOICES = 500
MAX_DESCRIPTION = 2_000
MAX_KEY = 256

Plain = str | int | float | bool


class Owner(StrEnum):
    """What kind of type a definition belongs to."""

    NODE = "node"
    CONNECTION = "connection"


class PropertyKind(StrEnum):
    """What a property holds."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"


KINDS: Mapping[PropertyKind, tuple[type, ...]] = {
    PropertyKind.STRING: (str,),
    PropertyKind.INTEGER: (int,),
    PropertyKind.NUMBER: (int, float),
    PropertyKind.BOOLEAN: (bool,),
}


def is_of(kind: PropertyKind, value: object) -> bool:
    """Whether a value is of a kind; a boolean is no number."""
    if isinstance(value, bool):
        return kind is PropertyKind.BOOLEAN
    return isinstance(value, KINDS[kind])


class PropertyDefinition(Struct, frozen=True, omit_defaults=True):
    """What one property of a type must be."""

    name: str
    kind: PropertyKind
    required: bool = False
    enum: tuple[Plain, ...] = ()
    """The values it may have; any when there are none."""
    pattern: str | None = None
    """What a text must look like (`ugs.patterns`)."""
    default: Plain | None = None
    """What a new element gets when nothing is given."""
    description: str = ""

    def objection(self, value: object) -> str | None:
        """Why the property may not have this value; None when it may."""
        if not is_of(self.kind, value):
            return f"must be of kind {self.kind.value}"
        if self.enum and value not in self.enum:
            return f"must be one of {', '.join(str(choice) for choice in self.enum[:20])}"
        if self.pattern is not None and isinstance(value, str):
            if len(value) > MAX_TEXT:
                return f"has a pattern and may have at most {MAX_TEXT} characters"
            if not pattern(self.pattern).matches(value):
                return f"does not look like {self.pattern}"
        return None


Definitions = tuple[PropertyDefinition, ...]


def with_defaults(definitions: Definitions, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a new element, completed by what the type says."""
    given = {one.name: one.default for one in definitions if one.default is not None}
    return {**given, **properties}


def check_complete(type: str, owner: Owner, definitions: Definitions, properties: Mapping[str, Any]) -> None:
    """Refuse when a required property is not there."""
    required = [one.name for one in definitions if one.required]
    missing = [name for name in required if name not in properties]
    if missing:
        raise RequiredPropertyMissing(type, required, missing, owner.value)


def check_values(definitions: Definitions, properties: Mapping[str, Any]) -> None:
    """Refuse values that the definitions do not allow."""
    for one in definitions:
        reason = one.objection(properties[one.name]) if one.name in properties else None
        if reason is not None:
            raise InvalidPropertyValue(one.name, reason, "")


def check_definitions(definitions: Sequence[PropertyDefinition], known: Iterable[PropertyDefinition] = ()) -> None:
    """Refuse definitions that make no sense, alone or beside those that a type has already."""
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
        if not is_of(one.kind, value) or not _is_storable(value):
            raise InvalidArgument(f"{one.name}: {str(value)[:80]!r} in enum is no {one.kind.value}", argument="enum")
    reason = None if one.default is None else one.objection(one.default)
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
