"""Standard output for MCP: UTF-8, with a single newline after each message on every platform."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import TextIOWrapper

from anyio import AsyncFile, wrap_file

if sys.platform == "win32":

    @contextmanager
    def message_lines() -> Iterator[AsyncFile[str] | None]:
        """Where messages go: the SDK's own stream would end each with two bytes. What others print, errors take."""
        out = TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n")
        try:
            with redirect_stdout(sys.stderr):
                yield wrap_file(out)
        finally:
            out.detach()  # or it would close standard output with it

else:

    @contextmanager
    def message_lines() -> Iterator[AsyncFile[str] | None]:
        """Where messages go: None, the SDK's own stream is right."""
        yield None
