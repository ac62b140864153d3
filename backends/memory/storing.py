"""Storing a row: the one step that happens for every event of a log, so it is compiled for each table.

A new row goes into the rows and into the indexes every graph needs. On the way equal values of many rows become one
object, which is most of the memory a graph needs: an edge names its nodes by ids that the node rows hold already,
and rows written in the same millisecond have one moment. Rows are frozen and nobody has seen them yet, and an equal
value changes no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

from msgspec.structs import force_setattr

from backends.memory.indexes import FEW
from ugs.catalog import Catalog, Kind, Row, Table

if TYPE_CHECKING:
    from backends.memory.tables import MemoryTable


SHORT_TEXT, MOST_TEXTS = 48, 4_096
"""Texts up to this length are looked for among so many others."""
MOST_NUMBERS = 65_536
"""Among so many others a number is looked for."""


def compile_put(here: MemoryTable, catalog: Catalog) -> Callable[[Row], None]:
    """A function that stores a row of this table.

    Written out from the catalog's field names: going through fields and indexes in loops takes three times as long.
    """
    table = here.table
    names: dict[str, Any] = {"here": here, "share": force_setattr, "FEW": FEW}
    names |= {"seen": here.texts, "numbers": here.reals}
    for field, index in here.always.items():
        names[f"{field}_rows"] = index.postings
        names[f"{field}_put"] = index.put
    for other in here.tables.values():
        names[f"find_{other.table.name}"] = other.rows.get
    targets = references(table, catalog)
    source = [
        "def make():",
        "    rows, kept, journals, unique = here.rows, here.kept, here.journals, here.unique",
        "    replace, last = here.replace, 0",
        "    def put(row):",
        "        nonlocal last",
        f"        key = {_key(table)}",
        "        if key in rows or kept or journals or unique:",
        "            return replace(key, row)",
        *_indented([*_moments(table), *_repeated(table)]),
        *_indented(line for field in targets if field not in here.always for line in _named(field, targets[field])),
        *_indented(line for field in here.always for line in _indexed(field, targets.get(field))),
        "        rows[key] = row",
        "    return put",
    ]
    exec(_compiled("\n".join(source)), names)
    put: Callable[[Row], None] = names["make"]()
    return put


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"        {line}" for line in lines)


@cache
def _compiled(source: str) -> CodeType:
    return compile(source, "<put of a table>", "exec")


def references(table: Table, catalog: Catalog) -> dict[str, tuple[str, str]]:
    """The columns that hold the key of another table's row, with that table and its key."""
    return {
        relation.local: (relation.table, relation.remote)
        for relation in table.relations.values()
        if catalog.target(relation).key == (relation.remote,) and relation.local not in table.key
    }


def _key(table: Table) -> str:
    return f"row.{table.key[0]}" if len(table.key) == 1 else f"({', '.join(f'row.{name}' for name in table.key)})"


def _repeated(table: Table) -> Iterator[str]:
    """Short JSON texts, and broken numbers of a few digits, are often those of other rows."""
    for name in [field.name for field in table.fields if field.kind is Kind.JSON]:
        yield f"text = row.{name}"
        yield f"if text is not None and len(text) <= {SHORT_TEXT}:"
        yield "    known = seen.get(text)"
        yield f"    if known is not None: share(row, {name!r}, known)"
        yield f"    elif len(seen) < {MOST_TEXTS}: seen[text] = text"
    for name in [field.name for field in table.fields if field.kind is Kind.REAL]:
        # Zero has two signs, and whole numbers may be of either type: these are equal, and not the same.
        yield f"number = row.{name}"
        yield "if type(number) is float and number % 1:"
        yield "    known = numbers.get(number)"
        yield f"    if known is not None: share(row, {name!r}, known)"
        yield f"    elif len(numbers) < {MOST_NUMBERS}: numbers[number] = number"


def _named(field: str, target: tuple[str, str]) -> Iterator[str]:
    """Lines that let a row use the text of the row it refers to."""
    yield f"found = find_{target[0]}(row.{field})"
    yield f"if found is not None: share(row, {field!r}, found.{target[1]})"


def _indexed(field: str, target: tuple[str, str] | None) -> Iterator[str]:
    """Lines that put a row under the value of a column, and let it use the text that is there already."""
    yield f"value = row.{field}; posting = {field}_rows.get(value)"
    yield "if posting is None:"
    if target is not None:
        yield f"    found = find_{target[0]}(value)"
        yield f"    if found is not None: value = found.{target[1]}; share(row, {field!r}, value)"
    yield f"    {field}_rows[value] = (row,)"
    yield "elif type(posting) is tuple:"
    if target is not None:
        yield f"    share(row, {field!r}, posting[0].{field})"
    yield f"    if len(posting) < FEW: {field}_rows[value] = posting + (row,)"
    yield f"    else: {field}_put(value, row)"
    yield "else:"
    if target is not None:
        yield f"    found = find_{target[0]}(value)"
        yield f"    if found is not None: share(row, {field!r}, found.{target[1]})"
    yield "    posting[key] = row"


def _moments(table: Table) -> Iterator[str]:
    """A number of its own costs 32 bytes; the moment of the row before is often the same."""
    first, *others = [field.name for field in table.fields if field.kind is Kind.INTEGER] or [""]
    if first:
        yield f"number = row.{first}"
        yield f"if number == last: number = last; share(row, {first!r}, last)"
        yield "else: last = number"
        yield from (f"if row.{name} == number: share(row, {name!r}, number)" for name in others)
