"""Where the process that holds a data folder serves other processes of the same user: a file in the folder.

The file can be read by the folder's owner alone. Its secret is new with every host, and whoever knows it may do what
whoever can read the folder may do.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import msgspec
from msgspec import Struct

ADDRESS_FILE = "mcp.json"
PROTOCOL = 1
"""Raised when host and relay of different versions would not understand each other."""
HOST = "127.0.0.1"
SECRET_CHARS = 64
MAX_ADDRESS_BYTES = 4_096
MAX_LINE_BYTES = 64 << 20
"""The longest message that is passed on."""


class Address(Struct, frozen=True, forbid_unknown_fields=True):
    """A listening host."""

    port: int
    secret: str
    pid: int
    protocol: int = PROTOCOL


class SessionRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a session, as the command line of `ugs mcp` has them."""

    profile: str
    ontology: str
    max_bytes: int
    mirror: str | None = None


class Joined(Struct, frozen=True):
    """The host's answer to a request: no reason means that the session has begun."""

    refused: str | None = None


class Closed(Struct, frozen=True, forbid_unknown_fields=True):
    """The host's last line when it ends in order: every call it took was answered, the others were not begun."""

    closed: bool


def publish(folder: Path, address: Address) -> None:
    """Write the address, readable by the owner only; replaces that of an earlier host at once."""
    handle, draft = tempfile.mkstemp(prefix=f".{ADDRESS_FILE}-", dir=folder)  # made with mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(address))
        os.replace(draft, folder / ADDRESS_FILE)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def withdraw(folder: Path) -> None:
    """Remove the address."""
    with contextlib.suppress(OSError):
        (folder / ADDRESS_FILE).unlink()


def find_host(folder: Path) -> Address | None:
    """The address in a folder, or None; it may be that of a process that has ended."""
    try:
        with open(folder / ADDRESS_FILE, "rb") as file:
            found = msgspec.json.decode(file.read(MAX_ADDRESS_BYTES), type=Address)
    except (OSError, msgspec.MsgspecError):
        return None
    return found if found.protocol == PROTOCOL else None
