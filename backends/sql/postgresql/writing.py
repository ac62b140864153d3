"""Answers written by PostgreSQL, for one set of values or for many at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from backends.sql.postgresql.bulks import sent
from backends.sql.writing import TYPES, Writing

_PLACEHOLDER = re.compile(r"\$(\d+)")


class PostgresqlWriting(Writing):
    """Writes statements that answer several requests together, too."""

    @staticmethod
    def together(text: str, values: Sequence[Any]) -> str | None:
        if not values or any(type(value) not in TYPES for value in values):
            return None
        many = ", ".join(f"${number}::{TYPES[type(value)]}[]" for number, value in enumerate(values, 1))
        names = ", ".join(f"c{number}" for number in range(1, len(values) + 1))
        one = _PLACEHOLDER.sub(lambda found: f"k.c{found[1]}", text)
        return f"SELECT ({one}) FROM unnest({many}) WITH ORDINALITY AS k({names}, turn) ORDER BY k.turn"

    @staticmethod
    def sent(text: str, columns: list[Sequence[Any]]) -> tuple[str, list[Sequence[Any]]]:
        return sent(text, columns)
