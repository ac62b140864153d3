"""Warnings of commands that succeeded."""

from __future__ import annotations

from collections.abc import Iterable

import strawberry

from ugs.feature import CommandWarning


@strawberry.type(description="Something to know although the request was done")
class Warning:
    code: str = strawberry.field(description="W001 for a missing endpoint, and so on")
    message: str = strawberry.field(description="In words")
    id: strawberry.ID | None = strawberry.field(description="The element it is about")


def to_graphql_warnings(warnings: Iterable[CommandWarning]) -> list[Warning]:
    """The GraphQL objects of warnings."""
    return [
        Warning(code=one.code, message=one.message, id=None if one.id is None else strawberry.ID(one.id))
        for one in warnings
    ]
