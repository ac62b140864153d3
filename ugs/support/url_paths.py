"""Conversion of the path in a store URL to a local file path."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote

DRIVE = re.compile(r"/+(?=[A-Za-z]:)")


def local_path(text: str) -> Path:
    """The local path of a URL's path. On Windows `/C:/data` is `C:/data`: the slash only ends the host."""
    path = unquote(text)
    return Path(DRIVE.sub("", path, count=1) if sys.platform == "win32" and DRIVE.match(path) else path)
