"""graphql-core's lexer with runs of characters read by regular expressions: one character at a time, a string of
60,000 characters blocks the event loop for tens of milliseconds, before the caller is known.

Tokens are the same. Anything unusual, and every error, is left to graphql-core.
"""

from __future__ import annotations

import re

from graphql import Lexer, Token, TokenKind
from graphql.language.block_string import dedent_block_string_lines

IGNORED = re.compile("[ \t,\ufeff]*")
NAME = re.compile("[A-Za-z0-9_]*")
COMMENT = re.compile("[^\r\n\ud800-\udfff]*")
STRING_CHARACTERS = re.compile('(?:[^"\\\\\r\n\ud800-\udfff]+|\\\\["\\\\/bfnrt])*')
ESCAPE = re.compile(r'\\["\\/bfnrt]')
ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
BLOCK_CHARACTERS = re.compile('(?:[^"\\\\\ud800-\udfff]+|\\\\(?:""")?|"(?!""))*')
LINE_END = re.compile("\r\n|\r|\n")


class FastLexer(Lexer):
    """Reads names, strings, comments and spaces a run at a time."""

    def read_next_token(self, start: int) -> Token:
        match = IGNORED.match(self.source.body, start)
        return super().read_next_token(match.end() if match else start)

    def read_name(self, start: int) -> Token:
        match = NAME.match(self.source.body, start)
        if match is None:
            return super().read_name(start)
        return self.create_token(TokenKind.NAME, start, match.end(), match[0])

    def read_comment(self, start: int) -> Token:
        body = self.source.body
        match = COMMENT.match(body, start + 1)
        if (
            match is None
            or body[match.end() : match.end() + 1] not in ("", "\r", "\n")
            or self._max_comments is not None
        ):
            return super().read_comment(start)
        return self.create_token(TokenKind.COMMENT, start, match.end(), match[0])

    def read_string(self, start: int) -> Token:
        body = self.source.body
        match = STRING_CHARACTERS.match(body, start + 1)
        if match is None or body[match.end() : match.end() + 1] != '"':
            return super().read_string(start)
        value = ESCAPE.sub(_unescape, match[0]) if "\\" in match[0] else match[0]
        return self.create_token(TokenKind.STRING, start, match.end() + 1, value)

    def read_block_string(self, start: int) -> Token:
        body = self.source.body
        match = BLOCK_CHARACTERS.match(body, start + 3)
        if match is None or not body.startswith('"""', match.end()):
            return super().read_block_string(start)
        lines = LINE_END.split(match[0])
        value = "\n".join(dedent_block_string_lines([line.replace('\\"""', '"""') for line in lines]))
        token = self.create_token(TokenKind.BLOCK_STRING, start, match.end() + 3, value)
        if len(lines) > 1:
            self.line += len(lines) - 1
            self.line_start = match.end() - len(lines[-1])
        return token


def _unescape(match: re.Match[str]) -> str:
    return ESCAPED[match[0][1]]
