"""The interrupt key while a command runs: it cancels the command, and the session continues."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

if sys.platform == "win32":

    @contextmanager
    def interrupting(task: asyncio.Future[Any]) -> Iterator[None]:
        """Let the interrupt key cancel a task. The event loop there knows no signals, only Python itself does."""
        loop = asyncio.get_running_loop()
        before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(task.cancel))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

else:

    @contextmanager
    def interrupting(task: asyncio.Future[Any]) -> Iterator[None]:
        """Let the interrupt key cancel a task."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
