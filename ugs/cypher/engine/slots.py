"""Slot allocation: each variable has a slot of the row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ugs.cypher.engine.run import Row

Fn = Callable[[Row], Any]
"""A compiled expression."""


class Layout:
    """Allocates the slots of a query; slot 0 is the run."""

    def __init__(self) -> None:
        self.width = 1

    def slot(self) -> int:
        self.width += 1
        return self.width - 1


class Env:
    """The names that can be used at a place, with their slots."""

    def __init__(self, layout: Layout, scope: dict[str, int] | None = None) -> None:
        self.layout = layout
        self.scope = scope or {}

    def __contains__(self, name: str) -> bool:
        return name in self.scope

    def __getitem__(self, name: str) -> int:
        return self.scope[name]

    def plus(self, names: Iterable[str]) -> Env:
        """An environment with new slots for these names, which shadow older ones."""
        return Env(self.layout, {**self.scope, **{name: self.layout.slot() for name in names}})

    def bind(self, slots: dict[str, int]) -> Env:
        return Env(self.layout, {**self.scope, **slots})
