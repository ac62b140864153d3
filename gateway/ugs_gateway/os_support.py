"""Differences between operating systems: the socket options for listening, stop signals, the usable cores, and the
number of bytes a peer has not received."""

from __future__ import annotations

import os
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

    SHARES_PORTS = True
    """Several sockets can listen on one port, and the kernel spreads connections evenly over them (SO_REUSEPORT)."""

    def share_port(listener: socket.socket) -> None:
        """Let other sockets of this user bind the same port; called before binding."""
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)

    def usable_cores() -> int:
        """How many cores this process may use."""
        return len(os.sched_getaffinity(0))

    def unsent_bytes(descriptor: int) -> int:
        """Bytes in the kernel's send buffer of a socket that the peer has not acknowledged."""
        try:
            found: int = struct.unpack("i", fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(4)))[0]
        except OSError:
            return 0  # the socket is closed
        return found

else:
    SHARES_PORTS = False

    def share_port(listener: socket.socket) -> None:
        """Not available on this system, or without an even spread; nothing is done."""

    def usable_cores() -> int:
        """How many cores this machine has."""
        return os.cpu_count() or 1

    def unsent_bytes(descriptor: int) -> int:
        """Not available on this system; always 0."""
        return 0
