"""A folder known by its path, for Windows, where no name can be looked up from an open folder.

Every step is looked at before it is used, and what is read once more after it was opened: neither may lead elsewhere.
That is weaker than holding the folder open. Whoever may write in the base folder, and puts a link in the place of a
folder in the instant between look and use, makes us write there; whoever also takes it away in time makes us read.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from gateway.devices import is_device
from ugs.replacing import replace

LEADS_ELSEWHERE = 0x2000_0000
"""In the tag of a reparse point: it stands for another name, as links and junctions do. Files in a cloud do not."""
NOT_A_NAME = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[. ]$|^$')
"""What Windows takes for a drive, a stream, a way up or a wildcard, or silently leaves out."""


class CheckedFolder:
    """A folder below a base, made when missing; each step is a folder and no link."""

    def __init__(self, base: Path, folder: str) -> None:
        base.mkdir(parents=True, exist_ok=True)
        self._path = str(base)
        for step in folder.split("/"):
            self._path = self._at(step)
            with suppress(FileExistsError):
                os.mkdir(self._path)
            _check(self._path, stat.S_IFDIR)

    def _at(self, name: str) -> str:
        if NOT_A_NAME.search(name) or is_device(name):
            raise OSError(errno.EINVAL, "The name cannot be that of a file", name)
        return os.path.join(self._path, name)

    def create(self, name: str) -> int:
        """A new file to write."""
        return os.open(self._at(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)

    def open(self, name: str) -> int:
        """A file to read."""
        path = self._at(name)
        _check(path, stat.S_IFREG)
        handle = os.open(path, os.O_RDONLY)
        try:
            _check(self._path, stat.S_IFDIR)
            _check(path, stat.S_IFREG)
        except OSError:
            os.close(handle)
            raise
        return handle

    def move(self, name: str, other: str) -> None:
        """Give a file the name of another, which is gone then."""
        replace(self._at(name), self._at(other))

    def unlink(self, name: str) -> None:
        """Remove a name; what a link leads to stays."""
        os.unlink(self._at(name))

    def names(self) -> list[str]:
        """What is in it."""
        return os.listdir(self._path)

    def close(self) -> None:
        """Nothing is held."""


def _check(path: str, kind: int) -> None:
    """Refuse what is of another kind, or stands for something else: a junction is a folder as far as its kind tells."""
    found = os.lstat(path)
    if stat.S_IFMT(found.st_mode) != kind or getattr(found, "st_reparse_tag", 0) & LEADS_ELSEWHERE:
        raise OSError(errno.ELOOP, "A link, or not what should be there", path)
