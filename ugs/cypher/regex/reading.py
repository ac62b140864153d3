"""Reading a pattern into a tree of parts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from ugs.cypher.errors import CypherArgumentError

Test = Callable[[str], bool]
MAX_PATTERN = 1000
MAX_REPEAT = 1000
MAX_GROUPS = 50


@dataclass(frozen=True, slots=True)
class One:
    """One character that passes a test."""

    test: Test


@dataclass(frozen=True, slots=True)
class Edge:
    """The start (`^`) or the end (`$`) of the text."""

    at_end: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """Parts one after another."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several parts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part so many times; None is without end."""

    part: Part
    low: int
    high: int | None


Part = One | Edge | Chain | Choice | Repeat


def refused(pattern: str, reason: str) -> CypherArgumentError:
    return CypherArgumentError("InvalidArgumentValue", f"The pattern {pattern[:60]!r} cannot be used: {reason}")


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


CLASSES: dict[str, Test] = {
    "d": lambda char: "0" <= char <= "9",
    "w": _is_word,
    "s": lambda char: char in " \t\n\x0b\f\r",
    "h": lambda char: char in " \t\xa0",
}


def _negated(test: Test) -> Test:
    return lambda char: not test(char)


CLASSES.update({name.upper(): _negated(test) for name, test in CLASSES.items()})
CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "a": "\a", "e": "\x1b", "0": "\0"}
SIMPLE_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def read_pattern(pattern: str) -> Part:
    """The tree of a pattern."""
    if len(pattern) > MAX_PATTERN:
        raise refused(pattern, f"it is longer than {MAX_PATTERN} characters")
    return Reader(pattern).whole()


class Reader:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0
        self.depth = 0
        self.flags: set[str] = set()

    def whole(self) -> Part:
        found = self.choice()
        if self.place < len(self.pattern):
            raise self.error("a bracket is closed that was never opened")
        return found

    def error(self, reason: str) -> CypherArgumentError:
        return refused(self.pattern, f"{reason}, at character {self.place + 1}")

    def peek(self, count: int = 1) -> str:
        return self.pattern[self.place : self.place + count]

    def accept(self, text: str) -> bool:
        if self.pattern.startswith(text, self.place):
            self.place += len(text)
            return True
        return False

    def take(self) -> str:
        if self.place >= len(self.pattern):
            raise self.error("it ends too early")
        self.place += 1
        return self.pattern[self.place - 1]

    def choice(self) -> Part:
        parts = [self.chain()]
        while self.accept("|"):
            parts.append(self.chain())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def chain(self) -> Part:
        parts: list[Part] = []
        while self.peek() and self.peek() not in "|)":
            part = self.part()
            if part is not None:
                parts.append(self.repeated(part))
        return Chain(tuple(parts))

    def part(self) -> Part | None:
        char = self.take()
        if char == "(":
            return self.group()
        if char == "[":
            return One(self.folded(self.set_of()))
        if char == ".":
            return One(lambda c: True) if "s" in self.flags else One(lambda c: c not in "\n\r\u0085\u2028\u2029")
        if char in "^$":
            return Edge(char == "$")
        if char in "*+?{":
            raise self.error(f"there is nothing to repeat before {char}")
        return One(self.folded(self.escape() if char == "\\" else self.equal(char)))

    def group(self) -> Part | None:
        self.depth += 1
        if self.depth > MAX_GROUPS:
            raise self.error("groups nest too deep")
        kept = set(self.flags)
        if self.accept("?") and self._opening():
            self.depth -= 1
            return None
        found = self.choice()
        if not self.accept(")"):
            raise self.error("a group is not closed")
        self.flags, self.depth = kept, self.depth - 1
        return found

    def _opening(self) -> bool:
        """What follows `(?`; True when the group was only flags, which hold from here on."""
        if self.accept(":"):
            return False
        if self.accept("<") and self.peek().isalpha():
            while self.take() != ">":
                pass
            return False
        flags = ""
        while self.peek() in ("i", "s", "u", "m", "x", "d"):
            flags += self.take()
        if not flags or set(flags) - {"i", "s", "u"}:
            raise self.error("looking around and these options are not supported")
        self.flags |= set(flags)
        if self.accept(":"):
            return False
        if not self.accept(")"):
            raise self.error("options are not closed")
        return True

    def repeated(self, part: Part) -> Part:
        while self.peek() and self.peek() in "*+?{":
            low, high = self._bounds()
            if self.peek() == "+":
                raise self.error("possessive repetition is not supported")
            self.accept("?")
            part = Repeat(part, low, high)
        return part

    def _bounds(self) -> tuple[int, int | None]:
        char = self.take()
        if char != "{":
            return SIMPLE_REPEATS[char]
        low = self._number()
        high: int | None = low
        if self.accept(","):
            high = None if self.peek() == "}" else self._number()
        if not self.accept("}") or (high is not None and high < low):
            raise self.error("a repetition is written {low,high}")
        return low, high

    def _number(self) -> int:
        digits = ""
        while self.peek().isdecimal():
            digits += self.take()
        if not digits or len(digits) > 4 or int(digits) > MAX_REPEAT:
            raise self.error(f"a repetition takes a number up to {MAX_REPEAT}")
        return int(digits)

    def equal(self, wanted: str) -> Test:
        return lambda char: char == wanted

    def folded(self, test: Test) -> Test:
        """The test without regard to case, when asked."""
        if "i" not in self.flags:
            return test
        return lambda char: test(char) or test(char.lower()) or test(char.upper())

    def escape(self) -> Test:
        char = self.take()
        if char in CLASSES:
            return CLASSES[char]
        if char in "pP":
            return self._category(char == "P")
        return self.equal(self._escaped(char))

    def _escaped(self, char: str) -> str:
        if char in CONTROLS:
            return CONTROLS[char]
        if char in "xu":
            digits = self.pattern[self.place : self.place + (2 if char == "x" else 4)]
            self.place += len(digits)
            return self._code(digits)
        if char.isalnum():
            raise self.error(f"\\{char} is not supported")
        return char

    def _code(self, digits: str) -> str:
        try:
            return chr(int(digits, 16))
        except ValueError:
            raise self.error("a character code is made of hexadecimal digits") from None

    def _category(self, negated: bool) -> Test:
        if not self.accept("{"):
            raise self.error("a category is written \\p{L}")
        name = ""
        while self.peek() not in ("}", ""):
            name += self.take()
        if not self.accept("}") or not 1 <= len(name) <= 2:
            raise self.error("a category is one of Unicode's, such as L, Lu or Nd")
        return lambda char: unicodedata.category(char).startswith(name) is not negated

    def set_of(self) -> Test:
        negated = self.accept("^")
        tests: list[Test] = []
        first = True
        while first or not self.accept("]"):
            tests.append(self._range())
            first = False
        return lambda char: any(test(char) for test in tests) is not negated

    def _range(self) -> Test:
        if self.peek() == "[" or self.peek(2) == "&&":
            raise self.error("sets inside sets are not supported")
        char = self.take()
        if char == "\\":
            if self.peek() in CLASSES or self.peek() in ("p", "P"):
                return self.escape()
            char = self._escaped(self.take())
        if not (self.peek() == "-" and self.peek(2)[1:] not in ("]", "")):
            return self.equal(char)
        self.place += 1
        last = self.take()
        last = self._escaped(self.take()) if last == "\\" else last
        if last < char:
            raise self.error("a range goes from small to large")
        return lambda c: char <= c <= last
