"""What file handles need on this system: bytes that stay as they are, and names that outlive a power failure."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    BINARY = os.O_BINARY
    """Without it the system would write two bytes for every newline."""

    def sync_folder(path: Path) -> None:
        """Nothing: a folder cannot be flushed there. NTFS keeps names in a journal, which goes to the disk with the
        next flush of any file; until then a power failure may leave a file that was moved under its old name."""

else:
    BINARY = 0

    def sync_folder(path: Path) -> None:
        """Force the names in a folder to the disk."""
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
