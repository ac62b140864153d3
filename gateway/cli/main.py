"""`ugs`: finds the command in a table and loads only that one, so that it starts at once."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import NamedTuple

OK, FAILED, USAGE, NO_STORE, NO_ADDRESS, INTERRUPTED = 0, 1, 2, 3, 4, 130

EXIT_CODES = """exit codes:
  0    done, or the answer is yes
  1    refused or failed; the error says why
  2    the command was not understood
  3    the store could not be opened (unknown, locked, damaged, unreachable)
  4    the address to serve on could not be used
  130  interrupted
"""

EXAMPLES = """examples:
  ugs serve                                    serve ./data on http://127.0.0.1:8000/
  ugs load-demo --store file:./data            fill a store with the demonstration graph
  ugs stats --store sqlite:///graph.db         count what is in it
  ugs copy file:./data postgresql://me@host/db move to another store
  ugs serve --help                             all about one command
"""


class Entry(NamedTuple):
    """One command: its module has `arguments(parser)` and `run(options) -> int`.

    Two marks are optional: `HANDS_ON` (words go to another program as they are), `PUTS_DATA = False` (only sentences).
    """

    name: str
    summary: str
    module: str


COMMANDS = (
    Entry("serve", "serve a store over HTTP", "gateway.cli.serve"),
    Entry("health", "ask a running gateway whether it can serve", "gateway.cli.health"),
    Entry("info", "version, backends and where the data is", "gateway.cli.info"),
    Entry("stats", "count nodes, edges, types and property keys", "gateway.cli.stats"),
    Entry("load-demo", "fill a store with the demonstration graph", "gateway.cli.load_demo"),
    Entry("copy", "replay one store into another and prove them equal", "gateway.cli.copy"),
    Entry("verify", "check that the state is what the log says", "gateway.cli.verify"),
    Entry("rebuild", "throw the tables away and write what the log says", "gateway.cli.rebuild"),
    Entry("snapshot", "write a snapshot, so that opening is quick", "gateway.cli.snapshot"),
    Entry("mcp", "serve typed memory to an agent over MCP", "gateway.cli.mcp"),
    Entry("token", "make an API key for a user", "gateway.cli.token"),
    Entry("conformance", "run the conformance kit on a store", "gateway.cli.conformance"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; answers its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        return _help(words[1:])
    if words[0] in ("-V", "--version"):
        return _version()
    entry = next((entry for entry in COMMANDS if entry.name == words[0]), None)
    return _unknown(words[0]) if entry is None else _run(entry, words[1:])


def _run(entry: Entry, words: Sequence[str]) -> int:
    module = import_module(entry.module)
    parser = parser_for(entry, module.__doc__ or entry.summary)
    module.arguments(parser)
    # A command that hands its words on to another program takes them as they are.
    hands_on = getattr(module, "HANDS_ON", False)
    options = Namespace(words=list(words)) if hands_on and not _asks_for_help(words) else parser.parse_args(words)
    from gateway.cli.outcome import in_words

    return in_words(module.run, options, data=getattr(module, "PUTS_DATA", True))


def _asks_for_help(words: Sequence[str]) -> bool:
    return bool(words) and words[0] in ("-h", "--help")


def parser_for(entry: Entry, text: str) -> ArgumentParser:
    """A parser whose help is the module's docstring: what the command does, then examples."""
    description, _, rest = text.partition("\n\n")
    return ArgumentParser(
        prog=f"ugs {entry.name}",
        description=description.partition(": ")[2] or description,
        epilog=f"{rest.strip()}\n\n{EXIT_CODES}",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _help(words: Sequence[str]) -> int:
    """All commands, or one of them."""
    if words:
        return main([words[0], "--help"])
    width = max(len(entry.name) for entry in COMMANDS)
    lines = "\n".join(f"  {entry.name:<{width}}  {entry.summary}" for entry in COMMANDS)
    print(f"usage: ugs <command> [options]\n\nAn event-sourced graph over any store.\n\ncommands:\n{lines}\n")
    print(f"{EXAMPLES}\n{EXIT_CODES}")
    print("The store is --store URL, else the environment variable UGS_STORE, else file:./data")
    return OK


def _version() -> int:
    from ugs import __version__

    print(f"ugs {__version__}")
    return OK


def _unknown(word: str) -> int:
    close = get_close_matches(word, [entry.name for entry in COMMANDS], n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    print(f"ugs: there is no command {word!r}.{hint} `ugs --help` lists them all.", file=sys.stderr)
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
