"""Platform differences of file handles: binary mode and fsync of folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    BINARY = os.O_BINARY
    """Without it the system would write two bytes for every newline."""

    def sync_folder(path: Path) -> None:
        """Do nothing, as Windows cannot flush a folder.

        NTFS journals names, and the journal is written with the next flush of any file; until then a power failure
        may leave a renamed file under its old name.
        """

else:
    BINARY = 0

    def sync_folder(path: Path) -> None:
        """Fsync a folder, which makes the names in it durable."""
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
