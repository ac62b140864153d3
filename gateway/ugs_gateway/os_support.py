"""Differences between operating systems: the socket option for exclusive listening, stop signals, and the number of
bytes a peer has not received."""

from __future__ import annotations

import signal
import socket
import struct
import sys

if sys.platform == "win32":
    # On Windows SO_REUSEADDR would let another program listen on the same address at the same time.
    OURS_ALONE = socket.SO_EXCLUSIVEADDRUSE
    STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGBREAK)
else:
    # Elsewhere it allows binding while connections of the previous process are still in TIME_WAIT.
    OURS_ALONE = socket.SO_REUSEADDR
    STOPPING = (signal.SIGTERM, signal.SIGINT)


if sys.platform == "linux":
    import fcntl
    import termios

    def unsent_bytes(descriptor: int) -> int:
        """Bytes in the kernel's send buffer of a socket that the peer has not acknowledged."""
        try:
            found: int = struct.unpack("i", fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(4)))[0]
        except OSError:
            return 0  # the socket is closed
        return found

else:

    def unsent_bytes(descriptor: int) -> int:
        """Not available on this system; always 0."""
        return 0
