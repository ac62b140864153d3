"""Renders JSON in PostgreSQL, for one set of values or for many at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ugs_backends.sql.plans.json_renderer import TYPES, JsonRenderer
from ugs_backends.sql.postgresql.json_expressions import EXPRESSIONS
from ugs_backends.sql.postgresql.statement_batch import pack_columns

_PLACEHOLDER = re.compile(r"\$(\d+)")


class PostgresqlJsonRenderer(JsonRenderer):
    """Adds statements that serve several requests together."""

    expressions = EXPRESSIONS

    @staticmethod
    def combine_calls(text: str, values: Sequence[Any]) -> str | None:
        if not values or any(type(value) not in TYPES for value in values):
            return None
        many = ", ".join(f"${number}::{TYPES[type(value)]}[]" for number, value in enumerate(values, 1))
        names = ", ".join(f"c{number}" for number in range(1, len(values) + 1))
        one = _PLACEHOLDER.sub(lambda found: f"k.c{found[1]}", text)
        return f"SELECT ({one}) FROM unnest({many}) WITH ORDINALITY AS k({names}, turn) ORDER BY k.turn"

    @staticmethod
    def pack_values(text: str, columns: list[Sequence[Any]]) -> tuple[str, list[Sequence[Any]]]:
        return pack_columns(text, columns)
