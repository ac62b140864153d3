"""A cursor over the program text, with the lexical elements: spaces, words, JSON values."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from ugs.programs.errors import ProgramTextError

SPACES = re.compile(r"[ \t\r]*")
WHITE = re.compile(r"\s*")
WORD = re.compile(r"[^\s;{}]+")
QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
BARE = re.compile(r"[^\s]+")
MAX_TEXT_CHARS = 128 << 10
_decoder = json.JSONDecoder()


class Cursor:
    """A text and the current offset in it."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT_CHARS:
            raise ProgramTextError(f"The text is longer than {MAX_TEXT_CHARS} characters", 1, 1)
        self.text = text.replace("\r\n", "\n")
        self.place = 0
        self.last_comment_end = self.text.rfind("*/")
        """Where the last comment that is closed ends; none that begins later is."""

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.text)

    def fail(self, message: str, place: int | None = None) -> NoReturn:
        line, column = self.position(self.place if place is None else place)
        raise ProgramTextError(message, line, column)

    def position(self, place: int) -> tuple[int, int]:
        """Line and column, counted from 1."""
        before = self.text[:place]
        return before.count("\n") + 1, place - (before.rfind("\n") + 1) + 1

    def starts(self, text: str) -> bool:
        return self.text.startswith(text, self.place)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern at the current offset and advance behind it."""
        found = pattern.match(self.text, self.place)
        if found is not None:
            self.place = found.end()
        return found

    def skip_white(self) -> None:
        self.match(WHITE)

    def accept(self, text: str) -> bool:
        """Whether the text follows, after spaces; if so, advance behind it."""
        self.skip_white()
        if not self.starts(text):
            return False
        self.place += len(text)
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"Expected {text!r}")

    def word(self, what: str) -> str:
        """The next run of characters without spaces, braces and semicolons."""
        self.skip_white()
        found = self.match(WORD)
        if found is None:
            self.fail(f"Expected {what}")
        return found[0]

    def rest_of_line(self) -> str:
        end = self.text.find("\n", self.place)
        end = len(self.text) if end < 0 else end
        found, self.place = self.text[self.place : end], end
        return found.strip()

    def json_value(self, what: str) -> Any:
        """A JSON value, which may span lines."""
        self.skip_white()
        try:
            value, self.place = _decoder.raw_decode(self.text, self.place)
        except json.JSONDecodeError as error:
            self.fail(f"Expected {what} as JSON: {error.msg}", error.pos)
        except ValueError:
            self.fail(f"A number of {what} has too many digits")
        except RecursionError:
            self.fail(f"The JSON of {what} nests too deep")
        return value

    def loose_value(self, what: str) -> Any:
        """A JSON value, a text in single quotes, or a bare word, which is also a text."""
        self.match(SPACES)
        quoted = self.match(QUOTED)
        if quoted is not None:
            return quoted[1].replace("\\'", "'").replace("\\\\", "\\")
        start = self.place
        try:
            value, self.place = _decoder.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return self._bare(what)
        if BARE.match(self.text, self.place):
            # Such as 2fast: it began like a number and is a word.
            self.place = start
            return self._bare(what)
        return value

    def _bare(self, what: str) -> str:
        if self.starts('"'):
            self.fail(f"The quote of {what} is not closed")
        found = self.match(BARE)
        if found is None:
            self.fail(f"Expected {what}")
        return found[0]


def from_quoted(body: str) -> str:
    """The text inside double quotes, unescaped as JSON."""
    found: str = json.loads(f'"{body}"')
    return found
