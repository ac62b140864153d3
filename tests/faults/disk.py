"""A file system that fails on purpose: at a chosen call it reports an error, stops half way, or ends the process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.settings import parse_settings
from ugs_backends.memory.storage import FileStorage

CHANGING = ("make_folder", "open_for_append", "open_new", "write", "fsync", "rename", "link", "remove", "fsync_folder")
"""Calls that change something on disk."""


class Fault(Struct, frozen=True):
    """What happens at which call."""

    at: int | None = None
    """The number of the changing call at which it happens; None: never."""
    error: int | None = None
    """The errno that the call reports; None: the process is killed instead."""
    half: bool = False
    """A write first puts down half of its bytes."""
    lasting: bool = False
    """All later calls of the same name fail as well, until `mend`."""


class FaultyDisk(Files):
    """The real file system, but for one fault."""

    def __init__(self, fault: Fault = Fault()) -> None:  # noqa: B008 - frozen
        self.fault = fault
        self.calls: list[str] = []
        self.struck = False
        for name in CHANGING:
            setattr(self, name, self._watched(name, getattr(super(), name)))

    def mend(self) -> None:
        self.fault = Fault()

    def _watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            self.calls.append(name)
            if self._is_due(name):
                self._strike(name, call, arguments)
            return call(*arguments)

        return run

    def _is_due(self, name: str) -> bool:
        fault, number = self.fault, len(self.calls) - 1
        if fault.at is None:
            return False
        return number == fault.at or (fault.lasting and number > fault.at and name == self.calls[fault.at])

    def _strike(self, name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.struck = True
        if name == "write" and self.fault.half:
            handle, data = arguments
            os.write(handle, data[: len(data) // 2])
        if self.fault.error is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            raise OSError(self.fault.error, os.strerror(self.fault.error))


def storage_on(disk: Files, folder: Path, snapshot_every: int = 0) -> FileStorage:
    """A store in the folder, on that disk."""
    return FileStorage(parse_settings(f"file:{folder}?snapshot_every={snapshot_every}"), disk)
