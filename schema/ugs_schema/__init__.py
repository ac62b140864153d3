"""The GraphQL schema of the graph: types, fields and their compiler. Independent of HTTP."""

from __future__ import annotations

from typing import Any

import strawberry
from graphql import GraphQLError
from strawberry.tools import merge_types

from ugs_schema.roots import Mutation, Query, Subscription
from ugs_schema.scalars import SCALARS

__all__ = ["build_schema"]


class GatewaySchema(strawberry.Schema):
    """Does not log errors: endpoints do, because most errors are rejections that only the client needs to see."""

    def process_errors(self, errors: list[GraphQLError], execution_context: Any = None) -> None:
        return None


def build_schema(federation: bool = False) -> strawberry.Schema:
    """Build the schema, or that of a subgraph; limits are checked by `ugs_schema.compiler.executor`."""
    query, scalars = Query, SCALARS
    if federation:
        from ugs_schema.schema_variants import REPRESENTATION, FederationQuery, Representation

        query, scalars = merge_types("Query", (Query, FederationQuery)), {**SCALARS, Representation: REPRESENTATION}
    return GatewaySchema(
        query=query,
        mutation=Mutation,
        subscription=Subscription,
        config=strawberry.schema.config.StrawberryConfig(scalar_map=scalars),
    )
