"""Vector search in the database, where it can compare vectors."""

from __future__ import annotations

from ugs.reads.filters import Where
from ugs.reads.vector_search import Near
from ugs.tables import Table
from ugs_backends.sql.compiler.conditions import Place
from ugs_backends.sql.compiler.statements import BoundStatement, build_limit, list_columns
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.session import StoreContext


def build_nearest_query(shape: StoreContext, table: Table, near: Near, where: Where) -> BoundStatement:
    """The statement for rows and their scores; every part of the condition must be decidable in SQL."""
    select, place = shape.select(), Place(table, "t")
    column, vector = place.column(near.field), select.parameters.bind(near.vector)
    condition = select.conditions.text(where, place)
    score = shape.dialect.score(column, vector)
    scored = f"SELECT t.*, {score} AS score FROM {quote_identifier(table.name)} t WHERE {condition}"
    if walk := shape.dialect.nearest_first(column, vector):
        scored += f" ORDER BY {walk}" + build_limit(near.limit)
    keys = ", ".join(place.column(name) for name in table.row_key)
    text = (
        f"SELECT {list_columns(shape.dialect, place)}, t.score FROM ({scored}) t WHERE t.score >= {int(near.least)} "
        f"ORDER BY t.score DESC, {keys}"
    )
    return text + build_limit(near.limit), select.parameters.values
