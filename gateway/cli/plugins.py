"""ugs plugins: what is installed beside the kernel and found by entry point: stores, actors, embedders.

examples:
  ugs plugins
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib.metadata import distributions

from gateway.cli.answers import Answer

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
    rows.sort(key=lambda row: (row["group"], row["name"]))
    code: int = options.speech.answer(Answer("rows", rows))
    return code
