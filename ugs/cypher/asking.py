"""Asking a whole system in openCypher, on behalf of one principal: what every door calls.

GraphQL, MCP, the command line and programs differ in how they take a question and show an answer, not in what it means.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ugs.cypher.answering import Result, run
from ugs.cypher.engine.limits import Limits
from ugs.cypher.glancing import glance_of, run_at_once
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.cypher.values.stored import decode
from ugs.cypher.views import Glasses
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.facts.asking import Asking
from ugs.identity import LOCAL, Principal

if TYPE_CHECKING:
    from ugs.moments import At
    from ugs.system import System


async def ask(
    system: System,
    query: str,
    params: Mapping[str, Any] | None = None,
    *,
    principal: Principal = LOCAL.principal,
    limit: int | None = None,
    view: str = "GRAPH",
    at: At | None = None,
    limits: Limits | None = None,
) -> Result:
    """Answer a query now or as of a place in time; with a limit, that many rows are enough.

    Facts that the principal may not see are not there, and facts hold at the instant the reader went back to.
    A parameter such as `{"@date": "2024-02-29"}` is a date, as it is in a property.
    """
    bounds = limits or Limits()
    given = {name: decode(value) for name, value in checked_params(params).items()}
    bounds = bounded(bounds, limit)
    if at is None and view == "GRAPH" and glance_of(query) is not None:
        async with system.storage.glance() as session:
            found = await run_at_once(session, query, given, bounds)
        if found is not None:
            return found
    asking = Asking(system, principal)
    glasses = Glasses(asking.viewer, await asking.now(at))
    async with system.session_at(at) as session:
        return await run(session, query, given, bounds, view, glasses)


def checked_params(params: object) -> Mapping[str, Any]:
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise InvalidSyntax("The parameters of a query are an object: one entry for each name")
    return params


def bounded(limits: Limits, limit: int | None) -> Limits:
    if limit is None:
        return limits
    if not 0 <= limit <= limits.rows:
        raise LimitExceeded(f"limit lies between 0 and {limits.rows}", limit=limits.rows)
    return msgspec.structs.replace(limits, first=limit)


def as_json(value: Any) -> Any:
    """A value of an answer as JSON: nodes, relationships and paths as objects, moments and durations as texts."""
    if isinstance(value, Node):
        return {"id": value.id, "labels": list(value.labels), "properties": as_json(value.properties)}
    if isinstance(value, Relationship):
        ends = {"id": value.id, "type": value.type, "from": value.start, "to": value.end}
        return {**ends, "properties": as_json(value.properties)}
    if isinstance(value, Path):
        return {"nodes": as_json(list(value.nodes)), "relationships": as_json(list(value.relationships))}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, Temporal | Duration):
        return str(value)
    return number_text(value) if isinstance(value, float) and not math.isfinite(value) else value


def number_text(value: float) -> str:
    """What JSON has no number for."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def json_rows(result: Result) -> list[list[Any]]:
    """The rows of an answer as JSON, each a list in the order of the columns."""
    return [[as_json(value) for value in row] for row in result.rows]
