"""Evaluates conditions on keys of unindexed JSON columns before the statement.

Only indexed JSON columns have a table of encoded values. For any other one the reference matcher runs over all rows of
the table, and the condition becomes a list of keys. No frequent query of the catalog needs this; it exists so that
every condition has an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ugs.catalog import Catalog
from ugs.reads.filters import All, Any_, Linked, Not, Property, Where, matcher
from ugs.tables import Table
from ugs_backends.sql.compiler.conditions import KeyIn

if TYPE_CHECKING:
    from ugs_backends.sql.session import SqlSession


def is_decidable(catalog: Catalog, table: Table, where: Where) -> bool:
    """Whether the whole condition can be evaluated in SQL; nearly always true."""
    if isinstance(where, All | Any_):
        return all(is_decidable(catalog, table, part) for part in where.parts)
    if isinstance(where, Property):
        return table.field(where.field).indexed
    if isinstance(where, Not):
        return is_decidable(catalog, table, where.part)
    if isinstance(where, Linked):
        return is_decidable(catalog, catalog.target(table.relations[where.relation]), where.where)
    return True


async def resolve_undecidable(session: SqlSession, table: Table, where: Where) -> Where:
    """The condition with the parts that SQL cannot evaluate replaced by lists of keys."""
    if is_decidable(session.shape.catalog, table, where):
        return where
    if isinstance(where, Property):
        return await _find_matching_keys(session, table, where)
    if isinstance(where, Not):
        return Not(await resolve_undecidable(session, table, where.part))
    if isinstance(where, All | Any_):
        return type(where)(tuple([await resolve_undecidable(session, table, part) for part in where.parts]))
    assert isinstance(where, Linked)
    target = session.shape.catalog.target(table.relations[where.relation])
    return Linked(where.relation, await resolve_undecidable(session, target, where.where))


async def _find_matching_keys(session: SqlSession, table: Table, where: Property) -> KeyIn:
    matches = matcher(where)
    found = [row for row in await session.fetch(table) if _is_object(getattr(row, where.field)) and matches(row)]
    keys = (table.key_of(row) for row in found)
    return KeyIn(tuple(key if isinstance(key, tuple) else (key,) for key in keys))


def _is_object(text: str | None) -> bool:
    return text is not None and text.startswith("{")
