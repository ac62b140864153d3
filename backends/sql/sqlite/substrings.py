"""FTS5 with trigrams: an index that finds texts by parts of them, kept in step by triggers.

The index knows numbers only, so a table beside it says which row a number stands for; SQLite's own row ids would not
do, because VACUUM gives new ones. It holds no texts and no places in them: three characters in a row occur in a text
or not. So it lets through a few rows too many, and whoever asks looks at the texts of those.
"""

from __future__ import annotations

import sqlite3
from functools import cache

from backends.sql.dialect import Index, quoted
from backends.sql.names import short
from ugs.catalog import Field, Table

LENGTH = 3
MOST_TRIGRAMS = 24
"""Beyond so many, further ones hardly leave out more rows."""
OPTIONS = "content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1'"


@cache
def is_available() -> bool:
    """Whether this SQLite was built with the index."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(text, {OPTIONS})")
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True


def index_of(table: Table, field: Field) -> Index:
    """The statements for the index of a column and for the triggers that keep it."""
    numbers, trigrams = _names(table, field)
    text, base = quoted(field.stored_as), quoted(table.name)
    here, there = _keys(table)
    listed = ", ".join(there)
    make = [
        f"CREATE TABLE {quoted(numbers)} (number INTEGER PRIMARY KEY, {listed}, UNIQUE ({listed}))",
        f"CREATE VIRTUAL TABLE {quoted(trigrams)} USING fts5(text, {OPTIONS})",
        *_triggers(table, field),
        f"INSERT INTO {quoted(numbers)} ({listed}) SELECT {', '.join(here)} FROM {base} WHERE {text} IS NOT NULL",
        f"INSERT INTO {quoted(trigrams)} (rowid, text) SELECT n.number, t.{text} FROM {base} t "
        f"JOIN {quoted(numbers)} n ON {_same(table, 't')}",
    ]
    drop = [f"DROP TRIGGER IF EXISTS {quoted(_trigger(numbers, kind))}" for kind in ("insert", "update", "delete")]
    return Index(make, [*drop, *(f"DROP TABLE IF EXISTS {quoted(name)}" for name in (trigrams, numbers))])


def _names(table: Table, field: Field) -> tuple[str, str]:
    start = f"{table.name}__{field.stored_as}"
    return short(f"{start}__numbers"), short(f"{start}__trigrams")


def _keys(table: Table) -> tuple[list[str], list[str]]:
    """The columns of the key, as the table calls them and as they are called beside a number."""
    here = [quoted(table.field(name).stored_as) for name in table.key]
    return here, [f"key{place}" for place in range(len(here))]


def _same(table: Table, row: str) -> str:
    """Whether a number stands for a row."""
    return " AND ".join(f"{there} = {row}.{here}" for here, there in zip(*_keys(table), strict=True))


def _trigger(numbers: str, kind: str) -> str:
    return short(f"{numbers}_{kind}")


def _triggers(table: Table, field: Field) -> list[str]:
    numbers, text = _names(table, field)[0], quoted(field.stored_as)
    comes, goes = _comes(table, field), _goes(table, field)
    kinds = {
        "insert": ("INSERT", f"new.{text} IS NOT NULL", comes),
        "delete": ("DELETE", f"old.{text} IS NOT NULL", goes),
        "update": ("UPDATE", f"old.{text} IS NOT new.{text}", [*goes, *comes]),
    }
    return [
        f"CREATE TRIGGER {quoted(_trigger(numbers, kind))} AFTER {event} ON {quoted(table.name)} WHEN {when} "
        f"BEGIN {' '.join(f'{step};' for step in steps)} END"
        for kind, (event, when, steps) in kinds.items()
    ]


def _comes(table: Table, field: Field) -> list[str]:
    numbers, trigrams = map(quoted, _names(table, field))
    here, there = _keys(table)
    text = f"new.{quoted(field.stored_as)}"
    keys = ", ".join(f"new.{key}" for key in here)
    return [
        f"INSERT INTO {numbers} ({', '.join(there)}) SELECT {keys} WHERE {text} IS NOT NULL",
        f"INSERT INTO {trigrams} (rowid, text) SELECT number, {text} FROM {numbers} WHERE {_same(table, 'new')}",
    ]


def _goes(table: Table, field: Field) -> list[str]:
    numbers, trigrams = map(quoted, _names(table, field))
    text = f"old.{quoted(field.stored_as)}"
    return [
        f"INSERT INTO {trigrams} ({trigrams}, rowid, text) SELECT 'delete', number, {text} FROM {numbers} "
        f"WHERE {_same(table, 'old')}",
        f"DELETE FROM {numbers} WHERE {_same(table, 'old')}",
    ]


def rows_with(table: Table, field: Field, mark: str) -> str:
    """A query for the keys of rows whose text may have a part; the mark stands for `asked`."""
    numbers, keys = quoted(_names(table, field)[0]), ", ".join(_keys(table)[1])
    return f"SELECT {keys} FROM {numbers} WHERE number IN ({numbers_with(table, field, mark)})"


def numbers_with(table: Table, field: Field, mark: str) -> str:
    """The same for their numbers, which come one by one."""
    trigrams = quoted(_names(table, field)[1])
    return f"SELECT rowid FROM {trigrams} WHERE {trigrams} MATCH {mark}"


def asked(part: str) -> str:
    """All trigrams of a part, or some of a long one, as the index wants to be asked."""
    every = list(dict.fromkeys(part[at : at + LENGTH] for at in range(len(part) - LENGTH + 1)))
    step = -(-len(every) // MOST_TRIGRAMS)
    return " AND ".join('"' + trigram.replace('"', '""') + '"' for trigram in every[::step])
