"""ugs copy: replay the log of one store into another and prove with a digest that both hold the same.

A copy that was interrupted goes on where it stopped: start it again. A target that holds something else is refused
and left as it is.

examples:
  ugs copy file:./data sqlite:///graph.db
  ugs copy sqlite:///graph.db postgresql://me@localhost/graph
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ugs.connect import storage_for
from ugs.errors import UgsError
from ugs.log.replay import position_of
from ugs.storage import Storage
from ugs.system import System
from ugs_gateway.cli.open_store import open_or_refuse, run_coroutine
from ugs_gateway.cli.output.progress import Progress
from ugs_gateway.cli.output.streams import NotOpened, say
from ugs_gateway.observability.redaction import mask_url


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("source", metavar="FROM", help="URL of the store to read")
    parser.add_argument("target", metavar="TO", help="URL of the store to fill")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return run_coroutine(_run(options))


async def _run(options: Namespace) -> int:
    source = await open_or_refuse(options.source)
    try:
        target = await _opened_target(source, options.target)
        try:
            return await _copy(source, target, options)
        finally:
            await target.close()
    finally:
        await source.close()


async def _opened_target(source: System, url: str) -> Storage:
    try:
        target = storage_for(url)
        await target.open(source.catalog)
    except UgsError as error:
        raise NotOpened(url) from error
    return target


async def _copy(source: System, target: Storage, options: Namespace) -> int:
    before = await position_of(target)
    if before:
        say(f"going on after event {before}, which the target already has")
    progress = Progress("copying")
    try:
        digest = await source.copy_to(target, progress)
    finally:
        progress.end()
    events = await position_of(target)
    options.speech.put(
        {
            "from": mask_url(options.source),
            "to": mask_url(options.target),
            "events": events,
            "copied": events - before,
            "digest": digest,
        }
    )
    return 0
