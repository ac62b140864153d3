"""ugs config: show the settings as they are now, and where each comes from.

examples:
  ugs config show
  UGS_PORT=9000 ugs config show --human
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ugs_gateway.cli.commands.info import describe_setting
from ugs_gateway.cli.open_store import add_store_options, settings_of
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.settings import SETTINGS


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=["show"], help="what to do")
    parser.add_argument("--origin", action="store_true", help="tell where each value comes from (it always does)")
    add_store_options(parser)


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    settings = settings_of(options)
    found = {name: describe_setting(settings, name) for name in SETTINGS}
    answer = Answer("settings", found, [{"setting": name, **setting} for name, setting in found.items()])
    code: int = options.speech.answer(answer)
    return code
