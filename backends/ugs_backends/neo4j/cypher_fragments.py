"""Fragments of Cypher conditions, parameters, and chunked results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from ugs.reads.filters import Op

COMPARISONS = {
    Op.EQ: "=",
    Op.LT: "<",
    Op.LE: "<=",
    Op.GT: ">",
    Op.GE: ">=",
    Op.IN: "IN",
    Op.CONTAINS: "CONTAINS",
    Op.STARTS: "STARTS WITH",
    Op.ENDS: "ENDS WITH",
}


class Condition(Struct, frozen=True):
    """A condition in Cypher; not exact if it also accepts rows that do not match."""

    text: str
    exact: bool = True


ALWAYS, NEVER = Condition("true"), Condition("false")
UNDECIDED = Condition("true", exact=False)


class Parameters:
    """The parameters of a statement; values never enter its text."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._variables = 0

    def add(self, value: Any) -> str:
        """Add a value and return its parameter."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"${name}"

    def create_variable(self) -> str:
        """A new variable name."""
        self._variables += 1
        return f"n{self._variables}"


def join_conditions(word: str, parts: list[Condition], empty: Condition) -> Condition:
    """Join conditions with a boolean operator."""
    if not parts:
        return empty
    if len(parts) == 1:
        return parts[0]
    return Condition("(" + f" {word} ".join(part.text for part in parts) + ")", all(part.exact for part in parts))


def negate(part: Condition) -> Condition:
    """The negation; undecided for a condition that is not exact."""
    return Condition(f"NOT coalesce({part.text}, false)") if part.exact else UNDECIDED


CHUNK_ROWS = 1_000


def return_in_chunks(n: str, columns: str) -> str:
    """The end of a statement: return the rows found, in order, as lists of a thousand.

    The driver's cost per record exceeds that of its content, so few large records transfer much faster; only references
    are collected first, so the server does not hold the texts of rows that it has not sent yet.
    """
    chunk = f"found[at..at + {CHUNK_ROWS}]"
    return (
        f"WITH collect({n}) AS found UNWIND range(0, size(found) - 1, {CHUNK_ROWS}) AS at "
        f"RETURN [{n} IN {chunk} | [{columns}]]"
    )


def read_chunks(answer: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """The rows of a result that was returned in chunks."""
    return [row for (chunk,) in answer for row in chunk]
