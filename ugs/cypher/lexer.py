"""The lexer: splits query text into tokens with their offsets.

It is one regular expression. A number directly followed by letters becomes a `bad` token, since only the parser knows
whether a number is expected there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ugs.cypher.errors import CypherSyntaxError

MAX_QUERY_BYTES = 16 * 1024
MAX_NESTING = 100
MAX_DIGITS = 400
"""Maximum length of an integer literal, leading zeros included."""


class Token(NamedTuple):
    """A token: its kind, its value, and its offsets."""

    kind: str
    """name, quoted, integer, float, bad, string, parameter, op or end."""
    value: str
    upper: str
    """The name in upper case, for keywords; the operator itself; else empty."""
    start: int
    end: int


LEXICON = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<name>[^\W\d]\w*)
  | (?P<number>(?:\d(?:_?\d)*\.\d(?:_?\d)*|\.\d(?:_?\d)*|\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?(?!\w)|0[xXoO]\w*|\d\w*)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<quoted>`[^`\\]*`)
  | \$(?P<parameter>\w+|`[^`\\]*`)
  | (?P<op><>|<=|>=|=~|\.\.|\+=|\|\||::|[-+*/%^=<>()\[\]{},.:;|&!?$])
    """,
    re.VERBOSE | re.DOTALL,
)
UNDERSCORE = re.compile(r"(?<=[0-9a-fA-FxXoO])_(?=[0-9a-fA-F])")
"""The digit separator of number literals."""
FLOAT = re.compile(r"(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")
INTEGER = re.compile(r"\d+|0[xX][0-9a-fA-F]+|0[oO][0-7]+")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "`": "`"}
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())


def tokenize(text: str) -> list[Token]:
    """All tokens of a text, followed by an `end` token."""
    tokens: list[Token] = []
    place, last_end = 0, text.rfind("*/")
    while place < len(text):
        if place >= last_end and text.startswith("/*", place):
            raise _build_lexer_error(text, place)
        match = LEXICON.match(text, place)
        if match is None:
            raise _build_lexer_error(text, place)
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
        plain = UNDERSCORE.sub("", value)
        return Token(_number_kind(plain), plain, "", start, end)
    if kind == "string":
        return Token(kind, unescape(value[1:-1], start + 1), "", start, end)
    return Token(kind, value.strip("`"), "", start, end)


def _number_kind(value: str) -> str:
    if FLOAT.fullmatch(value):
        return "float"
    return "integer" if INTEGER.fullmatch(value) else "bad"


def build_overflow_error(text: str, at: int) -> CypherSyntaxError:
    return CypherSyntaxError("IntegerOverflow", f"{text[:40]} does not fit a 64-bit integer", at)


def read_integer(text: str, at: int) -> int:
    """Parse a decimal, hexadecimal or octal integer."""
    if len(text) > MAX_DIGITS:
        raise build_overflow_error(text, at)
    return int(text) if text.isdigit() else int(text, 0)


def unescape(body: str, start: int) -> str:
    """The value of a string literal."""
    if "\\" not in body:
        return body

    def replace(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "uU":
            return _decode_escape(code, start + match.start())
        if code not in ESCAPES:
            raise CypherSyntaxError("UnexpectedSyntax", f"\\{code} is no escape sequence", start + match.start())
        return ESCAPES[code]

    return _combine_surrogates(ESCAPE.sub(replace, body), start)


def _combine_surrogates(text: str, at: int) -> str:
    """Combine pairs of surrogate escapes into characters; a lone surrogate is an error."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise CypherSyntaxError("InvalidUnicodeLiteral", "The string holds half of a character", at) from None


def _decode_escape(code: str, at: int) -> str:
    try:
        return chr(int(code[1:], 16))
    except (ValueError, OverflowError):
        message = f"\\{code} is no Unicode escape: write \\u and four, or \\U and eight hexadecimal digits"
        raise CypherSyntaxError("InvalidUnicodeLiteral", message, at) from None


def _build_lexer_error(text: str, place: int) -> CypherSyntaxError:
    found = text[place]
    if found in "'\"`":
        return CypherSyntaxError("UnexpectedSyntax", f"The quote {found} is not closed, or holds a backslash", place)
    if text.startswith("/*", place):
        return CypherSyntaxError("UnexpectedSyntax", "The comment is not closed", place)
    if not found.isascii():
        return CypherSyntaxError("InvalidUnicodeCharacter", f"The character {found!r} has no meaning here", place)
    return CypherSyntaxError("UnexpectedSyntax", f"The character {found!r} has no meaning here", place)


def check_nesting(tokens: list[Token]) -> None:
    """Reject brackets nested deeper than `MAX_NESTING`, before the parser recurses into them."""
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
