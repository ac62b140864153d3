"""A folder accessed through an open descriptor, on systems with `openat`.

The folder cannot be replaced by a link meanwhile: every name is resolved relative to the descriptor, and the same call
that opens a file refuses to follow a link.
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


class FdFolder:
    """A folder below a base, created if missing; no component of its path is a link."""

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
        """Create a file that only its owner may read, for writing; returns its descriptor."""
        return os.open(name, NEW_FILE, 0o600, dir_fd=self._place)

    def open(self, name: str) -> int:
        """Open something for reading, which need not be a file; returns its descriptor."""
        return os.open(name, READ, dir_fd=self._place)

    def move(self, name: str, other: str) -> None:
        """Rename a file, replacing the target."""
        os.replace(name, other, src_dir_fd=self._place, dst_dir_fd=self._place)

    def unlink(self, name: str) -> None:
        """Remove a name; the target of a link stays."""
        os.unlink(name, dir_fd=self._place)

    def names(self) -> list[str]:
        """The names in the folder."""
        return os.listdir(self._place)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._place)
