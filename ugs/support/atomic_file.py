"""Atomic replacement of a file."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    from time import sleep

    PAUSES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
    """Seconds. Windows moves nothing onto a file that somebody has open, and scanners open what is new for a moment."""

    def replace(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
        """Move a file onto another, retrying for about half a second while another process has it open."""
        for pause in PAUSES:
            try:
                return os.replace(source, target)
            except PermissionError:
                sleep(pause)
        os.replace(source, target)

else:
    replace = os.replace
