"""Progress of long work: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

BAR_CHARS = 30
LINE_INTERVAL_SECONDS = 5.0
DRAW_INTERVAL_SECONDS = 0.1


class Progress:
    """Shows how many of how many items are done; call it with both."""

    def __init__(self, what: str, out: TextIO | None = None, unit: str = "events") -> None:
        self.what = what
        self.unit = unit
        self.out = out or sys.stderr
        self.on_terminal = self.out.isatty()
        self._told = 0.0
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        pause = DRAW_INTERVAL_SECONDS if self.on_terminal else LINE_INTERVAL_SECONDS
        if time.monotonic() - self._told < pause and done < total:
            return
        self._told = time.monotonic()
        self._draw(done, total) if self.on_terminal else self._line(done, total)

    def _draw(self, done: int, total: int) -> None:
        filled = BAR_CHARS * done // max(total, 1)
        bar = "█" * filled + "░" * (BAR_CHARS - filled)
        self.out.write(f"\r{self.what} {bar} {done:,} of {total:,} {self.unit} ")
        self.out.flush()
        self._drawn = True

    def _line(self, done: int, total: int) -> None:
        self.out.write(f"{self.what}: {done} of {total} {self.unit}\n")
        self.out.flush()

    def end(self) -> None:
        """End the line of the bar."""
        if self._drawn:
            self.out.write("\n")
            self.out.flush()
