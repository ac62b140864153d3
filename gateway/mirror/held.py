"""A folder held open, on systems where names can be looked up from an open folder.

What is held cannot be exchanged for a link behind our back: every name is looked up from the folder itself, and the
system refuses to follow a link in the very call that opens the file.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

assert sys.platform != "win32"

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


class HeldFolder:
    """A folder below a base, made when missing; each step is a folder and no link."""

    def __init__(self, base: Path, folder: str) -> None:
        base.mkdir(parents=True, exist_ok=True)
        self._place = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for step in folder.split("/"):
                self._enter(step)
        except BaseException:
            self.close()
            raise

    def _enter(self, step: str) -> None:
        with suppress(FileExistsError):
            os.mkdir(step, dir_fd=self._place)
        inner = os.open(step, DIRECTORY, dir_fd=self._place)
        os.close(self._place)
        self._place = inner

    def create(self, name: str) -> int:
        """A new file to write."""
        return os.open(name, NEW_FILE, 0o644, dir_fd=self._place)

    def open(self, name: str) -> int:
        """Something to read, which need not be a file."""
        return os.open(name, READ, dir_fd=self._place)

    def move(self, name: str, other: str) -> None:
        """Give a file the name of another, which is gone then."""
        os.replace(name, other, src_dir_fd=self._place, dst_dir_fd=self._place)

    def unlink(self, name: str) -> None:
        """Remove a name; what a link leads to stays."""
        os.unlink(name, dir_fd=self._place)

    def names(self) -> list[str]:
        """What is in it."""
        return os.listdir(self._place)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._place)
