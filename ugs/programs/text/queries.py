"""Where a query ends inside a program's text, and what it is without line breaks and comments."""

from __future__ import annotations

import re

from msgspec import Struct

from ugs.cypher.tokens import LEXICON
from ugs.programs.text.cursor import Cursor

BLANK_LINE = re.compile(r"\n[ \t]*(?:\n|$)")
NEXT_STATEMENT = re.compile(r"\n[-+&?!] +(?:MATCH|OPTIONAL|UNWIND|WITH|IF|@api)\b", re.IGNORECASE)
COMMENT_LINE = re.compile(r"\n[ \t]*--(?=[ \t]|\n|$)[^\n]*")
TRAILING_LIMIT = re.compile(r"\s+LIMIT\s+([1-9]\d{0,15})$", re.IGNORECASE)
WHITE = re.compile(r"\n[ \t]*|[^\S\n]+")
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class QueryText(Struct, frozen=True):
    """A query as it was found."""

    query: str
    limit: int | None
    ended: bool
    """Whether a semicolon ended it."""


def read_query(cursor: Cursor) -> QueryText:
    """A query up to its semicolon, a blank line, the next statement, or the brace around it."""
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
    found = TRAILING_LIMIT.search(query)
    return (query, None) if found is None else (query[: found.start()], int(found[1]))
