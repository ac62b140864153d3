"""Regular expressions in the syntax of Java, which openCypher's `=~` uses.

Back-references, look-around and possessive repetition need backtracking and are refused. Automata are cached, so a
condition on many rows builds its automaton once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from ugs.errors import InvalidSyntax
from ugs.regex import Chain, Choice, Edge, Machine, One, Part, PatternTooLarge, Repeat, Test, build_set_test
from ugs.support.bounded_cache import BoundedCache

MAX_STATES = 5_000
MAX_CACHE_BYTES = 16 << 20
MACHINES: BoundedCache[str, Machine] = BoundedCache(max_entries=128, max_bytes=MAX_CACHE_BYTES)
MAX_PATTERN = 1000
MAX_REPEAT = 1000
MAX_GROUPS = 50


def build_error(pattern: str, reason: str) -> InvalidSyntax:
    return InvalidSyntax(f"The pattern {pattern[:60]!r} cannot be used: {reason}")


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


CLASSES: dict[str, Test] = {
    "d": lambda char: "0" <= char <= "9",
    "w": _is_word,
    "s": lambda char: char in " \t\n\x0b\f\r",
    "h": lambda char: char in " \t\xa0",
}


def _negate(test: Test) -> Test:
    return lambda char: not test(char)


CLASSES.update({name.upper(): _negate(test) for name, test in CLASSES.items()})
CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "a": "\a", "e": "\x1b", "0": "\0"}
SIMPLE_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def parse_pattern(pattern: str) -> Part:
    """Parse a pattern into a tree of parts."""
    if len(pattern) > MAX_PATTERN:
        raise build_error(pattern, f"it is longer than {MAX_PATTERN} characters")
    return PatternParser(pattern).parse()


class PatternParser:
    """Recursive-descent parser of one pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0
        self.depth = 0
        self.flags: set[str] = set()

    def parse(self) -> Part:
        found = self.parse_choice()
        if self.place < len(self.pattern):
            raise self.error("a bracket is closed that was never opened")
        return found

    def error(self, reason: str) -> InvalidSyntax:
        return build_error(self.pattern, f"{reason}, at character {self.place + 1}")

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

    def parse_choice(self) -> Part:
        parts = [self.parse_chain()]
        while self.accept("|"):
            parts.append(self.parse_chain())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def parse_chain(self) -> Part:
        parts: list[Part] = []
        while self.peek() and self.peek() not in "|)":
            part = self.parse_part()
            if part is not None:
                parts.append(self.parse_repetition(part))
        return Chain(tuple(parts))

    def parse_part(self) -> Part | None:
        char = self.take()
        if char == "(":
            return self.parse_group()
        if char == "[":
            return One(self.ignore_case(self.parse_set()))
        if char == ".":
            return One(lambda c: True) if "s" in self.flags else One(lambda c: c not in "\n\r\u0085\u2028\u2029")
        if char in "^$":
            return Edge(char == "$")
        if char in "*+?{":
            raise self.error(f"there is nothing to repeat before {char}")
        return One(self.ignore_case(self.parse_escape() if char == "\\" else self.build_equal_test(char)))

    def parse_group(self) -> Part | None:
        self.depth += 1
        if self.depth > MAX_GROUPS:
            raise self.error("groups nest too deep")
        flags_before = set(self.flags)
        if self.accept("?") and self._parse_group_flags():
            self.depth -= 1
            return None
        found = self.parse_choice()
        if not self.accept(")"):
            raise self.error("a group is not closed")
        self.flags, self.depth = flags_before, self.depth - 1
        return found

    def _parse_group_flags(self) -> bool:
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

    def parse_repetition(self, part: Part) -> Part:
        while self.peek() and self.peek() in "*+?{":
            low, high = self._parse_bounds()
            if self.peek() == "+":
                raise self.error("possessive repetition is not supported")
            self.accept("?")
            part = Repeat(part, low, high)
        return part

    def _parse_bounds(self) -> tuple[int, int | None]:
        char = self.take()
        if char != "{":
            return SIMPLE_REPEATS[char]
        low = self._parse_number()
        high: int | None = low
        if self.accept(","):
            high = None if self.peek() == "}" else self._parse_number()
        if not self.accept("}") or (high is not None and high < low):
            raise self.error("a repetition is written {low,high}")
        return low, high

    def _parse_number(self) -> int:
        digits = ""
        while self.peek().isdecimal():
            digits += self.take()
        if not digits or len(digits) > 4 or int(digits) > MAX_REPEAT:
            raise self.error(f"a repetition takes a number up to {MAX_REPEAT}")
        return int(digits)

    def build_equal_test(self, wanted: str) -> Test:
        return lambda char: char == wanted

    def ignore_case(self, test: Test) -> Test:
        """The test without regard to case, when asked."""
        if "i" not in self.flags:
            return test
        return lambda char: test(char) or test(char.lower()) or test(char.upper())

    def parse_escape(self) -> Test:
        char = self.take()
        if char in CLASSES:
            return CLASSES[char]
        if char in "pP":
            return self._parse_category(char == "P")
        return self.build_equal_test(self._parse_escaped_char(char))

    def _parse_escaped_char(self, char: str) -> str:
        if char in CONTROLS:
            return CONTROLS[char]
        if char in "xu":
            digits = self.pattern[self.place : self.place + (2 if char == "x" else 4)]
            self.place += len(digits)
            return self._parse_code(digits)
        if char.isalnum():
            raise self.error(f"\\{char} is not supported")
        return char

    def _parse_code(self, digits: str) -> str:
        try:
            return chr(int(digits, 16))
        except ValueError:
            raise self.error("a character code is made of hexadecimal digits") from None

    def _parse_category(self, negated: bool) -> Test:
        if not self.accept("{"):
            raise self.error("a category is written \\p{L}")
        name = ""
        while self.peek() not in ("}", ""):
            name += self.take()
        if not self.accept("}") or not 1 <= len(name) <= 2:
            raise self.error("a category is one of Unicode's, such as L, Lu or Nd")
        return lambda char: unicodedata.category(char).startswith(name) is not negated

    def parse_set(self) -> Test:
        negated = self.accept("^")
        tests: list[Test] = []
        singles: set[str] = set()
        first = True
        while first or not self.accept("]"):
            member = self._parse_member()
            singles.add(member) if isinstance(member, str) else tests.append(member)
            first = False
        return build_set_test(tests, singles, negated)

    def _parse_member(self) -> Test | str:
        """A member of a set: one character, or a test for several."""
        if self.peek() == "[" or self.peek(2) == "&&":
            raise self.error("sets inside sets are not supported")
        char = self.take()
        if char == "\\":
            if self.peek() in CLASSES or self.peek() in ("p", "P"):
                return self.parse_escape()
            char = self._parse_escaped_char(self.take())
        if not (self.peek() == "-" and self.peek(2)[1:] not in ("]", "")):
            return char
        self.place += 1
        last = self.take()
        last = self._parse_escaped_char(self.take()) if last == "\\" else last
        if last < char:
            raise self.error("a range goes from small to large")
        return lambda c: char <= c <= last


def machine_for(pattern: str, tick: Callable[[int], None] = lambda count: None) -> Machine:
    """The automaton of a pattern, cached; `tick` is told the work of building it."""
    known = MACHINES.get(pattern)
    if known is None:
        tick(len(pattern))
        try:
            known = Machine(parse_pattern(pattern), MAX_STATES)
        except PatternTooLarge as error:
            raise InvalidSyntax(str(error)) from None
        MACHINES.put(pattern, known, known.max_bytes)
        tick(len(known.tests))
    return known


def matches(text: str, pattern: str, tick: Callable[[int], None] = lambda count: None) -> bool:
    """Whether the whole text matches the pattern; `tick` is told the work and may stop it."""
    return machine_for(pattern, tick).matches(text, tick)
