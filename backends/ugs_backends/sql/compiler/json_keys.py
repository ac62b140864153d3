"""Existence check for a key of an indexed JSON column.

Reads the first key not less than the wanted one in index order, which is a single index look-up whatever the planner
assumes about the frequency of the key.
"""

from __future__ import annotations

from ugs.tables import Table
from ugs_backends.sql.dialect import Parameters, quote_identifier
from ugs_backends.sql.table_names import name_properties_table


def has_key(table: Table, field: str, key: str, parameters: Parameters, chosen: str = "1") -> str:
    """A query with one record of the `chosen` expressions if the key occurs, and none otherwise."""
    side = quote_identifier(name_properties_table(table, table.field(field)))
    first = f'SELECT x."key" FROM {side} x WHERE x."key" >= {parameters.bind(key)} ORDER BY x."key" LIMIT 1'
    return f'SELECT {chosen} FROM ({first}) k WHERE k."key" = {parameters.bind(key)}'
