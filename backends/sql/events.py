"""Reads of the log as SQL."""

from __future__ import annotations

from backends.sql.dialect import Dialect, Parameters, quoted
from backends.sql.names import EVENTS
from backends.sql.rows import EVENT_COLUMNS
from backends.sql.statements import Bound, limit_of
from ugs.catalog import Kind
from ugs.storage import EventQuery
from ugs.values import FORBIDDEN_TEXT

COLUMNS = ", ".join(quoted(name) for name, _ in EVENT_COLUMNS)


def event_statement(dialect: Dialect, query: EventQuery) -> Bound:
    """The part of the log that is asked for."""
    parameters = Parameters(dialect)
    condition = " AND ".join(_conditions(query, parameters))
    direction = " DESC" if query.newest else ""
    text = f"SELECT {COLUMNS} FROM {EVENTS} WHERE {condition} ORDER BY position{direction}"
    return text + limit_of(query.limit), parameters.values


def _conditions(query: EventQuery, parameters: Parameters) -> list[str]:
    parts = [f"position > {parameters.bind(query.after)}"]
    if query.until is not None:
        parts.append(f"position <= {parameters.bind(query.until)}")
    if query.element is not None:
        known = FORBIDDEN_TEXT.search(query.element) is None
        parts.append(f"element = {parameters.bind(query.element)}" if known else "1=0")
    if query.types is not None:
        parts.append(parameters.dialect.member("type", Kind.TEXT, sorted(query.types), parameters))
    return parts
