"""ugs config: show the settings as they are now, and with --origin where each comes from.

examples:
  ugs config show
  ugs config show --origin
  UGS_PORT=9000 ugs config show --origin
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gateway.cli.answers import Answer
from gateway.cli.info import shown
from gateway.cli.opening import settings_of, store_argument
from gateway.settings import SETTINGS


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=["show"], help="what to do")
    parser.add_argument("--origin", action="store_true", help="tell where each value comes from")
    store_argument(parser)


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    settings = settings_of(options)
    found = {name: shown(settings, name) for name in SETTINGS}
    value = found if options.origin else {name: setting["value"] for name, setting in found.items()}
    rows = [{"setting": name, **setting} for name, setting in found.items()]
    answer = Answer("settings", value, rows if options.origin else value)
    code: int = options.speech.answer(answer)
    return code
