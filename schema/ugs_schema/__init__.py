"""The GraphQL schema of the graph: types, fields and their compiler. Independent of HTTP."""

from __future__ import annotations

from typing import Any

import strawberry
from graphql import GraphQLError

from ugs_schema.roots import Mutation, Query, Subscription
from ugs_schema.scalars import SCALARS

__all__ = ["build_schema"]


class GatewaySchema(strawberry.Schema):
    """Does not log errors: endpoints do, because most errors are rejections that only the client needs to see."""

    def process_errors(self, errors: list[GraphQLError], execution_context: Any = None) -> None:
        return None


def build_schema() -> strawberry.Schema:
    """Build the schema; limits are checked by `ugs_schema.compiler.executor`."""
    return GatewaySchema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        config=strawberry.schema.config.StrawberryConfig(scalar_map=SCALARS),
    )
