"""An aggregate function for SQLite, whose own `sum` rounds floats in the order in which it meets them."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from typing import Any

from ugs.reads.aggregation import EXACT
from ugs.reads.sort_keys import parse_number_text

EXACT_SUM = "ugs_exact_sum"


class ExactSum:
    """Adds numbers, and encoded numbers (`property_codec`), without rounding; the result is a text."""

    def __init__(self) -> None:
        self.integers, self.floats = 0, Decimal(0)

    def step(self, value: int | float | str | None) -> None:
        """Add a number; NULL is none."""
        if value is None:
            return
        number = parse_number_text(value[1:]) if isinstance(value, str) else value
        if isinstance(number, int):
            self.integers += number
        else:
            self.floats = EXACT.add(self.floats, Decimal(repr(number)))

    def finalize(self) -> Any:  # typeshed knows of integers only
        """The sum."""
        return str(EXACT.add(self.floats, Decimal(self.integers)))


def add_exact_sum(connection: sqlite3.Connection) -> None:
    """Make the function known to a connection."""
    connection.create_aggregate(EXACT_SUM, 1, ExactSum)
