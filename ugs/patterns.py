"""Patterns for text that are matched in linear time, whatever the pattern and the text.

The syntax is what JSON Schema's `pattern` commonly uses: literals, `.`, classes, `\\d \\w \\s`, groups, `|`, `* + ?`,
`{n,m}`, and `^` and `$` at the two ends. What needs backtracking (references, look-around) does not exist here, so no
pattern can make a match explode: all states that could match are followed at once, and remembered by letter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from ugs.errors import InvalidSyntax

MAX_PATTERN = 500
MAX_STATES = 500
MAX_TEXT = 5_000
MAX_REMEMBERED = 20_000

Letters = Callable[[str], bool]
SHORT: dict[str, Letters] = {
    "d": lambda letter: "0" <= letter <= "9",
    "w": lambda letter: letter == "_" or (letter.isascii() and letter.isalnum()),
    "s": lambda letter: letter in " \t\n\r\f\v",
}
ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}


class _Part(Struct):
    """A piece of the machine: takes one letter, or forks, or ends."""

    letters: Letters | None = None
    ways: tuple[int, ...] = ()


class _Literal(Struct, frozen=True):
    letters: Letters


class _Sequence(Struct, frozen=True):
    items: tuple[_Tree, ...]


class _Choice(Struct, frozen=True):
    options: tuple[_Tree, ...]


class _Repeat(Struct, frozen=True):
    item: _Tree
    least: int
    most: int | None


_Tree = _Literal | _Sequence | _Choice | _Repeat


class Pattern:
    """A pattern, ready to be matched."""

    def __init__(self, text: str) -> None:
        tree, self.from_start, self.to_end = _Parser(text).parsed()
        self.parts: list[_Part] = []
        self.end = self._add(_Part())
        self.begin = self._built(tree, self.end)
        self._known: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def matches(self, text: str) -> bool:
        """Whether the text, or without anchors a part of it, is what the pattern describes."""
        first = self._closed({self.begin})
        states = first
        for letter in text:
            if self.end in states and not self.to_end:
                return True
            states = self._after(states, letter)
            if not self.from_start:
                states |= first
            elif not states:
                return False
        return self.end in states

    def _after(self, states: frozenset[int], letter: str) -> frozenset[int]:
        known = self._known.get((states, letter))
        if known is None:
            onward = {
                way
                for state in states
                if (takes := self.parts[state].letters) and takes(letter)
                for way in self._ways(state)
            }
            known = self._closed(onward)
            if len(self._known) < MAX_REMEMBERED:
                self._known[states, letter] = known
        return known

    def _ways(self, state: int) -> tuple[int, ...]:
        return self.parts[state].ways

    def _closed(self, states: set[int]) -> frozenset[int]:
        """These states and all that are reached from them without taking a letter."""
        found, waiting = set(states), list(states)
        while waiting:
            part = self.parts[waiting.pop()]
            for way in part.ways if part.letters is None else ():
                if way not in found:
                    found.add(way)
                    waiting.append(way)
        return frozenset(found)

    # ── building ─────────────────────────────────────────────────────────────

    def _add(self, part: _Part) -> int:
        if len(self.parts) >= MAX_STATES:
            raise InvalidSyntax("the pattern is too large: use smaller repetitions", limit=MAX_STATES)
        self.parts.append(part)
        return len(self.parts) - 1

    def _built(self, tree: _Tree, onward: int) -> int:
        """The state from which the tree is matched before going on."""
        if isinstance(tree, _Literal):
            return self._add(_Part(tree.letters, (onward,)))
        if isinstance(tree, _Sequence):
            for item in reversed(tree.items):
                onward = self._built(item, onward)
            return onward
        if isinstance(tree, _Choice):
            return self._add(_Part(None, tuple(self._built(option, onward) for option in tree.options)))
        return self._repeated(tree, onward)

    def _repeated(self, tree: _Repeat, onward: int) -> int:
        if tree.most is None:
            loop = self._add(_Part())
            self.parts[loop].ways = (self._built(tree.item, loop), onward)
            onward = loop
        else:
            for _ in range(tree.most - tree.least):
                onward = self._add(_Part(None, (self._built(tree.item, onward), onward)))
        for _ in range(tree.least):
            onward = self._built(tree.item, onward)
        return onward


class _Parser:
    """Reads a pattern from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_PATTERN:
            raise InvalidSyntax(f"a pattern has at most {MAX_PATTERN} characters", limit=MAX_PATTERN)
        self.text, self.at, self.depth = text, 0, 0

    def parsed(self) -> tuple[_Tree, bool, bool]:
        """The tree, and whether it is bound to the start and to the end of a text."""
        from_start = self._skip("^")
        tree = self._choice()
        to_end = self._skip("$")
        if self.at < len(self.text):
            self._refuse("does not belong here")
        bound = (from_start or to_end) and isinstance(tree, _Choice)
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

    def _choice(self) -> _Tree:
        options = [self._sequence()]
        while self._skip("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else _Choice(tuple(options))

    def _sequence(self) -> _Tree:
        items: list[_Tree] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)$":
            items.append(self._times(self._atom()))
        return _Sequence(tuple(items))

    def _times(self, item: _Tree) -> _Tree:
        for letter, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._skip(letter):
                return self._once(_Repeat(item, least, most))
        return self._once(self._counted(item)) if self._skip("{") else item

    def _once(self, item: _Tree) -> _Tree:
        if self.text[self.at : self.at + 1] in ("*", "+", "?", "{") and self.at < len(self.text):
            self._refuse("repeats a repetition")
        return item

    def _counted(self, item: _Tree) -> _Tree:
        least = self._number()
        most: int | None = least
        if self._skip(","):
            most = None if self.text.startswith("}", self.at) else self._number()
        if not self._skip("}") or (most is not None and most < least):
            self._refuse("does not end a repetition such as {1,3}")
        return _Repeat(item, least, most)

    def _number(self) -> int:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789" and self.at - start < 4:
            self.at += 1
        if start == self.at:
            self._refuse("should be a number")
        return int(self.text[start : self.at])

    def _atom(self) -> _Tree:
        letter = self._next()
        if letter == "(":
            return self._group()
        if letter == "[":
            return _Literal(self._class())
        if letter == "\\":
            return _Literal(self._escape())
        if letter == ".":
            return _Literal(lambda found: found not in "\n\r")
        if letter in "*+?{}]^":
            self.at -= 1
            self._refuse("does not belong here")
        return _Literal(_is(letter))

    def _next(self) -> str:
        if self.at >= len(self.text):
            self._refuse("comes too early")
        self.at += 1
        return self.text[self.at - 1]

    def _group(self) -> _Tree:
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

    def _escape(self) -> Letters:
        letter = self._next()
        if letter in ESCAPED:
            return _is(ESCAPED[letter])
        if letter.lower() in SHORT:
            return SHORT[letter] if letter.islower() else _not(SHORT[letter.lower()])
        if letter.isalnum():
            self.at -= 1
            self._refuse("is an escape that patterns here do not have")
        return _is(letter)

    def _class(self) -> Letters:
        negated = self._skip("^")
        members: list[Letters] = []
        while not self._skip("]"):
            members.append(self._member())
        either = _any(members)
        return _not(either) if negated else either

    def _member(self) -> Letters:
        low = self._next()
        if low == "\\":
            return self._escape()
        if not self.text.startswith("-", self.at) or self.text.startswith("-]", self.at):
            return _is(low)
        self.at += 1
        high = self._next()
        if high < low or high in "\\[":
            self.at -= 1
            self._refuse("does not end a range such as a-z")
        return lambda letter: low <= letter <= high


def _is(wanted: str) -> Letters:
    return lambda letter: letter == wanted


def _not(letters: Letters) -> Letters:
    return lambda letter: not letters(letter)


def _any(members: list[Letters]) -> Letters:
    return lambda letter: any(member(letter) for member in members)


@lru_cache(maxsize=256)
def pattern(text: str) -> Pattern:
    """The pattern with this text, or E005 in words."""
    return Pattern(text)
