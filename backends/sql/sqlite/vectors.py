"""sqlite-vec: an extension that compares vectors, used where it is installed and Python may load extensions."""

from __future__ import annotations

import sqlite3
from functools import cache
from importlib import import_module
from importlib.util import find_spec


@cache
def extension() -> str | None:
    """The file of the extension, if it can be loaded here."""
    if find_spec("sqlite_vec") is None:
        return None
    path: str = import_module("sqlite_vec").loadable_path()
    connection = sqlite3.connect(":memory:")
    try:
        load(connection, path)
    except (AttributeError, sqlite3.Error):  # a Python that was built without, or an SQLite that refuses
        return None
    finally:
        connection.close()
    return path


def load(connection: sqlite3.Connection, path: str) -> None:
    """Let a connection compare vectors, and load nothing else afterwards."""
    connection.enable_load_extension(True)
    connection.load_extension(path)
    connection.enable_load_extension(False)
