"""ugs serve: serve a store over HTTP until it is told to stop (Ctrl+C or SIGTERM finish the requests under way).

examples:
  ugs serve
  ugs serve --store sqlite:///graph.db --port 9000
  UGS_STORE=postgresql://me@localhost/graph ugs serve --workers auto
"""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace

from ugs.errors import UgsError
from ugs_gateway.cli.open_store import add_store_options, settings_of
from ugs_gateway.cli.output.streams import NotOpened
from ugs_gateway.observability.structured_logs import set_up_logs
from ugs_gateway.settings import SETTINGS, flag

# Settings that are switched with --x and --no-x.
SWITCHES = frozenset({"allow_open", "trusted_only", "compression", "metrics"})

PUTS_DATA = False


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_store_options(parser)
    for name, setting in SETTINGS.items():
        if name in SWITCHES:
            parser.add_argument(flag(name), action=BooleanOptionalAction, default=None, help=setting.meaning)
        elif name != "store":
            word = name.rpartition("_")[2].upper()
            parser.add_argument(flag(name), metavar=word, help=f"{setting.meaning} ({setting.rule})")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    settings = settings_of(options)
    set_up_logs(settings.log_level, settings.log_format)
    from ugs_gateway.server import CannotListen, serve

    try:
        if settings.workers == 1:
            serve(settings, _ready)
        else:
            from ugs_gateway.workers import serve_with_workers

            serve_with_workers(settings, _ready)
    except CannotListen:
        raise
    except UgsError as error:
        raise NotOpened(settings.store) from error
    return 0


def _ready(url: str) -> None:
    print(f"UGS Gateway is ready: {url}", flush=True)
