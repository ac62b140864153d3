"""The most alike rows, found in the database where it can compare vectors."""

from __future__ import annotations

from backends.sql.conditions import Place
from backends.sql.dialect import quoted
from backends.sql.session import Shape
from backends.sql.statements import Bound, columns_of, limit_of
from ugs.catalog import Table
from ugs.reads.near import Near
from ugs.reads.where import Where


def nearest_statement(shape: Shape, table: Table, near: Near, where: Where) -> Bound:
    """A statement for rows and their scores; the condition has nothing left to be decided beforehand."""
    select, place = shape.select(), Place(table, "t")
    column, vector = place.column(near.field), select.parameters.bind(near.vector)
    condition = select.conditions.text(where, place)
    score = shape.dialect.score(column, vector)
    scored = f"SELECT t.*, {score} AS score FROM {quoted(table.name)} t WHERE {condition}"
    if walk := shape.dialect.nearest_first(column, vector):
        scored += f" ORDER BY {walk}" + limit_of(near.limit)
    keys = ", ".join(place.column(name) for name in table.key)
    text = (
        f"SELECT {columns_of(place)}, t.score FROM ({scored}) t WHERE t.score >= {int(near.least)} "
        f"ORDER BY t.score DESC, {keys}"
    )
    return text + limit_of(near.limit), select.parameters.values
