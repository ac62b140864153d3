"""Argument parsing driven by the usage line: `traverse <id> [--depth N] [--direction D]`.

`<word>` is required, `[word]` optional, `[word...]` takes the rest; `[--option V]` has a value and `[--flag]` has none.
The help shows the same text, so it cannot differ from what the command accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ugs.errors import InvalidSyntax


class Usage(NamedTuple):
    """The parsed usage line of a command."""

    text: str
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    rest: str | None = None
    options: dict[str, str | None] = {}
    """Each option with the name of its value; None for a flag."""

    @property
    def name(self) -> str:
        return self.text.partition(" ")[0]


class ParsedArguments(NamedTuple):
    """The arguments of one call."""

    words: dict[str, str]
    rest: list[str]
    options: dict[str, str]

    def flag(self, name: str) -> bool:
        """Whether a flag was given."""
        return name in self.options

    def number(self, name: str) -> int | None:
        """The whole number in an argument or option, or None if it is absent."""
        text = self.words.get(name, self.options.get(name))
        return None if text is None else parse_whole_number(text, name)

    def get(self, name: str) -> str | None:
        """The text of an argument or option, or None if it is absent."""
        return self.words.get(name, self.options.get(name))


def parse_whole_number(text: str, name: str) -> int:
    """Parse a whole number; only plain digits are accepted, as by every other interface."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise InvalidSyntax(f"{name} must be a whole number, got {text!r}")
    return int(text)


def parse_choice(word: object, choices: tuple[str, ...], what: str) -> str:
    """The word, if it is one of the choices; refused otherwise."""
    if word not in choices:
        raise InvalidSyntax(f"{what} is {' or '.join([', '.join(choices[:-1]), choices[-1]])}, not {word!r}")
    return str(word)


def parse_usage(text: str) -> Usage:
    """Parse a usage line."""
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


def parse_arguments(usage: Usage, words: Sequence[str]) -> ParsedArguments:
    """Parse the words of a call; refused with E005 and the usage line. `--` ends the options."""
    plain, options = _split_options(usage, words)
    if len(plain) < len(usage.needed):
        raise InvalidSyntax(f"<{usage.needed[len(plain)]}> is missing. Usage: {usage.text}")
    names = (*usage.needed, *usage.optional)
    rest = plain[len(names) :]
    if rest and usage.rest is None:
        raise InvalidSyntax(f"{rest[0]!r} is one word too many. Usage: {usage.text}")
    return ParsedArguments(dict(zip(names, plain, strict=False)), rest, options)


def _split_options(usage: Usage, words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
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
