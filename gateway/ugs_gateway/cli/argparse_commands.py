"""Commands with an argparse parser of their own; the docstring of the module is the help text."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from ugs_gateway.cli.command_table import Entry
from ugs_gateway.cli.output.exit_codes import EXIT_CODES, OK
from ugs_gateway.cli.output.streams import Output, UsageError, write_out


class Parser(ArgumentParser):
    """A parser that raises a usage error instead of printing it and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise the usage error."""
        raise UsageError(f"{message}. `{self.prog} --help` shows the options.")


def run_argparse_command(entry: Entry, words: Sequence[str], output: Output) -> int:
    """Run a command; returns its exit code.

    A module may set two flags: `HANDS_ON` (arguments are passed to another program unparsed), `PUTS_DATA = False` (the
    command prints text for people only).
    """
    module = import_module(entry.module)
    output.data = getattr(module, "PUTS_DATA", True)
    hands_on = getattr(module, "HANDS_ON", False)
    if any(word in ("-h", "--help") for word in (words[:1] if hands_on else words)):
        write_out(argparse_help(entry), end="")
        return OK
    options = Namespace(words=list(words)) if hands_on else _parser_for(entry, module).parse_args(words)
    options.speech = output
    code: int = module.run(options)
    return code


def argparse_help(entry: Entry) -> str:
    """The help page of a command."""
    return _parser_for(entry, import_module(entry.module)).format_help()


def _parser_for(entry: Entry, module: ModuleType) -> ArgumentParser:
    """A parser whose help is the module's docstring: description, then examples."""
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
