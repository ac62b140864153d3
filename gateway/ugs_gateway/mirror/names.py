"""File names of elements: `{id}.{extension}` as in the seed, where the file system can hold that name.

Windows allows no `:`, reserves device names, and ignores case. There a `:` becomes `=`, and an id with capitals, or a
reserved one, is followed by `+` and a number whose bits mark the capital letters. Neither character occurs in ids, so
different ids have different files.

A name of more than 255 bytes, which common file systems cannot hold, is truncated and followed by `~` and the SHA-256
of the id; `~` does not occur in ids either. The registry maps each file to its id.
"""

from __future__ import annotations

import re
import sys
from hashlib import sha256

from ugs.ontology.model import Content
from ugs_gateway.mirror.windows_names import is_device

MAX_NAME_BYTES = 255
"""The longest file name on ext4, XFS, Btrfs, APFS and NTFS."""
KEPT_ID_CHARS = 100
"""The part of an id that stays readable in a shortened name."""
SHORTENED = re.compile(r"[a-zA-Z0-9_:=-]+~[0-9a-f]{64}\.[a-z0-9]{1,10}")
"""A name made by `shorten`."""


def path_of(content: Content) -> str:
    """The path of an element's content below the base folder."""
    return shorten(on_windows(content.path) if sys.platform == "win32" else content.path, content.id)


def shorten(path: str, id: str) -> str:
    """The path itself if its name is short enough, else one whose name ends in the hash of the id."""
    folder, _, name = path.rpartition("/")
    if len(name.encode()) <= MAX_NAME_BYTES:
        return path
    stem, _, extension = name.rpartition(".")
    return f"{folder}/{stem[:KEPT_ID_CHARS]}~{sha256(id.encode()).hexdigest()}.{extension}"


def id_in(name: str) -> str:
    """The id in a file name of ours."""
    stem = name.rpartition(".")[0]
    return stem.partition("+")[0].replace("=", ":") if sys.platform == "win32" else stem


def on_windows(path: str) -> str:
    """A path as Windows can hold it."""
    folder, _, name = path.rpartition("/")
    id, _, extension = name.rpartition(".")
    capitals = sum(1 << place for place, letter in enumerate(id) if letter.isupper())
    mark = f"+{capitals:x}" if capitals or is_device(id) else ""
    return f"{folder}/{id.replace(':', '=')}{mark}.{extension}"
