"""The printed schema is true, documented throughout, and changes only on purpose."""

from __future__ import annotations

from importlib.resources import files

import pytest
from graphql import GraphQLEnumType, GraphQLInputObjectType, GraphQLSchema, build_schema, find_breaking_changes
from graphql.type import GraphQLInterfaceType, GraphQLObjectType

from ugs_schema import build_schema as build

PRINTED = (files("ugs_schema") / "schema.graphql").read_text()


@pytest.fixture(scope="module")
def core() -> GraphQLSchema:
    return build()._schema


def test_the_printed_schema_is_true() -> None:
    assert build().as_str() + "\n" == PRINTED


def test_nothing_breaks_for_clients_of_the_printed_schema(core: GraphQLSchema) -> None:
    assert find_breaking_changes(build_schema(PRINTED), core) == []


def test_everything_is_described(core: GraphQLSchema) -> None:
    silent: list[str] = []
    for name, kind in core.type_map.items():
        if name.startswith("__") or name in ("String", "Int", "Float", "Boolean", "ID"):
            continue
        if not kind.description and name not in ("Query", "Mutation", "Subscription"):
            silent.append(name)
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
            silent += [f"{name}.{field}" for field, found in kind.fields.items() if not found.description]
        if isinstance(kind, GraphQLEnumType) and name not in ("EventType", "Scope", "SystemState"):
            silent += [f"{name}.{value}" for value, found in kind.values.items() if not found.description]
    assert silent == []
