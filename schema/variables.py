"""Variables read the short way: values that are already what their type wants need no coercion.

Most requests bring texts, whole numbers and JSON. Those are checked here, by type alone. Anything else, or anything
wrong, is read by the book (`graphql.get_variable_values`), which knows every rule and every error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphql import (
    GraphQLError,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    OperationDefinitionNode,
    get_variable_values,
    type_from_ast,
)
from graphql.execution.values import VariableValues

from ugs.errors import UgsError

MISSING = object()
NOTHING = VariableValues({}, {})
LARGEST = 2**31 - 1


class NeedsTheBook(Exception):
    """This value is not plainly right."""


def _text(value: Any) -> str:
    if type(value) is not str:
        raise NeedsTheBook
    return value


def _number(value: Any) -> int:
    if type(value) is not int or not -LARGEST <= value <= LARGEST:
        raise NeedsTheBook
    return value


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise NeedsTheBook
    return value


def _json(value: Any) -> Any:
    # Every door has checked the request as a whole when it parsed it, and whatever is stored is checked once more.
    return value


QUICK: Mapping[str, Callable[[Any], Any]] = {
    "ID": _text,
    "String": _text,
    "Int": _number,
    "Boolean": _truth,
    "JSON": _json,
}


USUAL: Mapping[str, type] = {"ID": str, "String": str, "Boolean": bool, "JSON": dict}
"""Values of these classes are right without a further look."""


class Variables:
    """Reads the variables of one operation."""

    def __init__(self, schema: GraphQLSchema, operation: OperationDefinitionNode) -> None:
        self.schema, self.definitions = schema, operation.variable_definitions or ()
        self._quick = [self._reader(definition) for definition in self.definitions]

    def _reader(self, definition: Any) -> tuple[str, type | None, Callable[[Any], Any] | None, bool, bool]:
        """Name, the class that needs no check, the quick check if there is one, whether it must be given, and whether
        there is something else if not."""
        found = type_from_ast(self.schema, definition.type)
        required = isinstance(found, GraphQLNonNull)
        named = found.of_type if isinstance(found, GraphQLNonNull) else found
        quick, usual = None, None
        if isinstance(named, GraphQLScalarType):
            quick, usual = QUICK.get(named.name), USUAL.get(named.name)
        return definition.variable.name.value, usual, quick, required, definition.default_value is not None

    def __call__(self, given: Mapping[str, Any]) -> VariableValues | None:
        """The values, or None where they are wrong."""
        if not self.definitions:
            return NOTHING
        try:
            return VariableValues({}, self._plainly(given))
        except (NeedsTheBook, GraphQLError, UgsError):
            found = get_variable_values(self.schema, self.definitions, dict(given))
            return None if isinstance(found, list) else found

    def _plainly(self, given: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, usual, quick, required, has_default in self._quick:
            value = given.get(name, MISSING)
            if type(value) is usual:
                values[name] = value
            elif value is MISSING:
                if required or has_default:
                    raise NeedsTheBook
            elif value is None:
                if required:
                    raise NeedsTheBook
                values[name] = None
            elif quick is None:
                raise NeedsTheBook
            else:
                values[name] = quick(value)
        return values
