"""One process per data folder: a lock that the kernel frees when its holder dies, however it dies."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path

import msgspec

from backends.memory.exclusive import lock_alone
from backends.memory.layout import LOCK
from ugs.errors import StorageIOError, StoreLocked


class FolderLock:
    """Holds `{folder}/lock` from `acquire` to `release`; who holds it stands inside, for the message."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / LOCK
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock at once, or say who has it."""
        try:
            handle = self._open()
        except OSError as error:
            raise StorageIOError(f"Cannot open {self.path}: {error.strerror}", path=str(self.path)) from error
        try:
            lock_alone(handle)
        except OSError as error:
            holder = self._holder(handle)
            os.close(handle)
            raise StoreLocked(
                f"The data directory is locked: {self.folder} is in use by {holder}. "
                "Stop that process, or give this one another folder.",
                folder=str(self.folder),
            ) from error
        self._handle = handle
        self._sign(handle)

    def _open(self) -> int:
        """The file to lock; where nothing can be written, what is there is locked as it is, so that reading goes on."""
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES):
                raise
        return os.open(self.path if self.path.exists() else self.folder, os.O_RDONLY)

    def _sign(self, handle: int) -> None:
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        # The text only serves a message; a full disk must not keep a store from opening for reading.
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, msgspec.json.encode({"pid": os.getpid(), "started": started}))

    def _holder(self, handle: int) -> str:
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            known = msgspec.json.decode(os.read(handle, 1000), type=dict[str, int | str])
            return f"process {known['pid']} (since {known['started']})"
        except (msgspec.MsgspecError, KeyError, OSError):
            return "another process"

    def release(self) -> None:
        """Let others in."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
