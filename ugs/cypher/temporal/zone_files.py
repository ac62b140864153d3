"""Which names of time zones may be looked for among the files of zones."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from functools import cache
    from importlib.resources import files

    def is_safe(name: str) -> bool:
        """Whether this is a zone, letter by letter: a file is found there under any case, and `nul` is a device."""
        return name in _zones()

    @cache
    def _zones() -> frozenset[str]:
        return frozenset(files("tzdata").joinpath("zones").read_text("utf-8").split())

else:

    def is_safe(name: str) -> bool:
        """A name that is no zone's is simply not found."""
        return True
