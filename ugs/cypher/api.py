"""The openCypher entry point that all interfaces (GraphQL, MCP, command line, programs) call.

They differ in how they read a query and show its result, not in what it means.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ugs.cypher.engine.limits import Limits
from ugs.cypher.errors import CypherError
from ugs.cypher.execution import LONG_TEXT_CHARS, Result, in_turns, is_long, run
from ugs.cypher.graph_views import FactsContext
from ugs.cypher.single_statement import plan_single_statement, run_single_statement
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.values.codec import decode
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.cypher.values.point import Point
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.facts.access import ADMIN
from ugs.facts.reader import FactsReader
from ugs.identity import LOCAL, Principal
from ugs.large_json import is_large, json_pieces
from ugs.reads.rendering import check_bytes
from ugs.support.worker_threads import compute_in_thread

if TYPE_CHECKING:
    from ugs.log.at import At
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
    """Execute a query on the current state or an earlier one (`at`); `limit` bounds the number of rows.

    Facts that the principal may not see are invisible; facts must hold at the current time, or at the time of `at`.
    A parameter such as `{"@date": "2024-02-29"}` is a date, as in a property.
    """
    bounds = limits or Limits()
    decoded = await _decode_params(check_params(params))
    bounds = apply_limit(bounds, limit)
    if at is None and view == "GRAPH" and len(query) <= LONG_TEXT_CHARS and plan_single_statement(query) is not None:
        async with system.storage.autocommit_session() as session:
            result = await run_single_statement(session, query, decoded, bounds)
        if result is not None:
            return result
    reader = FactsReader(system, principal)
    context = FactsContext(reader.viewer, await reader.now(at))
    async with system.session_at(at) as session:
        result = await run(session, query, decoded, bounds, view, context)
    return result if ADMIN in principal.roles else without_statements(result)


def without_statements(result: Result) -> Result:
    """The result without the statements of its plan: what is sent to the store is shown to administrators only."""
    if not result.plan:
        return result
    plan = tuple(msgspec.structs.replace(step, statement=None) for step in result.plan)
    return msgspec.structs.replace(result, plan=plan)


async def _decode_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as values of openCypher; large ones are decoded in a worker thread."""

    def decode_all() -> dict[str, Any]:
        return {name: _decode_param(name, value) for name, value in params.items()}

    return await compute_in_thread(decode_all) if is_large(params) else decode_all()


def _decode_param(name: str, value: Any) -> Any:
    """Decode a parameter value; an invalid temporal value is an error, not a map."""
    try:
        return decode(value, strict=True)
    except CypherError as error:
        error.message = f"Parameter ${name}: {error.message}"
        error.args = (error.message,)
        raise


def check_params(params: object) -> Mapping[str, Any]:
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise InvalidSyntax("The parameters of a query are an object: one entry for each name")
    return params


def apply_limit(limits: Limits, limit: int | None) -> Limits:
    if limit is None:
        return limits
    if not 0 <= limit <= limits.rows:
        raise LimitExceeded(f"limit lies between 0 and {limits.rows}", limit=limits.rows)
    return msgspec.structs.replace(limits, first=limit)


def as_json(value: Any) -> Any:
    """A result value as JSON: nodes, relationships and paths as objects, temporal values and durations as text,
    points as GeoJSON."""
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
    if isinstance(value, Point):
        return value.as_json()
    return number_text(value) if isinstance(value, float) and not math.isfinite(value) else value


def number_text(value: float) -> str:
    """The text of a non-finite number, which JSON cannot represent."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


async def render_rows(result: Result) -> list[list[Any]]:
    """The rows of a result as JSON; a large result is converted in a worker thread, to keep the event loop free."""
    if not is_long(result):
        return json_rows(result)

    def render() -> list[list[Any]]:
        return [[as_json(value) for value in row] for row in in_turns(result.rows)]

    return await compute_in_thread(render)


async def encode_rows(result: Result, max_bytes: int) -> list[Any]:
    """The rows of a result as JSON; of a large one as encoded JSON (`msgspec.Raw`), made in a worker thread in pieces,
    so that a single large row does not block the event loop either. Raises ANSWER_TOO_LARGE beyond `max_bytes`."""
    if not is_long(result):
        return json_rows(result)

    def encode() -> list[msgspec.Raw]:
        rows, size = [], 0
        for row in in_turns(result.rows):
            pieces = []
            for piece in json_pieces(list(row), as_json):
                size += len(piece)
                check_bytes(size, max_bytes)
                pieces.append(piece)
            rows.append(msgspec.Raw(b"".join(pieces)))
        return rows

    return await compute_in_thread(encode)


def json_rows(result: Result) -> list[list[Any]]:
    """The rows of a result as JSON, each a list in column order."""
    return [[as_json(value) for value in row] for row in result.rows]
