"""Default store, settings file and memory folder. Imports nothing of ours, so that the command line starts quickly."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

DEFAULT_STORE = "file:./data"
DEFAULT_FILE = "ugs.toml"


def store_in(folder: str) -> str:
    """The URL of the file store in a folder."""
    return f"file:{folder}"


def memory_folder(home: Path, environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where `ugs mcp` keeps a memory that nobody gave a place: in the platform's folder for data of applications."""
    if platform == "win32":
        data = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif platform == "darwin":
        data = home / "Library" / "Application Support"
    else:
        data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return data / "ugs-gateway" / "memory"
