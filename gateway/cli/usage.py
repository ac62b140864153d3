"""The syntax of a command, read from the line that shows it: `traverse <id> [--depth N] [--direction D]`.

`<word>` must be there, `[word]` may be, `[word...]` takes all that are left; `[--option V]` has a value and `[--flag]`
has none. What people read in the help is what the command accepts, because there is only one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ugs.errors import InvalidSyntax


class Usage(NamedTuple):
    """What a command takes."""

    text: str
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    rest: str | None = None
    options: dict[str, str | None] = {}
    """Each option with the name of its value; None for a flag."""

    @property
    def name(self) -> str:
        return self.text.partition(" ")[0]


class Asked(NamedTuple):
    """A command as somebody asked for it."""

    words: dict[str, str]
    rest: list[str]
    options: dict[str, str]

    def flag(self, name: str) -> bool:
        """Whether a flag was given."""
        return name in self.options

    def number(self, name: str, most: int | None = None) -> int | None:
        """A word or an option that is a whole number, where it was given; at most so large."""
        text = self.words.get(name, self.options.get(name))
        number = None if text is None else whole_number(text, name)
        if number is not None and most is not None and not 0 <= number <= most:
            raise InvalidSyntax(f"{name} lies between 0 and {most}, not {number}")
        return number

    def get(self, name: str) -> str | None:
        """A word or the value of an option, where it was given."""
        return self.words.get(name, self.options.get(name))


def whole_number(text: str, name: str) -> int:
    """The number a text says; only plain digits, so that every way into the system agrees."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise InvalidSyntax(f"{name} must be a whole number, got {text!r}")
    return int(text)


def one_of(word: object, choices: tuple[str, ...], what: str) -> str:
    """The word, when it is one of the choices."""
    if word not in choices:
        raise InvalidSyntax(f"{what} is {' or '.join([', '.join(choices[:-1]), choices[-1]])}, not {word!r}")
    return str(word)


def read_usage(text: str) -> Usage:
    """The syntax that a usage line stands for."""
    needed, optional, rest, options = list[str](), list[str](), None, dict[str, str | None]()
    parts = iter(text.split()[1:])
    for part in parts:
        if part.startswith("[--"):
            options[part[3:].rstrip("]")] = None if part.endswith("]") else next(parts).rstrip("]")
        elif part.endswith("...]"):
            rest = part[1:-4]
        elif part.startswith("<"):
            needed.append(part[1:-1])
        else:
            optional.append(part[1:-1])
    return Usage(text, tuple(needed), tuple(optional), rest, options)


def read_words(usage: Usage, words: Sequence[str]) -> Asked:
    """What somebody asks for, or E005 with the syntax. `--` ends the options."""
    plain, options = _options_apart(usage, words)
    if len(plain) < len(usage.needed):
        raise InvalidSyntax(f"<{usage.needed[len(plain)]}> is missing. Usage: {usage.text}")
    names = (*usage.needed, *usage.optional)
    rest = plain[len(names) :]
    if rest and usage.rest is None:
        raise InvalidSyntax(f"{rest[0]!r} is one word too many. Usage: {usage.text}")
    return Asked(dict(zip(names, plain, strict=False)), rest, options)


def _options_apart(usage: Usage, words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    plain: list[str] = []
    options: dict[str, str] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return plain + left, options
        if word.startswith("--"):
            name, value = _option(usage, word, left)
            options[name] = value
        else:
            plain.append(word)
    return plain, options


def _option(usage: Usage, word: str, left: list[str]) -> tuple[str, str]:
    name, equals, value = word[2:].partition("=")
    if name not in usage.options:
        raise InvalidSyntax(f"there is no option --{name}. Usage: {usage.text}")
    if usage.options[name] is None:
        if equals:
            raise InvalidSyntax(f"--{name} takes no value. Usage: {usage.text}")
        return name, ""
    if not equals and not left:
        raise InvalidSyntax(f"--{name} needs a value. Usage: {usage.text}")
    return name, value if equals else left.pop(0)
