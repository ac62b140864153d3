"""Builds the Strawberry input objects of mutations from coerced values, without graphql-core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any

from graphql import GraphQLInputObjectType, GraphQLList, get_nullable_type

from ugs_schema.compiler.plan_templates import parse_flat_object
from ugs_schema.compiler.row_types import NotCompilable
from ugs_schema.compiler.selection import SelectedField

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
    if definition.from_input is not None:
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


# ── straight from the variables ──────────────────────────────────────────────


def make_direct_factory(selected_field: SelectedField) -> Callable[[Mapping[str, Any]], Any] | None:
    """A function that builds a field's only argument from the variables, if it is an object of variables and constants.

    It copies the attributes of an object that was built once and sets the variables, without coercion or defaults. It
    gives None if a variable has no value; the general path then applies the rules of the specification.
    """
    field, node = selected_field.parent.fields[selected_field.name], selected_field.nodes[0]
    values = node.arguments or ()
    if len(field.args) != 1 or len(values) != 1:
        return None
    inner = get_nullable_type(next(iter(field.args.values())).type)
    plain = parse_flat_object(values[0].value, inner)
    if plain is None or any(make_factory(inner.fields[name].type) is not return_unchanged for name in plain.variables):
        return None
    python_names = _map_python_names(inner)
    return _make_copier(
        make_factory(inner)(plain.constants),
        {python_names[name]: variable_name for name, variable_name in plain.variables.items()},
    )


def _make_copier(first: Any, variables: Mapping[str, str]) -> Callable[[Mapping[str, Any]], Any] | None:
    values, pairs = vars(first), list(variables.items())
    origin: Any = type(first)
    if hasattr(origin, "__post_init__") or any(isinstance(value, list | dict) for value in values.values()):
        return None

    def build(coerced: Mapping[str, Any]) -> Any:
        # Skips __init__, which is safe because the class has no __post_init__ and no mutable attribute is shared.
        made = object.__new__(origin)
        attributes = made.__dict__
        attributes.update(values)
        for python_names, variable_name in pairs:
            value = coerced.get(variable_name)
            if value is None:
                return None
            attributes[python_names] = value
        return made

    return build
