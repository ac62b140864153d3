"""Expressions of rows (`ugs.reads.expressions`) in the SQL of PostgreSQL.

JSON columns hold canonical text. The type `json` keeps the characters of a value, so what it extracts is what the
kernel would write.
"""

from __future__ import annotations

from collections.abc import Mapping

from ugs.reads.expressions import ByPrefix, FirstProperty, Instant, Joined, JsonKey
from ugs.reads.rendering import NULL, Expression, Text, json_of
from ugs.values import FORBIDDEN_TEXT
from ugs_backends.sql.plans.json_renderer import FALLBACK, MAX_INSTANT_MILLISECONDS, ExpressionWriter


def quote_literal(text: str) -> str:
    """A text as an SQL literal without `$`, which marks parameters in statements for many requests."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\x24")
    return f"E'{escaped}'"


def render_first_property(piece: FirstProperty, column: str, otherwise: str) -> str:
    # strpos spares parsing the JSON of rows that have no such key with a text.
    cases = ", ".join(
        f"CASE WHEN strpos({column}, {quote_literal(json_of(key) + ':' + QUOTE)}) > 0"
        f" AND json_typeof({column}::json -> {quote_literal(key)}) = 'string'"
        f" AND {column}::json ->> {quote_literal(key)} <> ''"
        f" THEN ({column}::json -> {quote_literal(key)})::text END"
        for key in piece.keys
    )
    return f"coalesce({cases}, to_json({otherwise})::text)"


QUOTE = '"'


def render_instant(piece: Instant, column: str) -> str:
    date = f"to_char(timestamp 'epoch' + ({column} / 1000) * interval '1 second', 'YYYY-MM-DD\"T\"HH24:MI:SS')"
    text = f"'\"' || {date} || '.' || lpad(({column} % 1000)::text, 3, '0') || 'Z\"'"
    return f"(CASE WHEN {column} BETWEEN 0 AND {MAX_INSTANT_MILLISECONDS} THEN {text} ELSE '{FALLBACK}' END)"


def render_by_prefix(piece: ByPrefix, column: str) -> str:
    cases = " ".join(
        f"WHEN starts_with({column}, {quote_literal(prefix)}) THEN {quote_literal(text)}"
        for prefix, text in piece.texts
    )
    return f"(CASE {cases} ELSE {quote_literal(piece.otherwise)} END)"


def render_json_key(piece: JsonKey, column: str) -> str:
    if FORBIDDEN_TEXT.search(piece.key):
        return f"'{NULL}'"  # no stored key has such characters, and the database refuses them
    value = f"{column}::json -> {quote_literal(piece.key)}"
    if piece.type is None:
        return f"coalesce(({value})::text, '{NULL}')"
    test = f"json_typeof({value}) = '{'number' if piece.type == 'integer' else piece.type}'"
    if piece.type == "integer":
        test += f" AND ({value})::text !~ '[.eE]'"
    return f"(CASE WHEN {test} THEN ({value})::text ELSE '{NULL}' END)"


def render_joined(piece: Joined, *columns: str) -> str:
    left = iter(columns)
    parts = [quote_literal(part.text) if isinstance(part, Text) else next(left) for part in piece.parts]
    return f"to_json({' || '.join(parts)})::text"


EXPRESSIONS: Mapping[type[Expression], ExpressionWriter] = {
    FirstProperty: render_first_property,
    Instant: render_instant,
    ByPrefix: render_by_prefix,
    Joined: render_joined,
    JsonKey: render_json_key,
}
