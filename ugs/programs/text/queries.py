"""The lexical extent of a query in a program's text, and its normalisation to one line."""

from __future__ import annotations

import re

from msgspec import Struct

from ugs.cypher.lexer import LEXICON
from ugs.programs.text.cursor import Cursor

BLANK_LINE = re.compile(r"\n[ \t]*(?:\n|$)")
NEXT_STATEMENT = re.compile(r"\n[-+&?!] +(?:MATCH|OPTIONAL|UNWIND|WITH|IF|@api|@cypher)\b", re.IGNORECASE)
COMMENT_LINE = re.compile(r"\n[ \t]*--(?=[ \t]|\n|$)[^\n]*")
LIMIT_NUMBER = re.compile(r"[1-9]\d{0,15}")
DIGITS = "0123456789"
WHITE = re.compile(r"\n[ \t]*|[^\S\n]+")
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class QueryText(Struct, frozen=True):
    """A query as it was found."""

    query: str
    limit: int | None
    ended: bool
    """Whether a semicolon ended it."""


def read_query(cursor: Cursor) -> QueryText:
    """A query up to its semicolon, a blank line, the next statement, or the closing brace."""
    pieces: list[str] = []
    depth, start = 0, cursor.place
    while not cursor.at_end and not _ends(cursor, depth):
        piece = _piece(cursor)
        depth += (piece in OPENING) - (piece in CLOSING)
        if piece != " " or pieces[-1:] != [" "]:
            pieces.append(piece)
    query, limit = split_limit("".join(pieces).strip())
    if not query:
        cursor.fail("Expected a query, @api or IF", start)
    ended = cursor.starts(";")
    cursor.place += ended
    return QueryText(query, limit, ended)


def _ends(cursor: Cursor, depth: int) -> bool:
    if cursor.starts(";") or cursor.starts("}"):
        return depth <= 0
    text, place = cursor.text, cursor.place
    return bool(BLANK_LINE.match(text, place) or NEXT_STATEMENT.match(text, place))


def _piece(cursor: Cursor) -> str:
    """The next token; white space and comments become one space."""
    if cursor.match(COMMENT_LINE) or cursor.match(WHITE):
        return " "
    if cursor.starts("/*") and cursor.place >= cursor.last_comment_end:
        cursor.fail("A quote or comment of the query is not closed")
    found = cursor.match(LEXICON)
    if found is not None:
        return " " if found.lastgroup == "space" else found[0]
    char = cursor.text[cursor.place]
    if char in "'\"`" or cursor.starts("/*"):
        cursor.fail("A quote or comment of the query is not closed")
    cursor.place += 1
    return char


def split_limit(query: str) -> tuple[str, int | None]:
    """The query without its trailing LIMIT, and that number (C-82)."""
    # Read from the end: a search would try every run of spaces in the whole text.
    number = query[len(query.rstrip(DIGITS)) :]
    before = query[: len(query) - len(number)]
    rest = before.rstrip()
    if not LIMIT_NUMBER.fullmatch(number) or rest == before or rest[-5:].upper() != "LIMIT":
        return query, None
    head = rest[:-5].rstrip()
    return (query, None) if head == rest[:-5] else (head, int(number))
