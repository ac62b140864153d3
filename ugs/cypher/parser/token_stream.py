"""The token stream that all parts of the parser share."""

from __future__ import annotations

from abc import abstractmethod
from typing import NoReturn

from ugs.cypher.errors import CypherSyntaxError, did_you_mean
from ugs.cypher.lexer import CLOSING, MAX_NESTING, OPENING, Token, check_nesting, tokenize
from ugs.cypher.syntax import Expression, Query

WORDS = (
    "RETURN MATCH OPTIONAL WHERE WITH UNWIND ORDER SKIP LIMIT UNION AND OR XOR NOT IN IS AS STARTS CONTAINS THEN ELSE "
    "WHEN DISTINCT CREATE MERGE SET DELETE DETACH REMOVE FOREACH"
)
RESERVED = frozenset(WORDS.split())
"""Words that cannot be variables unless quoted, since they begin or continue something."""


class Cursor:
    """A position in the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        check_nesting(self.tokens)
        self.place = 0
        self.depth = 0
        self.in_call = False
        """Whether the query being read is that of a CALL, which needs a RETURN."""
        self._openers: list[int | None] = []
        self._closers: dict[int, int] = {}

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    @property
    def at(self) -> int:
        return self.tokens[self.place].start

    def ahead(self, steps: int = 1) -> Token:
        return self.tokens[min(self.place + steps, len(self.tokens) - 1)]

    def is_word(self, *words: str) -> bool:
        """Whether the next tokens are these keywords."""
        return all(self.ahead(n).kind == "name" and self.ahead(n).upper == word for n, word in enumerate(words))

    def is_op(self, *ops: str) -> bool:
        """Whether the next token is one of these signs."""
        token = self.tokens[self.place]
        return token.kind == "op" and token.value in ops

    def opener_of(self, place: int) -> int | None:
        """The innermost bracket around a token, as its index; None outside all brackets."""
        if not self._openers:
            self._match_brackets()
        return self._openers[place]

    def closer_of(self, opener: int) -> int:
        """The index of the closing bracket, or of the end of the text."""
        return self._closers.get(opener, len(self.tokens) - 1)

    def _match_brackets(self) -> None:
        open_brackets: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.kind == "op" and token.value in CLOSING and open_brackets:
                self._closers[open_brackets.pop()] = number
            self._openers.append(open_brackets[-1] if open_brackets else None)
            if token.kind == "op" and token.value in OPENING:
                open_brackets.append(number)

    def accept_word(self, *words: str) -> bool:
        if self.is_word(*words):
            self.place += len(words)
            return True
        return False

    def accept_op(self, op: str) -> bool:
        if self.is_op(op):
            self.place += 1
            return True
        return False

    def expect_word(self, *words: str) -> None:
        if not self.accept_word(*words):
            self.fail(" ".join(words))

    def expect_op(self, op: str) -> None:
        if not self.accept_op(op):
            self.fail(repr(op))

    def fail(self, expected: str, known: tuple[str, ...] = ()) -> NoReturn:
        """Raise an error that names the expected and the actual token."""
        token = self.token
        if token.kind == "bad":
            message = f"{token.value!r} is neither a number nor a name; expected {expected}"
        else:
            found = "the end of the query" if token.kind == "end" else repr(self.text[token.start : token.end][:40])
            message = f"Expected {expected}, found {found}{did_you_mean(token.upper, known)}"
        raise CypherSyntaxError("UnexpectedSyntax", message, token.start)

    def name(self, what: str) -> str:
        """A variable or alias."""
        token = self.token
        if token.kind == "quoted" or (token.kind == "name" and token.upper not in RESERVED):
            self.place += 1
            return token.value
        self.fail(what)

    def any_name(self, what: str) -> str:
        """A label, type or property key; keywords are allowed."""
        token = self.token
        if token.kind in ("name", "quoted"):
            self.place += 1
            return token.value
        self.fail(what)

    def enter(self) -> None:
        """One level deeper; operators without brackets nest too."""
        self.depth += 1
        if self.depth > MAX_NESTING * 2:
            raise CypherSyntaxError("NestingTooDeep", "The query nests too deep", self.at)

    def leave(self) -> None:
        self.depth -= 1

    @abstractmethod
    def expression(self) -> Expression:
        """Any expression."""

    @abstractmethod
    def query(self) -> Query:
        """A whole query, also inside braces."""
