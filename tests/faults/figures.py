"""Figures of a run: what each fault test counted, as a table for people and a file for programs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

Number = int | float | str


class Figures:
    """Rows by fault and store, in the order in which they were measured."""

    def __init__(self, tier: str) -> None:
        self.tier = tier
        self.rows: dict[str, dict[str, Number]] = {}

    def add(self, fault: str, **numbers: Number) -> None:
        """Put down what a test counted; `fault` is its id, with the store where it matters."""
        self.rows.setdefault(fault, {}).update(numbers)

    @contextmanager
    def timed(self, fault: str) -> Iterator[None]:
        """Put down how long the block took."""
        begun = time.monotonic()
        yield
        self.add(fault, seconds=round(time.monotonic() - begun, 1))

    def lines(self) -> list[str]:
        """The table, a fault a line."""
        wide = max((len(fault) for fault in self.rows), default=0)
        return [f"{fault:<{wide}}  {told(numbers)}" for fault, numbers in self.rows.items()]

    def write(self, path: Path) -> None:
        """Keep the figures for programs."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"tier": self.tier, "figures": self.rows}, indent=2) + "\n")


def told(numbers: dict[str, Number]) -> str:
    return ", ".join(f"{value:,} {name}" if not isinstance(value, str) else value for name, value in named(numbers))


def named(numbers: dict[str, Number]) -> list[tuple[str, Number]]:
    return [(name.replace("_", " "), value) for name, value in numbers.items()]
