"""The mirrors of a gateway: the files of its own tenant in the folder itself, those of others in folders below it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

from gateway.mirror import folders
from gateway.mirror.mirror import FileMirror
from ugs.errors import StorageIOError
from ugs.system import System

TENANTS = "_tenants"


class KeepsFiles(Protocol):
    """Knows which files belong to a system, if any do."""

    def of(self, system: System) -> FileMirror | None: ...


class Mirrors:
    """Begun one by one as systems are opened, ended together. Without a folder there are none."""

    def __init__(self, base: Path | None) -> None:
        self.base = base
        self._of: dict[System, FileMirror] = {}
        self._running = AsyncExitStack()

    def of(self, system: System) -> FileMirror | None:
        return self._of.get(system)

    async def follow(self, system: System, place: str | None = None) -> None:
        """Make the files of an open system good, and keep them in step to the end; `place` names another tenant's."""
        if self.base is not None:
            mirror = FileMirror(self._folder(self.base, place), system)
            self._of[system] = await self._running.enter_async_context(mirror.following())

    def _folder(self, base: Path, place: str | None) -> Path:
        if place is None:
            return base
        try:
            with folders.opened(base, f"{TENANTS}/{place}"):
                return base / TENANTS / place
        except OSError as error:
            raise StorageIOError(f"The files of {place} cannot be kept in {base}: {error.strerror}") from error

    async def close(self) -> None:
        """Stop following; the files stay."""
        self._of = {}
        await self._running.aclose()
