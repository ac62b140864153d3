"""ugs plugins: stores, actors and embedders: those that come with ugs, and those that others bring by entry point.

examples:
  ugs plugins
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib.metadata import distributions

from ugs import __version__
from ugs.actors.registry import BUILT_IN, GROUP
from ugs_gateway.cli.output.results import Answer

PREFIX = "ugs."


def arguments(parser: ArgumentParser) -> None:
    """There are no options."""


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    rows = [
        {
            "group": entry.group,
            "name": entry.name,
            "object": entry.value,
            "package": f"{package.name} {package.version}",
        }
        for package in distributions()
        for entry in package.entry_points
        if entry.group.startswith(PREFIX)
    ]
    rows += [
        {"group": GROUP, "name": name, "object": f"{kind.__module__}:{kind.__name__}", "package": f"ugs {__version__}"}
        for name, kind in BUILT_IN.items()
        if not any(row["group"] == GROUP and row["name"] == name for row in rows)
    ]
    rows.sort(key=lambda row: (row["group"], row["name"]))
    code: int = options.speech.answer(Answer("rows", rows))
    return code
