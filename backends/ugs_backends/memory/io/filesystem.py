"""The file system operations that the store uses, in one class, so that tests can inject faults."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ugs.support.atomic_file import replace
from ugs_backends.memory.io.fsync import BINARY, sync_folder


class Files:
    """The real file system; handles are file descriptors."""

    def make_folder(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)

    def exists(self, path: Path) -> bool:
        return path.exists()

    def size(self, path: Path) -> int:
        return path.stat().st_size if path.exists() else 0

    def read(self, path: Path, offset: int = 0, length: int = -1) -> bytes:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(length)

    def lines(self, path: Path, offset: int = 0) -> Iterator[bytes]:
        """Lines with their newlines; the last one may have none."""
        if not path.exists():
            return
        with path.open("rb", buffering=1 << 20) as file:
            file.seek(offset)
            yield from file

    def open_for_append(self, path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, 0o600)

    def open_new(self, path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, 0o600)

    def write(self, handle: int, data: bytes | memoryview) -> int:
        """Write a part of the data; returns the number of bytes written."""
        return os.write(handle, data)

    def fsync(self, handle: int) -> None:
        os.fsync(handle)

    def close(self, handle: int) -> None:
        os.close(handle)

    def rename(self, source: Path, target: Path) -> None:
        replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        """Create a hard link."""
        os.link(source, target)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def fsync_folder(self, path: Path) -> None:
        """Make created and renamed files of a folder durable."""
        sync_folder(path)

    def write_all(self, handle: int, data: bytes) -> None:
        """Write all of the data, in as many calls as it takes."""
        written = self.write(handle, data)
        rest = memoryview(data)[written:]
        while rest:
            rest = rest[self.write(handle, rest) :]

    def replace_with(self, path: Path, data: bytes) -> None:
        """Replace the content of a file atomically and durably: a crash leaves the old or the new content."""
        fresh = path.with_name(path.name + ".tmp")
        handle = self.open_new(fresh)
        try:
            self.write_all(handle, data)
            self.fsync(handle)
        finally:
            self.close(handle)
        self.rename(fresh, path)
        self.fsync_folder(path.parent)
