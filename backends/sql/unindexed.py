"""Conditions on keys of JSON columns that have no index, decided beforehand.

Only indexed JSON columns have their values written out for the database to compare. On any other one the reference
itself decides, over the texts of that column, and the condition becomes a list of keys. Nothing in the catalog does
this on a busy path; it keeps every condition answerable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.sql.conditions import KeyIn
from ugs.catalog import Catalog, Table
from ugs.reads.where import All, Any_, Linked, Not, Property, Where, matcher

if TYPE_CHECKING:
    from backends.sql.session import SqlSession


def is_decidable(catalog: Catalog, table: Table, where: Where) -> bool:
    """Whether the database can compare everything in the condition; almost always so."""
    if isinstance(where, All | Any_):
        return all(is_decidable(catalog, table, part) for part in where.parts)
    if isinstance(where, Property):
        return table.field(where.field).indexed
    if isinstance(where, Not):
        return is_decidable(catalog, table, where.part)
    if isinstance(where, Linked):
        return is_decidable(catalog, catalog.target(table.relations[where.relation]), where.where)
    return True


async def decided(session: SqlSession, table: Table, where: Where) -> Where:
    """The condition with everything replaced that the database cannot compare."""
    if is_decidable(session.shape.catalog, table, where):
        return where
    if isinstance(where, Property):
        return await _matching(session, table, where)
    if isinstance(where, Not):
        return Not(await decided(session, table, where.part))
    if isinstance(where, All | Any_):
        return type(where)(tuple([await decided(session, table, part) for part in where.parts]))
    assert isinstance(where, Linked)
    target = session.shape.catalog.target(table.relations[where.relation])
    return Linked(where.relation, await decided(session, target, where.where))


async def _matching(session: SqlSession, table: Table, where: Property) -> KeyIn:
    matches = matcher(where)
    found = [row for row in await session.fetch(table) if _is_object(getattr(row, where.field)) and matches(row)]
    keys = (table.key_of(row) for row in found)
    return KeyIn(tuple(key if isinstance(key, tuple) else (key,) for key in keys))


def _is_object(text: str | None) -> bool:
    return text is not None and text.startswith("{")
