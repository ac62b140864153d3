"""Expressions of rows (`ugs.reads.expressions`) in the SQL of SQLite; `->` keeps the characters of a JSON value."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping

from ugs.reads.expressions import ByPrefix, FirstProperty, Instant, Joined, JsonKey
from ugs.reads.rendering import NULL, Expression, Text
from ugs_backends.sql.plans.json_renderer import MAX_INSTANT_MILLISECONDS, REFORMAT_MARK, ExpressionWriter

PATH_KEY = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*')
"""Keys that JSON paths and JSON text spell alike."""
TYPES = {"string": "'text'", "number": "'integer', 'real'", "integer": "'integer'", "boolean": "'true', 'false'"}


def is_writable(piece: Expression) -> bool:
    """Whether SQLite can compute an expression: the operator `->` is there, and keys need no escaping."""
    keys = piece.keys if isinstance(piece, FirstProperty) else (piece.key,) if isinstance(piece, JsonKey) else ()
    return not keys or (sqlite3.sqlite_version_info >= (3, 38) and all(map(PATH_KEY.fullmatch, keys)))


def quote_literal(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def build_path(key: str) -> str:
    return quote_literal(f'$."{key}"')


def render_first_property(piece: FirstProperty, column: str, otherwise: str) -> str:
    cases = ", ".join(
        f"CASE WHEN json_type({column}, {build_path(key)}) = 'text' AND {column} ->> {build_path(key)} <> ''"
        f" THEN {column} -> {build_path(key)} END"
        for key in piece.keys
    )
    return f"coalesce({cases}, json_quote({otherwise}))"


def render_instant(piece: Instant, column: str) -> str:
    date = f"strftime('%Y-%m-%dT%H:%M:%S', {column} / 1000, 'unixepoch')"
    text = f"'\"' || {date} || printf('.%03d', {column} % 1000) || 'Z\"'"
    return f"(CASE WHEN {column} BETWEEN 0 AND {MAX_INSTANT_MILLISECONDS} THEN {text} ELSE '{REFORMAT_MARK}' END)"


def render_by_prefix(piece: ByPrefix, column: str) -> str:
    cases = " ".join(
        f"WHEN substr({column}, 1, {len(prefix)}) = {quote_literal(prefix)} THEN {quote_literal(text)}"
        for prefix, text in piece.texts
    )
    return f"(CASE {cases} ELSE {quote_literal(piece.otherwise)} END)"


def render_json_key(piece: JsonKey, column: str) -> str:
    value = f"{column} -> {build_path(piece.key)}"
    if piece.type is None:
        return f"coalesce({value}, '{NULL}')"
    test = f"json_type({column}, {build_path(piece.key)}) IN ({TYPES[piece.type]})"
    return f"(CASE WHEN {test} THEN {value} ELSE '{NULL}' END)"


def render_joined(piece: Joined, *columns: str) -> str:
    left = iter(columns)
    parts = [quote_literal(part.text) if isinstance(part, Text) else next(left) for part in piece.parts]
    return f"json_quote({' || '.join(parts)})"


EXPRESSIONS: Mapping[type[Expression], ExpressionWriter] = {
    FirstProperty: render_first_property,
    Instant: render_instant,
    ByPrefix: render_by_prefix,
    Joined: render_joined,
    JsonKey: render_json_key,
}
