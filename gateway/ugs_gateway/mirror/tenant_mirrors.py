"""The mirrors of a gateway: its own tenant in the folder itself, other tenants in folders below it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

from ugs.errors import StorageIOError
from ugs.system import System
from ugs_gateway.mirror import folders
from ugs_gateway.mirror.mirror import FileMirror

TENANTS = "_tenants"


class MirrorLookup(Protocol):
    """Finds the mirror of a system, if it has one."""

    def of(self, system: System) -> FileMirror | None: ...


class Mirrors:
    """All mirrors of a gateway: started as systems are opened, ended together. Without a folder there are none."""

    def __init__(self, base: Path | None) -> None:
        self.base = base
        self._of: dict[System, FileMirror] = {}
        self._running = AsyncExitStack()

    def of(self, system: System) -> FileMirror | None:
        return self._of.get(system)

    async def follow(self, system: System, place: str | None = None) -> None:
        """Repair the files of an open system and keep them in step until the end; `place` is the folder of another
        tenant.
        """
        if self.base is not None:
            mirror = FileMirror(self._folder(self.base, place), system)
            self._of[system] = await self._running.enter_async_context(mirror.following())

    def _folder(self, base: Path, place: str | None) -> Path:
        if place is None:
            return base
        try:
            with folders.open_folder(base, f"{TENANTS}/{place}"):
                return base / TENANTS / place
        except OSError as error:
            raise StorageIOError(f"The files of {place} cannot be kept in {base}: {error.strerror}") from error

    async def close(self) -> None:
        """Stop all mirrors; the files stay."""
        self._of = {}
        await self._running.aclose()
