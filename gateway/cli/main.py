"""`ugs`: finds the command in a table and loads only that one, so that it starts at once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from gateway.cli.commands import NAMES, Entry, find_command
from gateway.cli.exits import OK
from gateway.cli.outcome import Misused, Speech, in_words, put_out
from gateway.cli.places import VALUED, take_place
from gateway.cli.speaking import FLAGS

ASKS_FOR_HELP = ("-h", "--help")


class Invocation(NamedTuple):
    """What was typed behind `ugs`."""

    command: str | None
    words: list[str]
    flag: str | None
    """The voice, where a flag names one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; answers its exit code."""
    _speak_utf8()
    typed = read_invocation(list(sys.argv[1:] if arguments is None else arguments))
    speech = Speech.without_graph(typed.flag)
    return in_words(lambda: _dispatch(typed, speech), speech)


def read_invocation(words: list[str]) -> Invocation:
    """The command with its words; options before the command count as if they stood behind it."""
    end = words.index("--") if "--" in words else len(words)
    flags = [word for word in words[:end] if word in FLAGS]
    left = [word for word in words[:end] if word not in FLAGS] + words[end:]
    before: list[str] = []
    while left and left[0].startswith("--") and left[0].partition("=")[0] in VALUED:
        before += [left.pop(0)] if "=" in left[0] else [left.pop(0), *([left.pop(0)] if left else [])]
    flag = FLAGS[flags[-1]] if flags else None
    return Invocation(left[0] if left else None, before + left[1:], flag)


def check_words(words: Sequence[str]) -> None:
    """Refuse what no shell can pass on, and no file be called by."""
    if any("\0" in word for word in words):
        raise Misused("a word holds a NUL character, which no id, text or file name may have")


def _dispatch(typed: Invocation, speech: Speech) -> int:
    check_words(typed.words)
    if typed.command is None:
        return _interactive(typed)
    if typed.command in ASKS_FOR_HELP:
        return _help("")
    if typed.command in ("-V", "--version"):
        return _version()
    if typed.command == "help":
        return _spoken_help(typed.words, speech)
    entry = find_command(typed.command)
    if entry is None:
        raise unknown_command(typed.command)
    return _run(entry, typed, speech)


def _run(entry: Entry, typed: Invocation, speech: Speech) -> int:
    if not entry.is_operation:
        from gateway.cli.tools import run_tool

        return run_tool(entry, typed.words, speech)
    if any(word in ASKS_FOR_HELP for word in _before_end(typed.words)):
        return _help(entry.name)
    from gateway.cli.running import run_operation

    place, words = take_place(typed.words)
    return run_operation(entry, words, place, typed.flag, speech)


def _before_end(words: list[str]) -> list[str]:
    return words[: words.index("--")] if "--" in words else words


def _interactive(typed: Invocation) -> int:
    from gateway.cli.interactive import run_interactive

    place, words = take_place(typed.words)
    if words:
        raise Misused(f"{words[0]!r} is no command")
    return run_interactive(place, typed.flag)


def _help(topic: str) -> int:
    from gateway.cli.helping import help_text

    put_out(help_text(topic))
    return OK


def _spoken_help(words: list[str], speech: Speech) -> int:
    put_out(speech.voice.format_help(words[0] if words else ""))
    return OK


def _version() -> int:
    from ugs import __version__

    put_out(f"ugs {__version__}")
    return OK


def unknown_command(word: str) -> Misused:
    """No such command, with the nearest one."""
    from difflib import get_close_matches

    close = get_close_matches(word, [*NAMES, "help"], n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return Misused(f"there is no command {word!r}.{hint} `help` lists them all.")


def _speak_utf8() -> None:
    """Whatever the terminal's language, we speak UTF-8; what no text can hold is written out, never a crash."""
    for stream, errors, newline in (
        (sys.stdout, "backslashreplace", "\n"),  # also on Windows: what is exported is the same everywhere
        (sys.stderr, "backslashreplace", "\n"),
        (sys.stdin, "surrogateescape", None),
    ):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=errors, newline=newline)


if __name__ == "__main__":
    sys.exit(main())
