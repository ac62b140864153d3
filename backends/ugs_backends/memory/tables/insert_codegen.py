"""Generates the function that inserts a row, one per table, as it runs for every event of a replay.

A new row is added to the rows and to the fixed indexes. Equal values of many rows are interned on the way, which saves
most of a graph's memory: an edge shares the ids of its node rows, and rows written in the same millisecond share one
timestamp. Setting fields of frozen rows is safe here: nothing else has seen them yet, and the new value is equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

from msgspec.structs import force_setattr

from ugs.catalog import Catalog
from ugs.tables import Kind, Row, Table
from ugs_backends.memory.tables.indexes import TUPLE_THRESHOLD

if TYPE_CHECKING:
    from ugs_backends.memory.tables.table import MemoryTable


SHORT_TEXT, MAX_TEXTS = 48, 4_096
"""Maximum length of interned texts, and maximum of their number."""
MAX_NUMBERS = 65_536
"""Limit of interned numbers."""


def compile_put(here: MemoryTable, catalog: Catalog) -> Callable[[Row], None]:
    """Compile the insert function of a table.

    The source is unrolled from the catalog's field names: loops over fields and indexes take three times as long.
    """
    table = here.table
    names: dict[str, Any] = {"here": here, "share": force_setattr, "TUPLE_THRESHOLD": TUPLE_THRESHOLD}
    names |= {"seen": here.texts, "numbers": here.reals}
    for field, index in here.always.items():
        names[f"{field}_rows"] = index.postings
        names[f"{field}_put"] = index.put
    for other in here.tables.values():
        names[f"find_{other.table.name}"] = other.rows.get
    targets = list_references(table, catalog)
    source = [
        "def make():",
        "    rows, kept, journals, unique = here.rows, here.kept, here.journals, here.unique",
        "    replace, last = here.replace, 0",
        "    def put(row):",
        "        nonlocal last",
        f"        key = {_write_key(table)}",
        "        if key in rows or kept or journals or unique:",
        "            return replace(key, row)",
        *_indent([*_write_timestamp_sharing(table), *_write_interning(table)]),
        *_indent(
            line for field in targets if field not in here.always for line in _write_reference(field, targets[field])
        ),
        *_indent(line for field in here.always for line in _write_index_update(field, targets.get(field))),
        "        rows[key] = row",
        "    return put",
    ]
    exec(_compile_source("\n".join(source)), names)
    put: Callable[[Row], None] = names["make"]()
    return put


def _indent(lines: Iterable[str]) -> Iterator[str]:
    return (f"        {line}" for line in lines)


@cache
def _compile_source(source: str) -> CodeType:
    return compile(source, "<put of a table>", "exec")


def list_references(table: Table, catalog: Catalog) -> dict[str, tuple[str, str]]:
    """The columns that refer to another table by its key, with that table and its key column."""
    return {
        relation.local: (relation.table, relation.remote)
        for relation in table.relations.values()
        if catalog.target(relation).key == (relation.remote,) and relation.local not in table.key
    }


def _write_key(table: Table) -> str:
    return f"row.{table.key[0]}" if len(table.key) == 1 else f"({', '.join(f'row.{name}' for name in table.key)})"


def _write_interning(table: Table) -> Iterator[str]:
    """Lines that intern short JSON texts and fractional numbers, which often repeat."""
    for name in [field.name for field in table.fields if field.kind is Kind.JSON]:
        yield f"text = row.{name}"
        yield f"if text is not None and len(text) <= {SHORT_TEXT}:"
        yield "    known = seen.get(text)"
        yield f"    if known is not None: share(row, {name!r}, known)"
        yield f"    elif len(seen) < {MAX_TEXTS}: seen[text] = text"
    for name in [field.name for field in table.fields if field.kind is Kind.REAL]:
        # 0.0 equals -0.0 and 1.0 equals 1, but they render differently: only fractional floats are interned.
        yield f"number = row.{name}"
        yield "if type(number) is float and number % 1:"
        yield "    known = numbers.get(number)"
        yield f"    if known is not None: share(row, {name!r}, known)"
        yield f"    elif len(numbers) < {MAX_NUMBERS}: numbers[number] = number"


def _write_reference(field: str, target: tuple[str, str]) -> Iterator[str]:
    """Lines that replace a reference by the key object of the row it refers to."""
    yield f"found = find_{target[0]}(row.{field})"
    yield f"if found is not None: share(row, {field!r}, found.{target[1]})"


def _write_index_update(field: str, target: tuple[str, str] | None) -> Iterator[str]:
    """Lines that add a row to a column index and share the value object that is already there."""
    yield f"value = row.{field}; posting = {field}_rows.get(value)"
    yield "if posting is None:"
    if target is not None:
        yield f"    found = find_{target[0]}(value)"
        yield f"    if found is not None: value = found.{target[1]}; share(row, {field!r}, value)"
    yield f"    {field}_rows[value] = (row,)"
    yield "elif type(posting) is tuple:"
    if target is not None:
        yield f"    share(row, {field!r}, posting[0].{field})"
    yield f"    if len(posting) < TUPLE_THRESHOLD: {field}_rows[value] = posting + (row,)"
    yield f"    else: {field}_put(value, row)"
    yield "else:"
    if target is not None:
        yield f"    found = find_{target[0]}(value)"
        yield f"    if found is not None: share(row, {field!r}, found.{target[1]})"
    yield "    posting[key] = row"


def _write_timestamp_sharing(table: Table) -> Iterator[str]:
    """Lines that share equal integers: each costs 32 bytes, and the timestamp often equals the previous row's."""
    first, *others = [field.name for field in table.fields if field.kind is Kind.INTEGER] or [""]
    if first:
        yield f"number = row.{first}"
        yield f"if number == last: number = last; share(row, {first!r}, last)"
        yield "else: last = number"
        yield from (f"if row.{name} == number: share(row, {name!r}, number)" for name in others)
