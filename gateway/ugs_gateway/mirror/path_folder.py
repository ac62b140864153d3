"""A folder accessed by its path, for Windows, which has no `openat`.

Every component is checked before use, and an opened file once more afterwards: neither may be a link. That is weaker
than an open descriptor: an attacker who may write in the base folder, and replaces a folder by a link between check and
use, makes the mirror write to the link's target; one who also removes it in time makes it read from there.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from ugs.support.atomic_file import replace
from ugs_gateway.mirror.windows_names import is_device

NAME_SURROGATE_BIT = 0x2000_0000
"""Bit in the tag of a reparse point: it stands for another name, as links and junctions do. Cloud files lack it."""
NOT_A_NAME = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[. ]$|^$')
"""Characters that Windows interprets as drive, stream, parent or wildcard, or silently drops."""


class PathFolder:
    """A folder below a base, created if missing; no component of its path is a link."""

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
        """Create a file that only its owner may read, for writing; returns its descriptor."""
        return os.open(self._at(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    def open(self, name: str) -> int:
        """Open a file for reading; returns its descriptor."""
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
        """Rename a file, replacing the target."""
        replace(self._at(name), self._at(other))

    def unlink(self, name: str) -> None:
        """Remove a name; the target of a link stays."""
        os.unlink(self._at(name))

    def names(self) -> list[str]:
        """The names in the folder."""
        return os.listdir(self._path)

    def close(self) -> None:
        """Nothing to close."""


def _check(path: str, kind: int) -> None:
    """Refuse a path of another kind, or a reparse point: a junction has the kind of a folder."""
    found = os.lstat(path)
    if stat.S_IFMT(found.st_mode) != kind or getattr(found, "st_reparse_tag", 0) & NAME_SURROGATE_BIT:
        raise OSError(errno.ELOOP, "A link, or not what should be there", path)
