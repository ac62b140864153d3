"""Our lexer gives the tokens and errors of graphql-core's, for any text, in much less time."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import GraphQLSyntaxError, Lexer, Source, TokenKind
from hypothesis import given
from hypothesis import strategies as st

from tests.work import count_lines
from ugs_schema.compiler.lexer import FastLexer

PIECES = [
    '"', '"""', "\\", '\\"', '\\"""', "\\n", "\\u00e9", "\\u{1F600}", "\\x", "\n", "\r", "\r\n", " ", "\t", ",", "\ufeff",
    "#", "a", "Ä", "😀", "\ud800", "\udc00", "\x00", "\x07", "name_1", "0", "-1.5e3", "{", "}", "(", ")", ":", "$", "...",
    "@", "!", "[", "]", "=", "|", "&",
]  # fmt: skip


def tokens(kind: type[Lexer], text: str) -> Any:
    lexer, found = kind(Source(text)), []
    try:
        while True:
            token = lexer.advance()
            found.append((token.kind, token.start, token.end, token.line, token.column, token.value))
            if token.kind is TokenKind.EOF:
                return found
    except GraphQLSyntaxError as error:
        return found, error.message, [(place.line, place.column) for place in error.locations or ()]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_it_reads_what_graphql_core_reads(text: str) -> None:
    assert tokens(FastLexer, text) == tokens(Lexer, text)


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(['"{}"', '"""{}""" x', "#{}\nx"]))
def test_it_reads_strings_and_comments_as_graphql_core_does(text: str, around: str) -> None:
    assert tokens(FastLexer, around.format(text)) == tokens(Lexer, around.format(text))


@pytest.mark.parametrize(
    "text",
    ['"' + "x" * 60_000 + '"', '"""' + 'x "y' * 15_000 + ' """', "#" + "x" * 60_000, " " * 60_000, "x" * 60_000],
    ids=["string", "block string", "comment", "spaces", "name"],
)  # fmt: skip
def test_long_runs_take_few_steps(text: str) -> None:
    """graphql-core takes several lines of Python a character."""
    assert count_lines(lambda: tokens(FastLexer, text)) < 500 < len(text)
