"""Names of tables and indexes that are not in the catalog."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2s

from ugs.tables import Field, Kind, Table

EVENTS = "events"
META = "ugs_meta"
MAX_NAME_LENGTH = 60
"""PostgreSQL truncates names at 63 bytes."""


def name_properties_table(table: Table, field: Field) -> str:
    """The name of the table of encoded properties of an indexed JSON column."""
    return f"{table.name}__{field.stored_as}"


def list_indexed_fields(table: Table) -> list[Field]:
    """The JSON columns whose properties are indexed."""
    return [field for field in table.fields if field.kind is Kind.JSON and field.indexed]


def list_searched_fields(table: Table) -> list[Field]:
    """The text columns that are searched for substrings."""
    return [field for field in table.fields if field.searched]


def index_name(table: Table, fields: Iterable[str]) -> str:
    """The name of an index of the catalog."""
    return shorten("_".join((table.name, "by", *(table.field(name).stored_as for name in fields))))


def shorten(name: str) -> str:
    """The name; a long one is shortened to its beginning and a digest."""
    if len(name.encode()) <= MAX_NAME_LENGTH:
        return name
    return f"{name[:40]}_{blake2s(name.encode(), digest_size=8).hexdigest()}"
