"""Where servers keep things: state and logs in the project, jars in the user's cache, data aside."""

import os
import socket
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
IMPORT_ROOTS = [PROJECT, *(PROJECT / name for name in ("gateway", "backends", "schema", "conformance"))]
"""The folders that hold the packages, for an interpreter in which they are not installed."""


def state_folder() -> Path:
    """The folder of state files, locks and logs; `UGS_TEST_SERVERS` moves it."""
    folder = Path(os.environ.get("UGS_TEST_SERVERS") or PROJECT / "build" / "servers")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cache_folder() -> Path:
    """The user's own cache, which `make clean` leaves alone."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "ugs-gateway"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def new_data_folder(name: str) -> Path:
    """A fresh folder for a server's data, outside the project: as root the server runs as another
    user, who may not be allowed to walk through the folders above the project."""
    return Path(tempfile.mkdtemp(prefix=f"ugs-test-{name}-"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
