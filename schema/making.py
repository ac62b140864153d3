"""Inputs of mutations made of coerced values, without the executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any

from graphql import GraphQLInputObjectType, GraphQLList, get_nullable_type

from schema.selection import Choice
from schema.templates import plain_object
from schema.writers import NotCompiled

OURS = "strawberry-definition"
Make = Callable[[Any], Any]


def maker_of(type: Any) -> Make:
    """How a coerced value becomes what a resolver takes."""
    inner = get_nullable_type(type)
    if isinstance(inner, GraphQLList):
        make = maker_of(inner.of_type)
        return lambda values: None if values is None else [make(value) for value in values]
    if not isinstance(inner, GraphQLInputObjectType):
        return as_it_is
    return _object_maker(inner)


def _object_maker(type: GraphQLInputObjectType) -> Make:
    definition = type.extensions[OURS]
    if definition.from_input is not None:
        raise NotCompiled(type.name)
    own = _own_names(type)
    makers = {name: one for name, field in type.fields.items() if (one := maker_of(field.type)) is not as_it_is}
    nothing = dict.fromkeys(field.python_name for field in definition.fields if _has_no_default(field))
    origin = definition.origin

    def make(given: Mapping[str, Any] | None) -> Any:
        if given is None:
            return None
        # Only what is given is looked at: inputs have many fields, and requests few of them.
        known = {own[name]: makers[name](value) if name in makers else value for name, value in given.items()}
        return origin(**{**nothing, **known}) if nothing else origin(**known)

    return make


def as_it_is(value: Any) -> Any:
    """Most values are taken as they were coerced."""
    return value


def _own_names(type: GraphQLInputObjectType) -> dict[str, str]:
    """What the fields of an input are called in Python."""
    fields = type.extensions[OURS].fields
    return {name: field.python_name for field, name in zip(fields, type.fields, strict=True)}


def _has_no_default(field: Any) -> bool:
    return field.default_value is MISSING and field.default_factory is MISSING


# ── straight from the variables ──────────────────────────────────────────────


def straight_maker(choice: Choice) -> Callable[[Mapping[str, Any]], Any] | None:
    """How the variables become the one argument of a field, if it is an object whose fields are variables or known.

    What is made is None where a variable has no value: only the usual way knows what that means. It is a copy of an
    object that was made the usual way, with other values: nothing is coerced and nobody is asked for defaults again.
    """
    field, node = choice.parent.fields[choice.name], choice.nodes[0]
    given = node.arguments or ()
    if len(field.args) != 1 or len(given) != 1:
        return None
    inner = get_nullable_type(next(iter(field.args.values())).type)
    plain = plain_object(given[0].value, inner)
    if plain is None or any(maker_of(inner.fields[name].type) is not as_it_is for name in plain.variables):
        return None
    own = _own_names(inner)
    return _copier(maker_of(inner)(plain.known), {own[name]: its for name, its in plain.variables.items()})


def _copier(first: Any, variables: Mapping[str, str]) -> Callable[[Mapping[str, Any]], Any] | None:
    known, pairs = vars(first), list(variables.items())
    origin: Any = type(first)
    if hasattr(origin, "__post_init__") or any(isinstance(value, list | dict) for value in known.values()):
        return None

    def straight(coerced: Mapping[str, Any]) -> Any:
        made = object.__new__(origin)
        attributes = made.__dict__
        attributes.update(known)
        for own, its in pairs:
            value = coerced.get(its)
            if value is None:
                return None
            attributes[own] = value
        return made

    return straight
