"""Fast coercion of variables: values that already have the right Python type are taken as they are.

Most requests send strings, integers and JSON, which are checked by type alone. Everything else, and every error, is
left to `graphql.get_variable_values`.
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
    get_nullable_type,
    get_variable_values,
    is_input_object_type,
    is_leaf_type,
    is_list_type,
    type_from_ast,
)
from graphql.execution.values import VariableValues

from ugs.errors import UgsError

MISSING = object()
NO_VARIABLES = VariableValues({}, {})
MAX_INT32 = 2**31 - 1


class NeedsFullCoercion(Exception):
    """The value has to be coerced by graphql-core."""


def _check_text(value: Any) -> str:
    if type(value) is not str:
        raise NeedsFullCoercion
    return value


def _check_number(value: Any) -> int:
    if type(value) is not int or not -MAX_INT32 <= value <= MAX_INT32:
        raise NeedsFullCoercion
    return value


def _check_boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise NeedsFullCoercion
    return value


def _accept_json(value: Any) -> Any:
    # Every endpoint validates JSON when it parses the request, and values are checked again before they are stored.
    return value


FAST_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "ID": _check_text,
    "String": _check_text,
    "Int": _check_number,
    "Boolean": _check_boolean,
    "JSON": _accept_json,
}


UNCHECKED_CLASSES: Mapping[str, type] = {"ID": str, "String": str, "Boolean": bool, "JSON": dict}
"""Values of exactly these classes need no further check."""


class Variables:
    """Coerces the variables of one operation."""

    def __init__(self, schema: GraphQLSchema, operation: OperationDefinitionNode) -> None:
        self.schema, self.definitions = schema, operation.variable_definitions or ()
        self._descriptions = [self._describe(definition) for definition in self.definitions]
        self._composite = self._find_composite_types()

    def _describe(self, definition: Any) -> tuple[str, type | None, Callable[[Any], Any] | None, bool, bool]:
        """Name, the class that needs no check, the fast check if there is one, whether it is required, and whether it
        has a default."""
        found = type_from_ast(self.schema, definition.type)
        required = isinstance(found, GraphQLNonNull)
        named = found.of_type if isinstance(found, GraphQLNonNull) else found
        check, unchecked_class = None, None
        if isinstance(named, GraphQLScalarType):
            check, unchecked_class = FAST_CHECKS.get(named.name), UNCHECKED_CLASSES.get(named.name)
        return definition.variable.name.value, unchecked_class, check, required, definition.default_value is not None

    def _find_composite_types(self) -> list[tuple[str, Any]]:
        """Variables whose values are lists or input objects, with their types."""
        types: list[tuple[str, Any]] = [
            (one.variable.name.value, type_from_ast(self.schema, one.type)) for one in self.definitions
        ]
        return [(name, type) for name, type in types if type is not None and not is_leaf_type(get_nullable_type(type))]

    def count_values(self, raw_values: Mapping[str, Any], limit: int) -> int:
        """How many values lists and input objects hold, without JSON; stops counting beyond `limit`."""
        count, waiting = 0, [(raw_values[name], type) for name, type in self._composite if name in raw_values]
        while waiting and count <= limit:
            value, type = waiting.pop()
            type = get_nullable_type(type)
            if is_list_type(type):
                inner = type.of_type
                items = value if isinstance(value, list) else [value]
                count += len(items)
                if count <= limit and not is_leaf_type(get_nullable_type(inner)):
                    waiting += [(item, inner) for item in items]
            elif is_input_object_type(type) and isinstance(value, dict):
                count += len(value)
                fields = type.fields
                waiting += [(item, fields[name].type) for name, item in value.items() if name in fields]
        return count

    def __call__(self, raw_values: Mapping[str, Any]) -> VariableValues | None:
        """The coerced values; None if they are invalid."""
        if not self.definitions:
            return NO_VARIABLES
        try:
            return VariableValues({}, self._coerce_fast(raw_values))
        except (NeedsFullCoercion, GraphQLError, UgsError):
            found = get_variable_values(self.schema, self.definitions, dict(raw_values))
            return None if isinstance(found, list) else found

    def _coerce_fast(self, raw_values: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, unchecked_class, check, required, has_default in self._descriptions:
            value = raw_values.get(name, MISSING)
            if type(value) is unchecked_class:
                values[name] = value
            elif value is MISSING:
                if required or has_default:
                    raise NeedsFullCoercion
            elif value is None:
                if required:
                    raise NeedsFullCoercion
                values[name] = None
            elif check is None:
                raise NeedsFullCoercion
            else:
                values[name] = check(value)
        return values
