"""What the machine asks of one who serves: how an address is taken for oneself, and which signals mean to stop."""

from __future__ import annotations

import signal
import socket
import sys

if sys.platform == "win32":
    # There "reuse" would let any other program listen on the same address at the same time.
    OURS_ALONE = socket.SO_EXCLUSIVEADDRUSE
    STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGBREAK)
else:
    # Here it means: although connections of the one before us have not quite ended.
    OURS_ALONE = socket.SO_REUSEADDR
    STOPPING = (signal.SIGTERM, signal.SIGINT)
