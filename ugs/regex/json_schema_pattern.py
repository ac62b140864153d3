"""Regular expressions that match in linear time, whatever the pattern and the text.

The syntax is what JSON Schema's `pattern` commonly uses: literals, `.`, classes, `\\d \\w \\s`, groups, `|`, `* + ?`,
`{n,m}`, and `^` and `$` at the two ends. Constructs that need backtracking (back-references, look-around) are not
supported: an NFA simulation follows all states at once and caches transitions, so no pattern takes exponential time.
"""

from __future__ import annotations

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.regex import ANY, Chain, Choice, Machine, One, Part, PatternTooLarge, Repeat, Test, build_set_test
from ugs.support.bounded_cache import BoundedCache

MAX_PATTERN = 500
MAX_STATES = 500
MAX_TEXT_CHARS = 5_000
MAX_WORK = 50_000
"""Maximum steps of one match, each of up to eight states: some 50 ms."""
MAX_CACHE_BYTES = 16 << 20

CLASS_TESTS: dict[str, Test] = {
    "d": lambda letter: "0" <= letter <= "9",
    "w": lambda letter: letter == "_" or (letter.isascii() and letter.isalnum()),
    "s": lambda letter: letter in " \t\n\r\f\v",
}
ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}


class Pattern:
    """A compiled pattern."""

    def __init__(self, text: str) -> None:
        tree, self.from_start, self.to_end = _Parser(text).parse()
        before, behind = () if self.from_start else (ANY,), () if self.to_end else (ANY,)
        try:
            self.machine = Machine(Chain((*before, tree, *behind)), MAX_STATES)
        except PatternTooLarge:
            raise InvalidSyntax("the pattern is too large: use smaller repetitions", limit=MAX_STATES) from None

    def matches(self, text: str) -> bool:
        """Whether the text matches, or without anchors a part of it.

        Raises LimitExceeded if a match takes more than `MAX_WORK` steps, so that no text blocks the process for long.
        """
        return self.machine.matches(text, _Work().add)


class _Work:
    """Counts the steps of one match and enforces `MAX_WORK`."""

    def __init__(self) -> None:
        self.done = 0

    def add(self, count: int) -> None:
        self.done += count
        if self.done > MAX_WORK:
            raise LimitExceeded("the text takes too much work to compare with its pattern", limit=MAX_WORK)


class _Parser:
    """Recursive-descent parser of a pattern."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_PATTERN:
            raise InvalidSyntax(f"a pattern has at most {MAX_PATTERN} characters", limit=MAX_PATTERN)
        self.text, self.at, self.depth = text, 0, 0

    def parse(self) -> tuple[Part, bool, bool]:
        """The syntax tree, and whether it is anchored at the start and at the end."""
        from_start = self._skip("^")
        tree = self._choice()
        to_end = self._skip("$")
        if self.at < len(self.text):
            self._refuse("does not belong here")
        bound = (from_start or to_end) and isinstance(tree, Choice)
        if bound:
            raise InvalidSyntax("put the alternatives between ^ and $ into a group: ^(a|b)$")
        return tree, from_start, to_end

    def _refuse(self, why: str) -> None:
        shown = self.text[self.at : self.at + 1] or "the end"
        raise InvalidSyntax(f"the pattern cannot be used: {shown!r} at {self.at} {why}", position=self.at)

    def _skip(self, letter: str) -> bool:
        found = self.text.startswith(letter, self.at)
        self.at += found
        return found

    def _choice(self) -> Part:
        options = [self._sequence()]
        while self._skip("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Part:
        items: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)$":
            items.append(self._parse_repetition(self._atom()))
        return Chain(tuple(items))

    def _parse_repetition(self, item: Part) -> Part:
        for letter, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._skip(letter):
                return self._refuse_second_repetition(Repeat(item, low, high))
        return self._refuse_second_repetition(self._parse_counted(item)) if self._skip("{") else item

    def _refuse_second_repetition(self, item: Part) -> Part:
        if self.text[self.at : self.at + 1] in ("*", "+", "?", "{") and self.at < len(self.text):
            self._refuse("repeats a repetition")
        return item

    def _parse_counted(self, item: Part) -> Part:
        low = self._number()
        high: int | None = low
        if self._skip(","):
            high = None if self.text.startswith("}", self.at) else self._number()
        if not self._skip("}") or (high is not None and high < low):
            self._refuse("does not end a repetition such as {1,3}")
        return Repeat(item, low, high)

    def _number(self) -> int:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789" and self.at - start < 4:
            self.at += 1
        if start == self.at:
            self._refuse("should be a number")
        return int(self.text[start : self.at])

    def _atom(self) -> Part:
        letter = self._next()
        if letter == "(":
            return self._group()
        if letter == "[":
            return One(self._class())
        if letter == "\\":
            return One(self._escape())
        if letter == ".":
            return One(lambda found: found not in "\n\r")
        if letter in "*+?{}]^":
            self.at -= 1
            self._refuse("does not belong here")
        return One(_build_equal_test(letter))

    def _next(self) -> str:
        if self.at >= len(self.text):
            self._refuse("comes too early")
        self.at += 1
        return self.text[self.at - 1]

    def _group(self) -> Part:
        if self.text.startswith("?:", self.at):
            self.at += 2
        elif self.text.startswith("?", self.at):
            self._refuse("begins a look-around, which patterns here do not have")
        self.depth += 1
        if self.depth > 20:
            self._refuse("is nested too deep")
        tree = self._choice()
        if not self._skip(")"):
            self._refuse("should close a group")
        self.depth -= 1
        return tree

    def _escape(self) -> Test:
        letter = self._next()
        if letter in ESCAPED:
            return _build_equal_test(ESCAPED[letter])
        if letter.lower() in CLASS_TESTS:
            return CLASS_TESTS[letter] if letter.islower() else _negate(CLASS_TESTS[letter.lower()])
        if letter.isalnum():
            self.at -= 1
            self._refuse("is an escape that patterns here do not have")
        return _build_equal_test(letter)

    def _class(self) -> Test:
        negated = self._skip("^")
        tests: list[Test] = []
        singles: set[str] = set()
        while not self._skip("]"):
            member = self._member()
            singles.add(member) if isinstance(member, str) else tests.append(member)
        return build_set_test(tests, singles, negated)

    def _member(self) -> Test | str:
        """One character, or a test for several."""
        low = self._next()
        if low == "\\":
            return self._escape()
        if not self.text.startswith("-", self.at) or self.text.startswith("-]", self.at):
            return low
        self.at += 1
        high = self._next()
        if high < low or high in "\\[":
            self.at -= 1
            self._refuse("does not end a range such as a-z")
        return lambda letter: low <= letter <= high


def _build_equal_test(wanted: str) -> Test:
    return lambda letter: letter == wanted


def _negate(letters: Test) -> Test:
    return lambda letter: not letters(letter)


PATTERNS: BoundedCache[str, Pattern] = BoundedCache(max_entries=256, max_bytes=MAX_CACHE_BYTES)


def pattern(text: str) -> Pattern:
    """The compiled pattern, cached; raises E005 if the text is not a valid pattern."""
    known = PATTERNS.get(text)
    if known is None:
        known = Pattern(text)
        PATTERNS.put(text, known, known.machine.max_bytes)
    return known
