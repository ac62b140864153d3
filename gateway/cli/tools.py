"""Tools: commands with a parser of their own, whose help is the docstring of their module."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from gateway.cli.commands import Entry
from gateway.cli.exits import EXIT_CODES, OK
from gateway.cli.outcome import Misused, Speech, put_out


class Parser(ArgumentParser):
    """A parser that leaves the telling to us."""

    def error(self, message: str) -> NoReturn:
        """What is wrong with the words."""
        raise Misused(f"{message}. `{self.prog} --help` shows the options.")


def run_tool(entry: Entry, words: Sequence[str], speech: Speech) -> int:
    """Run a tool; answers its exit code.

    Two marks are optional: `HANDS_ON` (words go to another program as they are), `PUTS_DATA = False` (only sentences).
    """
    module = import_module(entry.module)
    speech.data = getattr(module, "PUTS_DATA", True)
    hands_on = getattr(module, "HANDS_ON", False)
    if any(word in ("-h", "--help") for word in (words[:1] if hands_on else words)):
        put_out(tool_help(entry), end="")
        return OK
    options = Namespace(words=list(words)) if hands_on else _parser_for(entry, module).parse_args(words)
    options.speech = speech
    code: int = module.run(options)
    return code


def tool_help(entry: Entry) -> str:
    """The page of a tool."""
    return _parser_for(entry, import_module(entry.module)).format_help()


def _parser_for(entry: Entry, module: ModuleType) -> ArgumentParser:
    """A parser whose help is the module's docstring: what the command does, then examples."""
    description, _, rest = (module.__doc__ or entry.summary).partition("\n\n")
    parser = Parser(
        prog=f"ugs {entry.name}",
        description=description.partition(": ")[2] or description,
        epilog=f"{rest.strip()}\n\n{EXIT_CODES}",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.arguments(parser)
    return parser
