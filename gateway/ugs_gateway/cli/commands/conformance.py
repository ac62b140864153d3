"""ugs conformance: run the conformance kit. All words are handed on to `python -m ugs_conformance`.

examples:
  ugs conformance --help-kit                    the kit's own options
  ugs conformance --backend sqlite:///kit.db    one store
  ugs conformance --all                         every store that is running here
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec

from ugs_gateway.cli.output.streams import UsageError

HANDS_ON = True


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("words", nargs="*", help="options of the kit; --help-kit shows them")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    if find_spec("pytest") is None:
        raise UsageError("the kit needs pytest: pip install 'ugs-gateway[conformance]'")
    words = ["--help" if word == "--help-kit" else word for word in options.words]
    # The kit takes this process over, so that its exit code and signals are the kit's own.
    os.execv(sys.executable, [sys.executable, "-m", "ugs_conformance", *words])
