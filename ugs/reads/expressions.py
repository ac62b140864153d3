"""Values computed from the columns of a row, with one meaning on every store.

`text` is the reference: JSON text from the values of `fields`. A store that renders rows itself may compute the same
characters natively; one that does not know an expression calls `text`. The both-ways tests compare them.
"""

from __future__ import annotations

from typing import Any

from ugs.clock import iso
from ugs.reads.rendering import NULL, Column, Expression, Text, json_of
from ugs.values import JsonText, from_text


class FirstProperty(Expression, frozen=True, eq=False):
    """The first of some keys of a JSON object whose value is a text that is not empty; else the text of a column."""

    field: str
    keys: tuple[str, ...]
    otherwise: str

    @property
    def fields(self) -> tuple[str, ...]:
        return self.field, self.otherwise

    def text(self, *values: Any) -> str:
        properties, otherwise = from_text(values[0]), values[1]
        found = (properties.get(key) for key in self.keys)
        return json_of(next((value for value in found if isinstance(value, str) and value), otherwise))


class Instant(Expression, frozen=True, eq=False):
    """A Unix time in milliseconds as an ISO 8601 text in UTC."""

    field: str

    @property
    def fields(self) -> tuple[str, ...]:
        return (self.field,)

    def text(self, *values: Any) -> str:
        return f'"{iso(values[0])}"'


class ByPrefix(Expression, frozen=True, eq=False):
    """One of some texts, by what a column begins with."""

    field: str
    texts: tuple[tuple[str, str], ...]
    """Prefixes, none of which begins with another, and the JSON text for each."""
    otherwise: str

    @property
    def fields(self) -> tuple[str, ...]:
        return (self.field,)

    def text(self, *values: Any) -> str:
        return next((text for prefix, text in self.texts if values[0].startswith(prefix)), self.otherwise)


class Joined(Expression, frozen=True, eq=False):
    """Literal texts and text columns, which are never null, one after another."""

    parts: tuple[Text | Column, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(part.field for part in self.parts if isinstance(part, Column))

    def text(self, *values: Any) -> str:
        left = iter(values)
        return json_of("".join([part.text if isinstance(part, Text) else next(left) for part in self.parts]))


JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}


class JsonKey(Expression, frozen=True, eq=False):
    """The value of a key of a JSON object, null without one, and null for values of other types if one is named."""

    field: str
    key: str
    type: str | None = None
    """One of `JSON_TYPES`, or None for any value."""

    @property
    def fields(self) -> tuple[str, ...]:
        return (self.field,)

    def text(self, *values: Any) -> str:
        value = _object(values[0]).get(self.key)
        if self.type is None or is_of_type(self.type, value):
            return json_of(value)
        return NULL


def is_of_type(type: str, value: object) -> bool:
    """Whether a JSON value has a type; booleans are no numbers, and an integer is a number too."""
    if isinstance(value, bool):
        return type == "boolean"
    return isinstance(value, JSON_TYPES[type])


def _object(text: JsonText) -> dict[str, Any]:
    found: dict[str, Any] = from_text(text)
    return found
