"""The command dispatcher: finds the command in the table and imports only that one, to start quickly."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from ugs_gateway.cli.command_table import NAMES, Entry, find_command
from ugs_gateway.cli.input.target import OPTIONS_WITH_VALUE, take_target
from ugs_gateway.cli.output.exit_codes import OK
from ugs_gateway.cli.output.mode import FLAGS
from ugs_gateway.cli.output.streams import Output, UsageError, run_reporting_errors, write_out

HELP_FLAGS = ("-h", "--help")


class Invocation(NamedTuple):
    """The parsed command line of `ugs`."""

    command: str | None
    words: list[str]
    flag: str | None
    """The output mode, if a flag names one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    _force_utf8()
    typed = parse_invocation(list(sys.argv[1:] if arguments is None else arguments))
    speech = Output.without_graph(typed.flag)
    return run_reporting_errors(lambda: _dispatch(typed, speech), speech)


def parse_invocation(words: list[str]) -> Invocation:
    """Parse the command and its words; options before the command count as if they followed it.

    `--agent` and `--human` choose the output mode. After a command with an option of the same name (`key add --agent
    a1`) that option is meant wherever a value follows.
    """
    left, before, flags = list(words), list[str](), list[str]()
    while left and left[0].startswith("--") and (left[0] in FLAGS or left[0].partition("=")[0] in OPTIONS_WITH_VALUE):
        word = left.pop(0)
        if word in FLAGS:
            flags.append(FLAGS[word])
        else:
            # As one word, so that a command that does not know the option cannot take its value for an argument.
            before.append(word if "=" in word or not left else f"{word}={left.pop(0)}")
    command = left.pop(0) if left else None
    entry = None if command is None else find_command(command)
    kept = _without_flags(left, entry.own_options if entry else (), flags)
    return Invocation(command, before + kept, flags[-1] if flags else None)


def _without_flags(words: list[str], own: Sequence[str], flags: list[str]) -> list[str]:
    """The words of a command without the output flags, which are collected; nothing behind `--` is a flag."""
    end = words.index("--") if "--" in words else len(words)
    kept = list[str]()
    for place, word in enumerate(words[:end]):
        value_follows = place + 1 < end and not words[place + 1].startswith("--")
        if word in FLAGS and not (word in own and value_follows):
            flags.append(FLAGS[word])
        else:
            kept.append(word)
    return kept + words[end:]


def check_words(words: Sequence[str]) -> None:
    """Refuse words with characters that no shell passes on and no file name holds."""
    if any("\0" in word for word in words):
        raise UsageError("a word holds a NUL character, which no id, text or file name may have")


def _dispatch(typed: Invocation, output: Output) -> int:
    check_words(typed.words)
    if typed.command is None:
        return _interactive(typed)
    if typed.command in HELP_FLAGS:
        return _help("")
    if typed.command in ("-V", "--version"):
        return _version()
    return _run(get_command(typed.command), typed, output)


def get_command(word: str) -> Entry:
    """The command with this name; refused with the most similar one."""
    entry = find_command(word)
    if entry is None:
        raise unknown_command(word)
    return entry


def _run(entry: Entry, typed: Invocation, output: Output) -> int:
    if not entry.usage:
        from ugs_gateway.cli.argparse_commands import run_argparse_command

        return run_argparse_command(entry, typed.words, output)
    if any(word in HELP_FLAGS for word in _before_end(typed.words)):
        return _help(entry.name)
    from ugs_gateway.cli.command_runner import run_operation, run_session_command

    place, words = take_target(typed.words)
    if entry.is_session:
        run_session_command(entry, words, output)
        return OK
    return run_operation(entry, words, place, typed.flag, output)


def _before_end(words: list[str]) -> list[str]:
    return words[: words.index("--")] if "--" in words else words


def _interactive(typed: Invocation) -> int:
    from ugs_gateway.cli.interactive import run_interactive

    place, words = take_target(typed.words)
    if words:
        raise UsageError(f"{words[0]!r} is no command")
    return run_interactive(place, typed.flag)


def _help(topic: str) -> int:
    from ugs_gateway.cli.help import help_text

    write_out(help_text(topic))
    return OK


def _version() -> int:
    from ugs import __version__

    write_out(f"ugs {__version__}")
    return OK


def unknown_command(word: str) -> UsageError:
    """The error for an unknown command, with the most similar one."""
    from difflib import get_close_matches

    close = get_close_matches(word, NAMES, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return UsageError(f"there is no command {word!r}.{hint} `help` lists them all.")


def _force_utf8() -> None:
    """Write UTF-8 whatever the terminal's encoding is; unencodable characters are escaped."""
    for stream, errors, newline in (
        (sys.stdout, "backslashreplace", "\n"),  # also on Windows: what is exported is the same everywhere
        (sys.stderr, "backslashreplace", "\n"),
        (sys.stdin, "surrogateescape", None),
    ):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=errors, newline=newline)


if __name__ == "__main__":
    sys.exit(main())
