"""A typed decorator for Strawberry fields with a description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import strawberry
from strawberry.types.field import StrawberryField


def field(description: str, name: str | None = None) -> Callable[[Callable[..., Any]], StrawberryField]:
    """Turn a method into a GraphQL field."""

    def decorate(resolver: Callable[..., Any]) -> StrawberryField:
        return strawberry.field(resolver, name=name, description=description)

    return decorate
