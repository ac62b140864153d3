"""An exclusive lock on an open file, which the operating system releases when its holder dies.

Windows locks byte ranges, which other processes then cannot read: the locked range lies far behind the end of the text.
"""

from __future__ import annotations

import os
import sys

LOCKED_FROM_BYTE = 1 << 30
LOCKED_BYTES = 64

if sys.platform == "win32":
    import msvcrt

    def lock_exclusively(handle: int) -> None:
        """Take the file for oneself at once, or fail with OSError."""
        os.lseek(handle, LOCKED_FROM_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, LOCKED_BYTES)

else:
    import fcntl

    def lock_exclusively(handle: int) -> None:
        """Take the file for oneself at once, or fail with OSError."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
