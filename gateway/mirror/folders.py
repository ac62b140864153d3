"""Files under one base folder, written whole or not at all, and never through a link that somebody planted."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

if sys.platform == "win32":
    from gateway.mirror.checked import CheckedFolder as Folder
else:
    from gateway.mirror.held import HeldFolder as Folder

SYSTEM, NODES, CONNECTIONS = "_system", "_content/nodes", "_content/connections"
REGISTRY, ONTOLOGY = f"{SYSTEM}/registry.json", f"{SYSTEM}/ontology.yaml"
DRAFT = ".draft-"
MOST_READ = 256 << 20


@contextmanager
def opened(base: Path, folder: str) -> Iterator[Folder]:
    """A folder below the base, made when missing; each step must be a folder and no link."""
    place = Folder(base, folder)
    try:
        yield place
    finally:
        place.close()


def write_draft(place: Folder, data: bytes) -> str:
    """A file of no name yet, with all its bytes. The log holds them durably: what a power failure takes is repaired."""
    draft = f"{DRAFT}{token_hex(6)}"
    try:
        with open(place.create(draft), "wb") as file:
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
            place.move(draft, name)
        except OSError:
            remove(place, draft)
            raise


def remove(place: Folder, name: str) -> None:
    """Remove a file, if it is there."""
    with suppress(OSError):
        place.unlink(name)


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
            file = place.open(name)
        except OSError:
            return None
        with open(file, "rb") as found:
            return found.read(MOST_READ) if stat.S_ISREG(os.fstat(file).st_mode) else None


def names_in(base: Path, folder: str) -> list[str]:
    """The names in a folder."""
    with opened(base, folder) as place:
        return sorted(place.names())
