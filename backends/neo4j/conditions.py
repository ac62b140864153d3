"""Pieces of Cypher that decide about rows, and the parameters that go with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from ugs.reads.where import Op

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
    """Cypher for a condition, and whether it lets through exactly the right rows or also others."""

    text: str
    exact: bool = True


ALWAYS, NEVER = Condition("true"), Condition("false")
UNDECIDED = Condition("true", exact=False)


class Parameters:
    """The values of one statement: they travel beside its text, never in it."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._variables = 0

    def add(self, value: Any) -> str:
        """A parameter that stands for the value."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"${name}"

    def variable(self) -> str:
        """A name for a node that the statement has not used yet."""
        self._variables += 1
        return f"n{self._variables}"


def joined(word: str, parts: list[Condition], empty: Condition) -> Condition:
    """Several conditions as one."""
    if not parts:
        return empty
    if len(parts) == 1:
        return parts[0]
    return Condition("(" + f" {word} ".join(part.text for part in parts) + ")", all(part.exact for part in parts))


def negated(part: Condition) -> Condition:
    """The opposite; of something that lets too much through nothing is known."""
    return Condition(f"NOT coalesce({part.text}, false)") if part.exact else UNDECIDED


CHUNK = 1_000


def in_chunks(n: str, columns: str) -> str:
    """The end of a statement: the rows found so far, in their order, as lists of a thousand.

    The driver spends more time on a record than on what is in it, so few large ones come across much faster; what is
    gathered first are only references, so the server holds no texts of rows that it has not yet sent.
    """
    chunk = f"found[at..at + {CHUNK}]"
    return (
        f"WITH collect({n}) AS found UNWIND range(0, size(found) - 1, {CHUNK}) AS at "
        f"RETURN [{n} IN {chunk} | [{columns}]]"
    )


def rows_in(answer: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """The rows of an answer that came in chunks."""
    return [row for (chunk,) in answer for row in chunk]
