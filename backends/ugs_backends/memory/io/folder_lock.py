"""The lock that limits a data folder to one process; the operating system releases it when the holder dies."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path

import msgspec

from ugs.errors import StorageIOError, StoreLocked
from ugs_backends.memory.file_format import LOCK
from ugs_backends.memory.io.file_lock import lock_exclusively


class FolderLock:
    """Holds `{folder}/lock` from `acquire` to `release`; the file names its holder for the error message."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / LOCK
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock without waiting; raises `StoreLocked` with the holder if it is taken."""
        try:
            handle = self._open()
        except OSError as error:
            raise StorageIOError(f"Cannot open {self.path}: {error.strerror}", path=str(self.path)) from error
        try:
            lock_exclusively(handle)
        except OSError as error:
            holder = self._read_holder(handle)
            os.close(handle)
            raise StoreLocked(
                f"The data directory is locked: {self.folder} is in use by {holder}. "
                "If it is a gateway, ask it: `--url http://127.0.0.1:8000`. "
                "Otherwise stop that process, or give this one another folder.",
                folder=str(self.folder),
            ) from error
        self._handle = handle
        self._write_holder(handle)

    def _open(self) -> int:
        """Open the file to lock; where it is not writable, the existing file or the folder, so that reading works."""
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES):
                raise
        return os.open(self.path if self.path.exists() else self.folder, os.O_RDONLY)

    def _write_holder(self, handle: int) -> None:
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        # The text is only for the error message; a full disk must not prevent opening a store for reading.
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, msgspec.json.encode({"pid": os.getpid(), "started": started}))

    def _read_holder(self, handle: int) -> str:
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            known = msgspec.json.decode(os.read(handle, 1000), type=dict[str, int | str])
            return f"process {known['pid']} (since {known['started']})"
        except (msgspec.MsgspecError, KeyError, OSError):
            return "another process"

    def release(self) -> None:
        """Release the lock."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
