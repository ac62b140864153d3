"""Imported once by the process that forks children, so that a child is ready in milliseconds."""

from contextlib import suppress
from importlib.metadata import entry_points

import tests.faults.load
from ugs.connect import GROUP

for backend in entry_points(group=GROUP):
    with suppress(Exception):  # whoever needs it will be told
        backend.load()

__all__ = ["tests"]
