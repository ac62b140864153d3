"""Differences between operating systems: socket options for listening, stop signals, usable cores, unsent bytes of a
peer, and the return of freed memory."""

from __future__ import annotations

import ctypes
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


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Parameters of glibc's `mallopt`."""
LARGE_BLOCK_BYTES, MAX_FREE_BYTES, MAX_ARENAS = 256 << 10, 1 << 20, 2

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

    def return_freed_memory() -> None:
        """Have the C library give freed memory back to the system; to be called before threads start.

        By default glibc keeps a heap for each of many threads, and after the first large block is freed, further ones
        are cut out of those heaps, where a small block behind them keeps them in the process for good. A memory that C
        libraries without `mallopt` (musl) manage is left as it is.
        """
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(M_ARENA_MAX, MAX_ARENAS)
            mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
            mallopt(M_TRIM_THRESHOLD, MAX_FREE_BYTES)

    def trim_memory() -> None:
        """Give back what is free inside the heaps of the C library, too; takes about a millisecond for each 3 MB."""
        malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if malloc_trim is not None:
            malloc_trim(0)

else:
    SHARES_PORTS = False

    def share_port(listener: socket.socket) -> None:
        """Not available on this system, or without an even spread; nothing is done."""

    def usable_cores() -> int:
        """How many cores this machine has."""
        return os.cpu_count() or 1

    def return_freed_memory() -> None:
        """Nothing to do on this system."""

    def unsent_bytes(descriptor: int) -> int:
        """Not available on this system; always 0."""
        return 0

    def trim_memory() -> None:
        """Nothing to do on this system."""
