"""Files below one base folder: replaced atomically, and never written through a link."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

if sys.platform == "win32":
    from ugs_gateway.mirror.path_folder import PathFolder as Folder
else:
    from ugs_gateway.mirror.fd_folder import FdFolder as Folder

SYSTEM, NODES, CONNECTIONS = "_system", "_content/nodes", "_content/connections"
REGISTRY, ONTOLOGY = f"{SYSTEM}/registry.json", f"{SYSTEM}/ontology.yaml"
DRAFT = ".draft-"
MAX_READ_BYTES = 256 << 20


@contextmanager
def open_folder(base: Path, folder: str) -> Iterator[Folder]:
    """A folder below the base, created if missing; no component of its path may be a link."""
    place = Folder(base, folder)
    try:
        yield place
    finally:
        place.close()


def write_draft(place: Folder, data: bytes) -> str:
    """Write all bytes to a temporary file. It is not flushed to disk: after a power failure `repair` restores it from
    the log.
    """
    draft = f"{DRAFT}{token_hex(6)}"
    try:
        with open(place.create(draft), "wb") as file:
            file.write(data)
    except OSError:
        remove(place, draft)
        raise
    return draft


def replace(base: Path, path: str, data: bytes) -> None:
    """Replace a file atomically."""
    folder, _, name = path.rpartition("/")
    with open_folder(base, folder) as place:
        replace_in(place, name, data)


def replace_in(place: Folder, name: str, data: bytes) -> None:
    """The same in a folder that is already open."""
    draft = write_draft(place, data)
    try:
        place.move(draft, name)
    except OSError:
        remove(place, draft)
        raise


def remove(place: Folder, name: str) -> None:
    """Remove a file if it exists."""
    with suppress(OSError):
        place.unlink(name)


def remove_path(base: Path, path: str) -> None:
    """The same by path."""
    folder, _, name = path.rpartition("/")
    with open_folder(base, folder) as place:
        remove(place, name)


def read_file(base: Path, path: str) -> bytes | None:
    """The bytes of a file; None if there is no regular file at the path."""
    folder, _, name = path.rpartition("/")
    with open_folder(base, folder) as place:
        try:
            file = place.open(name)
        except OSError:
            return None
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)  # `open` would refuse a folder with an error
            return None
        with open(file, "rb") as found:
            return found.read(MAX_READ_BYTES)


def names_in(base: Path, folder: str) -> list[str]:
    """The names in a folder."""
    with open_folder(base, folder) as place:
        return sorted(place.names())
