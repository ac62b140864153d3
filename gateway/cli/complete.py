"""ugs complete: what may come next, one candidate a line. The scripts of `ugs completion` ask this.

examples:
  ugs complete -- get al
"""

from __future__ import annotations

import asyncio
import os
from argparse import ArgumentParser, Namespace

from gateway.cli.interactive.completing import Vocabulary, complete, learn, wants_graph
from gateway.cli.outcome import Misused, NotOpened, put_out
from gateway.cli.places import VALUED, Place, opened_port, take_place
from gateway.cli.ports.http import Refused, Unreachable
from ugs.errors import UgsError

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
        put_out(candidate)
    return 0


def candidates(words: list[str]) -> list[str]:
    """What may stand in the place of the last word; nothing where that cannot be told."""
    *before, word = words or [""]
    try:
        place, plain = take_place([typed for typed in before if typed not in FLAGS])
    except Misused:
        return []
    if word.startswith("--"):
        ours = [name for name in (*VALUED, *FLAGS) if name.startswith(word)]
        return sorted({*complete(plain, word, Vocabulary()), *ours})
    return complete(plain, word, _known(place) if wants_graph(plain) else Vocabulary())


def _known(place: Place) -> Vocabulary:
    """What the graph speaks of; a store is never made only to complete a word."""
    if not place.names_store and place.url is None and not (os.path.isdir("data") or os.path.exists("ugs.toml")):
        return Vocabulary()
    try:
        return asyncio.run(_learn(place))
    except (UgsError, NotOpened, Misused, Unreachable, Refused):
        return Vocabulary()


async def _learn(place: Place) -> Vocabulary:
    async with opened_port(place) as port:
        return await learn(port)
