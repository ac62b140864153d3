"""A substring index with FTS5 trigrams, maintained by triggers.

FTS5 knows only integer ids, so a separate table maps them to keys; SQLite's own row ids would not do, because VACUUM
changes them. The index stores neither texts nor positions, only which trigrams occur in a text. So it returns a few
false positives, and the caller must test the texts of the candidates.
"""

from __future__ import annotations

import sqlite3
from functools import cache

from ugs.tables import Field, Table
from ugs_backends.sql.dialect import Index, quote_identifier
from ugs_backends.sql.table_names import shorten

TRIGRAM_LENGTH = 3
MAX_TRIGRAMS = 24
"""Further trigrams hardly exclude more rows."""
OPTIONS = "content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1'"


@cache
def is_available() -> bool:
    """Whether this build of SQLite supports the index."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(text, {OPTIONS})")
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True


def build_index(table: Table, field: Field) -> Index:
    """The statements for the index of a column and its triggers."""
    numbers, trigrams = _name_objects(table, field)
    text, base = quote_identifier(field.stored_as), quote_identifier(table.name)
    here, there = _list_keys(table)
    listed = ", ".join(there)
    make = [
        f"CREATE TABLE {quote_identifier(numbers)} (number INTEGER PRIMARY KEY, {listed}, UNIQUE ({listed}))",
        f"CREATE VIRTUAL TABLE {quote_identifier(trigrams)} USING fts5(text, {OPTIONS})",
        *_build_triggers(table, field),
        f"INSERT INTO {quote_identifier(numbers)} ({listed}) "
        f"SELECT {', '.join(here)} FROM {base} WHERE {text} IS NOT NULL",
        f"INSERT INTO {quote_identifier(trigrams)} (rowid, text) SELECT n.number, t.{text} FROM {base} t "
        f"JOIN {quote_identifier(numbers)} n ON {_build_row_match(table, 't')}",
    ]
    drop = [
        f"DROP TRIGGER IF EXISTS {quote_identifier(_build_trigger(numbers, kind))}"
        for kind in ("insert", "update", "delete")
    ]
    return Index(make, [*drop, *(f"DROP TABLE IF EXISTS {quote_identifier(name)}" for name in (trigrams, numbers))])


def _name_objects(table: Table, field: Field) -> tuple[str, str]:
    start = f"{table.name}__{field.stored_as}"
    return shorten(f"{start}__numbers"), shorten(f"{start}__trigrams")


def _list_keys(table: Table) -> tuple[list[str], list[str]]:
    """The columns of the key in the table, and in the table of numbers."""
    here = [quote_identifier(table.field(name).stored_as) for name in table.key]
    return here, [f"key{place}" for place in range(len(here))]


def _build_row_match(table: Table, row: str) -> str:
    """The condition that a number belongs to a row."""
    return " AND ".join(f"{there} = {row}.{here}" for here, there in zip(*_list_keys(table), strict=True))


def _build_trigger(numbers: str, kind: str) -> str:
    return shorten(f"{numbers}_{kind}")


def _build_triggers(table: Table, field: Field) -> list[str]:
    numbers, text = _name_objects(table, field)[0], quote_identifier(field.stored_as)
    comes, goes = _build_insert_body(table, field), _build_delete_body(table, field)
    kinds = {
        "insert": ("INSERT", f"new.{text} IS NOT NULL", comes),
        "delete": ("DELETE", f"old.{text} IS NOT NULL", goes),
        "update": ("UPDATE", f"old.{text} IS NOT new.{text}", [*goes, *comes]),
    }
    return [
        f"CREATE TRIGGER {quote_identifier(_build_trigger(numbers, kind))} "
        f"AFTER {event} ON {quote_identifier(table.name)} WHEN {when} "
        f"BEGIN {' '.join(f'{step};' for step in steps)} END"
        for kind, (event, when, steps) in kinds.items()
    ]


def _build_insert_body(table: Table, field: Field) -> list[str]:
    numbers, trigrams = map(quote_identifier, _name_objects(table, field))
    here, there = _list_keys(table)
    text = f"new.{quote_identifier(field.stored_as)}"
    keys = ", ".join(f"new.{key}" for key in here)
    return [
        f"INSERT INTO {numbers} ({', '.join(there)}) SELECT {keys} WHERE {text} IS NOT NULL",
        f"INSERT INTO {trigrams} (rowid, text) "
        f"SELECT number, {text} FROM {numbers} WHERE {_build_row_match(table, 'new')}",
    ]


def _build_delete_body(table: Table, field: Field) -> list[str]:
    numbers, trigrams = map(quote_identifier, _name_objects(table, field))
    text = f"old.{quote_identifier(field.stored_as)}"
    return [
        f"INSERT INTO {trigrams} ({trigrams}, rowid, text) SELECT 'delete', number, {text} FROM {numbers} "
        f"WHERE {_build_row_match(table, 'old')}",
        f"DELETE FROM {numbers} WHERE {_build_row_match(table, 'old')}",
    ]


def find_rows(table: Table, field: Field, mark: str) -> str:
    """A query for the keys of candidate rows; `mark` is the placeholder of a `build_match_query`."""
    numbers, keys = quote_identifier(_name_objects(table, field)[0]), ", ".join(_list_keys(table)[1])
    return f"SELECT {keys} FROM {numbers} WHERE number IN ({find_numbers(table, field, mark)})"


def find_numbers(table: Table, field: Field, mark: str) -> str:
    """A query for the numbers of candidate rows, which returns the first ones without finding all."""
    trigrams = quote_identifier(_name_objects(table, field)[1])
    return f"SELECT rowid FROM {trigrams} WHERE {trigrams} MATCH {mark}"


def build_match_query(part: str) -> str:
    """The FTS5 query for the trigrams of a substring; for a long one, a sample of them."""
    every = list(dict.fromkeys(part[at : at + TRIGRAM_LENGTH] for at in range(len(part) - TRIGRAM_LENGTH + 1)))
    step = -(-len(every) // MAX_TRIGRAMS)
    return " AND ".join('"' + trigram.replace('"', '""') + '"' for trigram in every[::step])
