"""Files under one base folder, written whole or not at all, and never through a link that somebody planted."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

SYSTEM, NODES, CONNECTIONS = "_system", "_content/nodes", "_content/connections"
REGISTRY, ONTOLOGY = f"{SYSTEM}/registry.json", f"{SYSTEM}/ontology.yaml"
DRAFT = ".draft-"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MOST_READ = 256 << 20


@contextmanager
def opened(base: Path, folder: str) -> Iterator[int]:
    """A folder below the base, made when missing; each step must be a folder and no link."""
    base.mkdir(parents=True, exist_ok=True)
    place = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in folder.split("/"):
            with suppress(FileExistsError):
                os.mkdir(step, dir_fd=place)
            inner = os.open(step, DIRECTORY, dir_fd=place)
            os.close(place)
            place = inner
        yield place
    finally:
        os.close(place)


def write_draft(place: int, data: bytes) -> str:
    """A file of no name yet, with all its bytes. The log holds them durably: what a power failure takes is repaired."""
    draft = f"{DRAFT}{token_hex(6)}"
    try:
        with open(os.open(draft, NEW_FILE, 0o644, dir_fd=place), "wb") as file:
            file.write(data)
    except OSError:
        remove(place, draft)
        raise
    return draft


def replace(base: Path, path: str, data: bytes) -> None:
    """Put a whole file in place of what was there, at once."""
    folder, _, name = path.rpartition("/")
    with opened(base, folder) as place:
        draft = write_draft(place, data)
        try:
            os.replace(draft, name, src_dir_fd=place, dst_dir_fd=place)
        except OSError:
            remove(place, draft)
            raise


def remove(place: int, name: str) -> None:
    """Remove a file, if it is there."""
    with suppress(OSError):
        os.unlink(name, dir_fd=place)


def removed(base: Path, path: str) -> None:
    """The same by path."""
    folder, _, name = path.rpartition("/")
    with opened(base, folder) as place:
        remove(place, name)


def read(base: Path, path: str) -> bytes | None:
    """What a file holds; None when there is no such file, or what is there is none."""
    folder, _, name = path.rpartition("/")
    with opened(base, folder) as place:
        try:
            file = os.open(name, READ, dir_fd=place)
        except OSError:
            return None
        with open(file, "rb") as found:
            return found.read(MOST_READ) if stat.S_ISREG(os.fstat(file).st_mode) else None


def names_in(base: Path, folder: str) -> list[str]:
    """The names in a folder."""
    with opened(base, folder) as place:
        return sorted(os.listdir(place))
