"""Errors of queries, in the terms of the openCypher TCK.

Each error has a type (`SyntaxError`, `TypeError`, …), a phase (`compile time` or `runtime`) and a detail such as
`UndefinedVariable`. If the position of the error is known, the details contain line and column.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar

from ugs.errors import UgsError

COMPILE = "compile time"
RUNTIME = "runtime"


class CypherError(UgsError):
    """Base of all errors in a query."""

    code = "CYPHER"
    summary = "A query cannot be understood or answered"
    type: ClassVar[str] = "Error"
    default_phase: ClassVar[str] = RUNTIME

    def __init__(self, detail: str, message: str, at: int | None = None, phase: str | None = None) -> None:
        super().__init__(message)
        self.detail = detail
        self.at = at
        self.phase = phase or self.default_phase
        self.details = {"type": self.type, "detail": detail, "phase": self.phase}

    def place_at(self, at: int) -> CypherError:
        """The error, at the offset of the expression that failed unless its place is known more exactly."""
        if self.at is None:
            self.at = at
        return self

    def locate(self, text: str) -> None:
        """Convert the offset into line and column, counted from 1, and add them to message and details."""
        if self.at is None or "line" in self.details:
            return
        before = text[: self.at]
        line, column = before.count("\n") + 1, self.at - (before.rfind("\n") + 1) + 1
        self.details |= {"line": line, "column": column, "offset": self.at}
        self.message = f"{self.message} (line {line}, column {column})"
        self.args = (self.message,)


class CypherSyntaxError(CypherError):
    """The text violates a rule of the language."""

    code = "CYPHER_SYNTAX"
    summary = "The query breaks a rule of the language"
    type = "SyntaxError"
    default_phase = COMPILE


class CypherTypeError(CypherError):
    """A value has a type that the operation does not accept."""

    code = "CYPHER_TYPE"
    summary = "A value has a kind that the operation cannot use"
    type = "TypeError"


class CypherArgumentError(CypherError):
    """A function was given an argument outside its range."""

    code = "CYPHER_ARGUMENT"
    summary = "A function was given an argument it cannot use"
    type = "ArgumentError"


class CypherArithmeticError(CypherError):
    """A calculation has no result, or one that does not fit."""

    code = "CYPHER_ARITHMETIC"
    summary = "A calculation has no result that fits"
    type = "ArithmeticError"


class CypherParameterMissing(CypherError):
    """The query names a parameter that was not given."""

    code = "CYPHER_PARAMETER"
    summary = "A parameter of the query was not given"
    type = "ParameterMissing"


class CypherRefused(CypherSyntaxError):
    """The query is not read-only; `rule` names the kind of violation."""

    code = "CYPHER_REFUSED"
    summary = "The query asks for more than reading"

    def __init__(self, rule: str, message: str, at: int | None = None) -> None:
        super().__init__("NotAllowed", message, at)
        self.details["rule"] = rule


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message, or nothing."""
    close = get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)
    return f". Did you mean {close[0]}?" if close else ""
