"""Whether any row has a key in an indexed JSON column.

The first key from that one on is looked for, in the order of the index: so that finds it at once, whatever a planner
believes about how common the key is.
"""

from __future__ import annotations

from backends.sql.dialect import Parameters, quoted
from backends.sql.names import properties_name
from ugs.catalog import Table


def has_key(table: Table, field: str, key: str, parameters: Parameters, chosen: str = "1") -> str:
    """A query for one row with what is chosen if the key occurs, and for none if it does not."""
    side = quoted(properties_name(table, table.field(field)))
    first = f'SELECT x."key" FROM {side} x WHERE x."key" >= {parameters.bind(key)} ORDER BY x."key" LIMIT 1'
    return f'SELECT {chosen} FROM ({first}) k WHERE k."key" = {parameters.bind(key)}'
