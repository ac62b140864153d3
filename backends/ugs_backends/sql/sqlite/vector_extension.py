"""The optional extension sqlite-vec, used where it is installed and Python can load extensions."""

from __future__ import annotations

import sqlite3
from functools import cache
from importlib import import_module
from importlib.util import find_spec


@cache
def find_extension() -> str | None:
    """The path of the extension, or None if it cannot be loaded."""
    if find_spec("sqlite_vec") is None:
        return None
    path: str = import_module("sqlite_vec").loadable_path()
    connection = sqlite3.connect(":memory:")
    try:
        load_extension(connection, path)
    except (AttributeError, sqlite3.Error):  # Python built without extension loading, or SQLite refuses it
        return None
    finally:
        connection.close()
    return path


def load_extension(connection: sqlite3.Connection, path: str) -> None:
    """Load the extension into a connection, then disable extension loading again."""
    connection.enable_load_extension(True)
    connection.load_extension(path)
    connection.enable_load_extension(False)
