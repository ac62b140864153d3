"""The GraphQL shape of the graph: types and fields, nothing about HTTP."""

from __future__ import annotations

import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from schema.limits import limits
from schema.query import Query
from schema.scalars import SCALARS

__all__ = ["build_schema"]


class Schema(strawberry.Schema):
    """Leaves errors to `schema.errors`, which decides what is told to whom."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        pass


def build_schema() -> Schema:
    """The schema with its limits, ready to execute."""
    return Schema(query=Query, config=StrawberryConfig(scalar_map=SCALARS), extensions=limits())
