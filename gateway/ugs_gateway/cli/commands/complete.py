"""ugs complete: what may come next, one candidate a line. The scripts of `ugs completion` ask this.

examples:
  ugs complete -- get al
"""

from __future__ import annotations

import asyncio
import os
from argparse import ArgumentParser, Namespace

from ugs.errors import UgsError
from ugs_gateway.cli.clients.http import GatewayError, Unreachable
from ugs_gateway.cli.input.target import OPTIONS_WITH_VALUE, Target, open_client, take_target
from ugs_gateway.cli.interactive.completion import Vocabulary, complete, load_vocabulary, wants_graph
from ugs_gateway.cli.output.streams import NotOpened, UsageError, write_out

HANDS_ON = True
PUTS_DATA = False
FLAGS = ("--agent", "--human")


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("words", nargs="*", help="the words typed so far, the last one perhaps unfinished")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    for candidate in candidates(words):
        write_out(candidate)
    return 0


def candidates(words: list[str]) -> list[str]:
    """Completions of the last word; empty if unknown."""
    *before, word = words or [""]
    try:
        place, plain = take_target([typed for typed in before if typed not in FLAGS])
    except UsageError:
        return []
    if word.startswith("--"):
        ours = [name for name in (*OPTIONS_WITH_VALUE, *FLAGS) if name.startswith(word)]
        return sorted({*complete(plain, word, Vocabulary()), *ours})
    return complete(plain, word, _load_vocabulary(place) if wants_graph(plain) else Vocabulary())


def _load_vocabulary(target: Target) -> Vocabulary:
    """The names in the graph. Never creates a store only to complete a word."""
    if not target.names_store and target.url is None and not (os.path.isdir("data") or os.path.exists("ugs.toml")):
        return Vocabulary()
    try:
        return asyncio.run(_learn(target))
    except (UgsError, NotOpened, UsageError, Unreachable, GatewayError):
        return Vocabulary()


async def _learn(target: Target) -> Vocabulary:
    async with open_client(target) as port:
        return await load_vocabulary(port)
