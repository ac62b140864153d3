"""How the catalog a store was made for differs from the one it is opened with.

Catalogs only grow: new tables, columns, indexes, words. What is missing is added; rows and columns of which the
catalog does not know can only come from a newer program, and are refused before anything is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field, to_builtins

from backends.sql.dialect import quoted
from backends.sql.layout import Layout
from backends.sql.names import index_name, short
from ugs.catalog import Catalog, Table
from ugs.errors import SchemaMismatch

Description = dict[str, dict[str, Any]]
"""Each table's columns (kind and whether they may be empty), key, sides and indexes, as plain data."""


def description_of(catalog: Catalog, layout: Layout) -> Description:
    """The catalog as data that can be stored and compared."""
    return {table.name: _described(table, layout) for table in catalog}


def _described(table: Table, layout: Layout) -> dict[str, Any]:
    return {
        "columns": {part.stored_as: [part.kind.value, part.nullable] for part in table.fields},
        "key": [table.field(name).stored_as for name in table.key],
        "sides": layout.sides(table),
        "indexes": {name: text for name, text in _indexes(table, layout)},
        "substrings": {name: to_builtins(index) for name, index in layout.substrings(table).items()},
    }


def _indexes(table: Table, layout: Layout) -> Iterator[tuple[str, str]]:
    names = [index_name(table, index.fields) for index in table.indexes]
    names += [short(rule.name) for rule in table.unique]
    yield from zip(names, layout.indexes(table), strict=True)


class Growth(Struct):
    """What to do so that a store fits the catalog."""

    statements: list[str] = field(default_factory=list)
    fill: list[tuple[Table, str]] = field(default_factory=list)
    """Tables whose rows must be read to fill the new table beside them."""
    warnings: list[str] = field(default_factory=list)


def unknown_tables(stored: Description, catalog: Catalog) -> list[str]:
    """Tables the store was made for that the catalog does not have."""
    return [name for name in stored if name not in catalog.tables]


def growth_of(stored: Description, catalog: Catalog, layout: Layout, unused: set[str]) -> Growth:
    """The difference between what the store was made for and the catalog.

    Unknown tables that are `unused`, without a single row, tell nothing and go.
    """
    wanted = description_of(catalog, layout)
    _refuse_newer({name: table for name, table in stored.items() if name not in unused}, wanted)
    growth = Growth()
    for name in sorted(unused):
        growth.statements += [text for index in _substrings(stored[name]).values() for text in index["drop"]]
        growth.statements += [f"DROP TABLE {quoted(table)}" for table in (*stored[name]["sides"], name)]
    for table in catalog:
        if table.name in stored:
            _grow(growth, table, stored[table.name], layout)
        else:
            growth.statements += layout.table(table)
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


def _grow(growth: Growth, table: Table, stored: dict[str, Any], layout: Layout) -> None:
    for part in table.fields:
        if part.stored_as not in stored["columns"]:
            growth.statements.append(layout.new_column(table, part))
            growth.warnings.append(
                f"{table.name}.{part.stored_as} is new and empty in rows stored before; `ugs rebuild` fills it."
            )
    for side in layout.sides(table):
        if side not in stored["sides"]:
            # An older program may have opened the store in between, and not have kept up what it does not know of.
            growth.statements += [f"DROP TABLE IF EXISTS {quoted(side)}", *layout.side(table, side)]
            growth.fill.append((table, side))
    _grow_indexes(growth, dict(_indexes(table, layout)), stored["indexes"])
    _grow_substrings(growth, _described(table, layout), stored)


def _substrings(described: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """What finds parts of texts in a table; older programs kept nothing of the kind."""
    found: dict[str, dict[str, list[str]]] = described.get("substrings", {})
    return found


def _grow_substrings(growth: Growth, wanted: dict[str, Any], stored: dict[str, Any]) -> None:
    new, old = _substrings(wanted), _substrings(stored)
    growth.statements += [text for name, index in old.items() if new.get(name) != index for text in index["drop"]]
    for name, index in new.items():
        if old.get(name) != index:
            # An older program may have kept the index without knowing of it.
            growth.statements += [*index["drop"], *index["make"]]


def _grow_indexes(growth: Growth, wanted: dict[str, str], stored: dict[str, str]) -> None:
    changed = [name for name, text in stored.items() if wanted.get(name) != text]
    growth.statements += [f'DROP INDEX IF EXISTS "{name}"' for name in changed]
    growth.statements += [text for name, text in wanted.items() if stored.get(name) != text]
