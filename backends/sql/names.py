"""What tables and indexes are called beside those the catalog names."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2s

from ugs.catalog import Field, Kind, Table

EVENTS = "events"
META = "ugs_meta"
LONGEST_NAME = 60
"""PostgreSQL cuts names at 63 bytes."""


def properties_name(table: Table, field: Field) -> str:
    """The table of the encoded properties of an indexed JSON column."""
    return f"{table.name}__{field.stored_as}"


def indexed_fields(table: Table) -> list[Field]:
    """The JSON columns whose keys are looked up by value."""
    return [field for field in table.fields if field.kind is Kind.JSON and field.indexed]


def searched_fields(table: Table) -> list[Field]:
    """The text columns in which parts are looked for."""
    return [field for field in table.fields if field.searched]


def index_name(table: Table, fields: Iterable[str]) -> str:
    """The name of an index of the catalog."""
    return short("_".join((table.name, "by", *(table.field(name).stored_as for name in fields))))


def short(name: str) -> str:
    """The name, or for a long one its beginning and a digest of it all."""
    if len(name.encode()) <= LONGEST_NAME:
        return name
    return f"{name[:40]}_{blake2s(name.encode(), digest_size=8).hexdigest()}"
