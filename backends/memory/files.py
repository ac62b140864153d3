"""The few things the store asks of a file system, in one place, so that tests can make any of them fail."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from backends.memory.handles import BINARY, sync_folder
from ugs.replacing import replace


class Files:
    """The real file system. Handles are file descriptors."""

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
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, 0o644)

    def open_new(self, path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, 0o644)

    def write(self, handle: int, data: bytes | memoryview) -> int:
        """Write some of the data; answers how much."""
        return os.write(handle, data)

    def fsync(self, handle: int) -> None:
        os.fsync(handle)

    def close(self, handle: int) -> None:
        os.close(handle)

    def rename(self, source: Path, target: Path) -> None:
        replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        """A second name for a file, so that the first can be given away."""
        os.link(source, target)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def fsync_folder(self, path: Path) -> None:
        """Make names in a folder durable."""
        sync_folder(path)

    def write_all(self, handle: int, data: bytes) -> None:
        """Write everything, however many calls it takes."""
        written = self.write(handle, data)
        rest = memoryview(data)[written:]
        while rest:
            rest = rest[self.write(handle, rest) :]

    def replace_with(self, path: Path, data: bytes) -> None:
        """Give a file new content so that a crash leaves the old or the new, never a mixture."""
        fresh = path.with_name(path.name + ".tmp")
        handle = self.open_new(fresh)
        try:
            self.write_all(handle, data)
            self.fsync(handle)
        finally:
            self.close(handle)
        self.rename(fresh, path)
        self.fsync_folder(path.parent)
