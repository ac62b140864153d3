"""Paths of this machine, as the URLs of stores spell them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote

DRIVE = re.compile(r"/+(?=[A-Za-z]:)")


def local_path(text: str) -> Path:
    """The path that the path of a URL means. On Windows `/C:/data` is `C:/data`: the slash only ends the host."""
    path = unquote(text)
    return Path(DRIVE.sub("", path, count=1) if sys.platform == "win32" and DRIVE.match(path) else path)
