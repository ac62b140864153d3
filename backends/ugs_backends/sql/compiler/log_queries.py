"""Compiles log queries to SQL."""

from __future__ import annotations

from ugs.storage import EventQuery
from ugs.tables import Kind
from ugs.values import FORBIDDEN_TEXT
from ugs_backends.sql.compiler.statements import BoundStatement, build_limit
from ugs_backends.sql.dialect import Dialect, Parameters, quote_identifier
from ugs_backends.sql.row_codec import EVENT_COLUMNS
from ugs_backends.sql.table_names import EVENTS

COLUMNS = ", ".join(quote_identifier(name) for name, _ in EVENT_COLUMNS)


def build_event_query(dialect: Dialect, query: EventQuery) -> BoundStatement:
    """The statement for the events that a query selects."""
    parameters = Parameters(dialect)
    condition = " AND ".join(_build_conditions(query, parameters))
    direction = " DESC" if query.newest else ""
    order = f"ORDER BY position{direction}"
    text = f"SELECT {COLUMNS} FROM {EVENTS} WHERE {condition} {order}{build_limit(query.limit)}"
    if query.max_bytes is not None:
        size = dialect.length_in_bytes("data")
        counted = f"SELECT {COLUMNS}, sum({size}) OVER ({order}) - {size} AS ahead FROM ({text}) AS chosen"
        text = f"SELECT {COLUMNS} FROM ({counted}) AS counted WHERE ahead < {int(query.max_bytes)} {order}"
    return text, parameters.values


def _build_conditions(query: EventQuery, parameters: Parameters) -> list[str]:
    parts = [f"position > {parameters.bind(query.after)}"]
    if query.until is not None:
        parts.append(f"position <= {parameters.bind(query.until)}")
    if query.element is not None:
        known = FORBIDDEN_TEXT.search(query.element) is None
        parts.append(f"element = {parameters.bind(query.element)}" if known else "1=0")
    if query.elements is not None:
        known_elements = sorted(one for one in query.elements if FORBIDDEN_TEXT.search(one) is None)
        parts.append(parameters.dialect.member("element", Kind.TEXT, known_elements, parameters))
    if query.types is not None:
        parts.append(parameters.dialect.member("type", Kind.TEXT, sorted(query.types), parameters))
    return parts
