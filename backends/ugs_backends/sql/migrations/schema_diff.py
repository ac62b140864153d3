"""The difference between a store's catalog and the one it is opened with.

Catalogs only grow: new tables, columns, indexes and words are added. Tables and columns that the catalog does not have
can only come from a newer program; such a store is refused before anything is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field, to_builtins

from ugs.catalog import Catalog
from ugs.errors import SchemaMismatch
from ugs.tables import Table
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.layout import Layout
from ugs_backends.sql.table_names import index_name, shorten

Description = dict[str, dict[str, Any]]
"""Per table: columns (kind and nullability), key, side tables and indexes, as plain data."""


def describe_catalog(catalog: Catalog, layout: Layout) -> Description:
    """The catalog as plain data that can be stored and compared."""
    return {table.name: _describe_table(table, layout) for table in catalog}


def _describe_table(table: Table, layout: Layout) -> dict[str, Any]:
    return {
        "columns": {part.stored_as: [layout.dialect.column_type(part).value, part.nullable] for part in table.fields},
        "key": [table.field(name).stored_as for name in table.key],
        "sides": layout.sides(table),
        "indexes": {name: text for name, text in _describe_indexes(table, layout)},
        "substrings": {name: to_builtins(index) for name, index in layout.substrings(table).items()},
        **({"checks": checks} if (checks := layout.checks(table)) else {}),
        **({"references": references} if (references := _describe_references(table, layout)) else {}),
    }


def _describe_indexes(table: Table, layout: Layout) -> Iterator[tuple[str, str]]:
    names = [index_name(table, index.fields) for index in table.indexes]
    names += [shorten(rule.name) for rule in table.unique]
    yield from zip(names, layout.indexes(table), strict=True)
    yield from ((name, text) for name, (_, text) in layout.replaced_value_indexes(table).items())


def _describe_references(table: Table, layout: Layout) -> list[str]:
    return list(layout.references(table))


class SchemaGrowth(Struct):
    """The changes that bring a store to the catalog."""

    statements: list[str] = field(default_factory=list)
    fill: list[tuple[Table, str]] = field(default_factory=list)
    """New side tables that must be filled from the rows of their table."""
    warnings: list[str] = field(default_factory=list)


def find_unknown_tables(stored: Description, catalog: Catalog) -> list[str]:
    """Tables of the store that the catalog does not have."""
    return [name for name in stored if name not in catalog.tables]


def compute_growth(stored: Description, catalog: Catalog, layout: Layout, unused: set[str]) -> SchemaGrowth:
    """Compute the changes from the stored description to the catalog.

    Unknown tables in `unused`, which have no rows, are dropped.
    """
    wanted = describe_catalog(catalog, layout)
    _refuse_newer({name: table for name, table in stored.items() if name not in unused}, wanted)
    growth = SchemaGrowth()
    for name in sorted(unused):
        growth.statements += [
            text for index in _list_substring_indexes(stored[name]).values() for text in index["drop"]
        ]
        growth.statements += [f"DROP TABLE {quote_identifier(table)}" for table in (*stored[name]["sides"], name)]
    for table in catalog:
        if table.name in stored:
            _grow(growth, table, stored[table.name], layout)
        else:
            growth.statements += layout.table(table)
    for table in catalog:
        _grow_references(growth, table, stored.get(table.name, {}).get("references", []), layout)
    return growth


def _refuse_newer(stored: Description, wanted: Description) -> None:
    unknown = [name for name in stored if name not in wanted]
    for name in stored.keys() & wanted.keys():
        old, new = stored[name], wanted[name]
        unknown += [f"{name}.{column}" for column, kind in old["columns"].items() if new["columns"].get(column) != kind]
        unknown += [f"the key of {name}"] if old["key"] != new["key"] else []
    if unknown:
        raise SchemaMismatch(
            f"The store was written by another version of this program: {', '.join(sorted(unknown))} is unknown here "
            "or has changed. Use the version that wrote it, or copy its log into a new store. Nothing was changed.",
            unknown=sorted(unknown),
        )


def _grow(growth: SchemaGrowth, table: Table, stored: dict[str, Any], layout: Layout) -> None:
    for part in table.fields:
        if part.stored_as not in stored["columns"]:
            growth.statements.append(layout.new_column(table, part))
            growth.warnings.append(
                f"{table.name}.{part.stored_as} is new and empty in rows stored before; `ugs rebuild` fills it."
            )
    for side in layout.sides(table):
        if side not in stored["sides"]:
            # An older program may have written since without maintaining a side table that it does not know.
            growth.statements += [
                f"DROP TABLE IF EXISTS {quote_identifier(side)}",
                *layout.create_side_table(table, side),
            ]
            growth.fill.append((table, side))
    for name, (old, _) in layout.replaced_value_indexes(table).items():
        if name not in stored["indexes"]:
            growth.statements.append(f"DROP INDEX IF EXISTS {quote_identifier(old)}")
    _grow_indexes(growth, dict(_describe_indexes(table, layout)), stored["indexes"])
    _grow_substrings(growth, _describe_table(table, layout), stored)
    known = stored.get("checks", {})
    for name, text in layout.checks(table).items():
        if known.get(name) != text:
            growth.statements += layout.dialect.add_check(table.name, name, text)


def _grow_references(growth: SchemaGrowth, table: Table, known: list[str], layout: Layout) -> None:
    for reference in table.references:
        target = layout.catalog[reference.table]
        if not set(layout.dialect.add_reference(table, reference, target)) <= {*known}:
            growth.statements += layout.dialect.adopt_reference(table, reference, target)


def _list_substring_indexes(described: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """The substring indexes of a description; those of older programs have none."""
    found: dict[str, dict[str, list[str]]] = described.get("substrings", {})
    return found


def _grow_substrings(growth: SchemaGrowth, wanted: dict[str, Any], stored: dict[str, Any]) -> None:
    new, old = _list_substring_indexes(wanted), _list_substring_indexes(stored)
    growth.statements += [text for name, index in old.items() if new.get(name) != index for text in index["drop"]]
    for name, index in new.items():
        if old.get(name) != index:
            # The index may exist although an older program did not record it.
            growth.statements += [*index["drop"], *index["make"]]


def _grow_indexes(growth: SchemaGrowth, wanted: dict[str, str], stored: dict[str, str]) -> None:
    changed = [name for name, text in stored.items() if wanted.get(name) != text]
    growth.statements += [f'DROP INDEX IF EXISTS "{name}"' for name in changed]
    growth.statements += [text for name, text in wanted.items() if stored.get(name) != text]
