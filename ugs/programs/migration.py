"""Converts the older exploration format, `{statements: [{op, cypher}]}`, to programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ugs.errors import InvalidSyntax


def is_exploration(raw: object) -> bool:
    """Whether a definition is in the exploration format."""
    statements = raw.get("statements") if isinstance(raw, Mapping) else None
    return (
        isinstance(statements, list)
        and bool(statements)
        and all(isinstance(one, Mapping) and "cypher" in one for one in statements)
    )


def from_exploration(raw: object) -> dict[str, Any]:
    """The same definition as a program: each query becomes an operation, and the root gets a version."""
    if not isinstance(raw, Mapping) or not is_exploration(raw):
        raise InvalidSyntax("An exploration has statements, each with op and cypher")
    statements = [_convert_statement(one) for one in raw["statements"]]
    return {"version": 1, **{key: value for key, value in raw.items() if key != "statements"}, "statements": statements}


def _convert_statement(statement: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in statement.items() if key not in ("op", "cypher")}
    operation = {"type": "cypher", "query": statement["cypher"]}
    return {"op": statement.get("op", "+"), "operation": operation, **kept}
