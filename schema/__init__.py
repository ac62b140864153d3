"""The GraphQL shape of the graph: types and fields, nothing about HTTP."""

from __future__ import annotations

from typing import Any

import strawberry
from graphql import GraphQLError

from schema.scalars import SCALARS
from schema.topics import Mutation, Query, Subscription

__all__ = ["build_schema"]


class GatewaySchema(strawberry.Schema):
    """Leaves it to the door to log errors: most are refusals that only their caller needs to hear of."""

    def process_errors(self, errors: list[GraphQLError], execution_context: Any = None) -> None:
        return None


def build_schema() -> strawberry.Schema:
    """The schema, ready to execute; limits are checked by `schema.operations`."""
    return GatewaySchema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        config=strawberry.schema.config.StrawberryConfig(scalar_map=SCALARS),
    )
