"""What the tables are called that stand beside those of the catalog."""

from __future__ import annotations

from ugs.catalog import Field, Kind, Table

EVENTS = "events"
META = "ugs_meta"


def words_name(table: Table) -> str:
    """The table of a table's words."""
    return f"{table.name}__words"


def properties_name(table: Table, field: Field) -> str:
    """The table of the encoded properties of an indexed JSON column."""
    return f"{table.name}__{field.stored_as}"


def indexed_fields(table: Table) -> list[Field]:
    """The JSON columns whose keys are looked up by value."""
    return [field for field in table.fields if field.kind is Kind.JSON and field.indexed]
