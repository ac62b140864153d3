"""The lexer: query text becomes tokens with their places.

One regular expression does the work. A number glued to letters becomes a `bad` token, since only the parser knows
whether it stands where a number was meant.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ugs.cypher.errors import CypherSyntaxError

MAX_TEXT = 16 * 1024
MAX_NESTING = 100


class Token(NamedTuple):
    """A piece of text: its kind, its value, and where it stands."""

    kind: str
    """name, quoted, integer, float, bad, string, parameter, op or end."""
    value: str
    upper: str
    """The word in capitals, for keywords; the sign itself for operators."""
    start: int
    end: int


LEXICON = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<name>[^\W\d]\w*)
  | (?P<number>(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?(?!\w)|0[xXoO]\w*|\d\w*)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<quoted>`[^`\\]*`)
  | \$(?P<parameter>\w+|`[^`\\]*`)
  | (?P<op><>|<=|>=|=~|\.\.|\+=|[-+*/%^=<>()\[\]{},.:;|&!?])
    """,
    re.VERBOSE | re.DOTALL,
)
FLOAT = re.compile(r"(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")
INTEGER = re.compile(r"\d+|0[xX][0-9a-fA-F]+|0[oO][0-7]+")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "`": "`"}
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())


def tokenize(text: str) -> list[Token]:
    """All tokens of a text, closed by an `end` token."""
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        match = LEXICON.match(text, place)
        if match is None:
            raise _unreadable(text, place)
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(_token(kind, match))
        place = match.end()
    tokens.append(Token("end", "", "", len(text), len(text)))
    return tokens


def _token(kind: str, match: re.Match[str]) -> Token:
    value, start, end = match[kind], match.start(), match.end()
    if kind == "name":
        return Token(kind, value, value.upper(), start, end)
    if kind == "op":
        return Token(kind, value, value, start, end)
    if kind == "number":
        return Token(_number_kind(value), value, "", start, end)
    if kind == "string":
        return Token(kind, unescaped(value[1:-1], start + 1), "", start, end)
    return Token(kind, value.strip("`"), "", start, end)


def _number_kind(value: str) -> str:
    if FLOAT.fullmatch(value):
        return "float"
    return "integer" if INTEGER.fullmatch(value) else "bad"


def unescaped(body: str, start: int) -> str:
    """The text a string literal stands for."""
    if "\\" not in body:
        return body

    def replace(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "uU":
            return _character(code, start + match.start())
        if code not in ESCAPES:
            raise CypherSyntaxError("UnexpectedSyntax", f"\\{code} is no escape sequence", start + match.start())
        return ESCAPES[code]

    return _paired(ESCAPE.sub(replace, body), start)


def _paired(text: str, at: int) -> str:
    """Surrogate escapes come in pairs that make one character."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise CypherSyntaxError("InvalidUnicodeLiteral", "The string holds half of a character", at) from None


def _character(code: str, at: int) -> str:
    try:
        return chr(int(code[1:], 16))
    except (ValueError, OverflowError):
        message = f"\\{code} is no Unicode escape: write \\u and four, or \\U and eight hexadecimal digits"
        raise CypherSyntaxError("InvalidUnicodeLiteral", message, at) from None


def _unreadable(text: str, place: int) -> CypherSyntaxError:
    found = text[place]
    if found in "'\"`":
        return CypherSyntaxError("UnexpectedSyntax", f"The quote {found} is not closed, or holds a backslash", place)
    if text.startswith("/*", place):
        return CypherSyntaxError("UnexpectedSyntax", "The comment is not closed", place)
    if not found.isascii():
        return CypherSyntaxError("InvalidUnicodeCharacter", f"The character {found!r} has no meaning here", place)
    return CypherSyntaxError("UnexpectedSyntax", f"The character {found!r} has no meaning here", place)


def check_nesting(tokens: list[Token]) -> None:
    """Refuse brackets nested deeper than anyone needs, before the parser recurses into them."""
    depth = 0
    for token in tokens:
        if token.kind != "op":
            continue
        if token.value in OPENING:
            depth += 1
            if depth > MAX_NESTING:
                raise CypherSyntaxError("NestingTooDeep", f"Brackets nest deeper than {MAX_NESTING}", token.start)
        elif token.value in CLOSING:
            depth -= 1
