"""What the file of an element is called: `{id}.{extension}`, as the seed has it, where the system can keep that name.

Windows can keep no `:`, has names of its own for devices, and takes `Plan` and `plan` for the same file. There a `:`
becomes `=`, and an id with capitals, or a device's, is followed by `+` and a number whose bits say which letters are
capital. Neither sign is ever part of an id: different ids have different files.
"""

from __future__ import annotations

import sys

from gateway.devices import is_device
from ugs.ontology.model import Content


def path_of(content: Content) -> str:
    """Where the content of an element lies below the base folder."""
    return on_windows(content.path) if sys.platform == "win32" else content.path


def id_in(name: str) -> str:
    """The id in the name of a file, if it is one of ours."""
    stem = name.rpartition(".")[0]
    return stem.partition("+")[0].replace("=", ":") if sys.platform == "win32" else stem


def on_windows(path: str) -> str:
    """A path as Windows can keep it."""
    folder, _, name = path.rpartition("/")
    id, _, extension = name.rpartition(".")
    capitals = sum(1 << place for place, letter in enumerate(id) if letter.isupper())
    mark = f"+{capitals:x}" if capitals or is_device(id) else ""
    return f"{folder}/{id.replace(':', '=')}{mark}.{extension}"
