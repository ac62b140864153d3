"""The conditions of a MATCH that wait for their variables, found by variable.

A pattern may have thousands of elements with conditions, and each step of its plan asks which conditions look at one
variable and which have become ready: both are look-ups here, so that planning does not grow with the cube of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ugs.cypher import syntax as s
from ugs.cypher.analysis.tree_walk import free_variables
from ugs.cypher.engine.slots import Env


class WaitingConditions:
    """Conditions in the order in which they were written, each until it is taken."""

    def __init__(self, env: Env, bound: set[str]) -> None:
        self._env, self._bound = env, set(bound)
        self._waiting: dict[int, s.Expression] = {}
        self._missing: dict[int, set[str]] = {}
        self._names: dict[int, set[str]] = {}
        self._ready: list[int] = []
        self._about: dict[str, dict[int, None]] = {}
        self._added = 0

    def add(self, conditions: Iterable[s.Expression]) -> None:
        """Add conditions behind those that wait."""
        for condition in conditions:
            number, self._added = self._added, self._added + 1
            names = free_variables(condition)
            self._waiting[number], self._names[number] = condition, names
            missing = {name for name in names if name in self._env} - self._bound
            self._missing[number] = missing
            for name in names:
                self._about.setdefault(name, {})[number] = None
            if not missing:
                self._ready.append(number)

    def about(self, name: str) -> list[s.Expression]:
        """Those that look at a variable, in order."""
        return [self._waiting[number] for number in self._about.get(name, ())]

    def count(self, name: str) -> int:
        """How many look at a variable."""
        return len(self._about.get(name, ()))

    def bind(self, name: str) -> set[str]:
        """Note that a variable is bound; returns the variables that conditions look at together with it."""
        self._bound.add(name)
        related: set[str] = set()
        for number in self._about.get(name, ()):
            related |= self._names[number]
            missing = self._missing[number]
            if name in missing:
                missing.discard(name)
                if not missing:
                    self._ready.append(number)
        return related

    def drop(self, name: str, is_decided: Callable[[s.Expression], bool]) -> None:
        """Take those on a variable that are decided otherwise."""
        for number in [one for one in self._about.get(name, ()) if is_decided(self._waiting[one])]:
            self._remove(number)

    def take_ready(self) -> list[s.Expression]:
        """Take those whose variables are all bound."""
        ready, self._ready = sorted(one for one in self._ready if one in self._waiting), []
        return [self._remove(number) for number in ready]

    def take_all(self) -> list[s.Expression]:
        """Take all that are left."""
        self._ready = []
        return [self._remove(number) for number in list(self._waiting)]

    def _remove(self, number: int) -> s.Expression:
        for name in self._names.pop(number):
            del self._about[name][number]
        del self._missing[number]
        return self._waiting.pop(number)
