"""Enums of the schema made from the keys of row types."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

import strawberry

from ugs_schema.compiler.row_types import Key


def make_key_enum(name: str, description: str, keys: Iterable[Key]) -> type[Enum]:
    """The GraphQL enum of what rows are filtered, grouped or sorted by."""
    made: type[Enum] = Enum(  # type: ignore[misc]
        name, {key.name: strawberry.enum_value(key.name, description=key.description) for key in keys}
    )
    return strawberry.enum(made, name=name, description=description)
