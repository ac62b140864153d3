"""Builds the Strawberry input objects of mutations from coerced values, without graphql-core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any

from graphql import GraphQLInputObjectType, GraphQLList, get_nullable_type

from ugs_schema.compiler.row_types import NotCompilable

STRAWBERRY_DEFINITION = "strawberry-definition"
Factory = Callable[[Any], Any]


def make_factory(type: Any) -> Factory:
    """The function that converts a coerced value to the resolver's argument."""
    inner = get_nullable_type(type)
    if isinstance(inner, GraphQLList):
        make = make_factory(inner.of_type)
        return lambda values: None if values is None else [make(value) for value in values]
    if not isinstance(inner, GraphQLInputObjectType):
        return return_unchanged
    return _make_object_factory(inner)


def _make_object_factory(type: GraphQLInputObjectType) -> Factory:
    definition = type.extensions[STRAWBERRY_DEFINITION]
    if getattr(definition, "from_input", None) is not None:  # Strawberry 0.320 has no such hook
        raise NotCompilable(type.name)
    python_names = _map_python_names(type)
    factories = {
        name: one for name, field in type.fields.items() if (one := make_factory(field.type)) is not return_unchanged
    }
    nothing = dict.fromkeys(field.python_name for field in definition.fields if _has_no_default(field))
    origin = definition.origin

    def make(values: Mapping[str, Any] | None) -> Any:
        if values is None:
            return None
        # Iterates over the given fields only: input types have many fields, requests few.
        values = {
            python_names[name]: factories[name](value) if name in factories else value for name, value in values.items()
        }
        return origin(**{**nothing, **values}) if nothing else origin(**values)

    return make


def return_unchanged(value: Any) -> Any:
    """Identity: most values need no conversion."""
    return value


def _map_python_names(type: GraphQLInputObjectType) -> dict[str, str]:
    """The Python names of an input's fields."""
    fields = type.extensions[STRAWBERRY_DEFINITION].fields
    return {name: field.python_name for field, name in zip(fields, type.fields, strict=True)}


def _has_no_default(field: Any) -> bool:
    return field.default_value is MISSING and field.default_factory is MISSING
