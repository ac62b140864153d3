"""One store per tenant: each tenant has its own log and tables, so tenants cannot read or affect each other.

The tenant `default` owns the store in the settings. Every other tenant has a sibling store in the same database (a
schema, a namespace, a file or a folder beside it), opened at the tenant's first request.
"""

from __future__ import annotations

import asyncio
import re
import sys
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from ugs.errors import LimitExceeded, UnknownStore
from ugs.identity import Principal
from ugs.keys.api import Keyring
from ugs.system import System
from ugs.webhooks.registry import WebhookRegistry
from ugs_gateway.extraction.workers import ExtractionWorkers
from ugs_gateway.mirror.tenant_mirrors import Mirrors
from ugs_gateway.mirror.windows_names import is_device
from ugs_gateway.observability.structured_logs import Log
from ugs_gateway.settings import Settings, Tenancy

HOME = Principal().tenant
PLAIN = re.compile(r"(?!h_)[a-z0-9_]{1,24}")

log = Log("ugs_gateway.tenants")


def place_of(tenant: str) -> str:
    """The name of a tenant's store: the tenant's name where every backend accepts it, else a hash of it."""
    return tenant if _is_plain(tenant) else "h_" + sha256(tenant.encode()).hexdigest()[:20]


def _is_plain(tenant: str) -> bool:
    # File stores use the name as a folder, and Windows reserves device names such as nul.
    return PLAIN.fullmatch(tenant) is not None and not (sys.platform == "win32" and is_device(tenant))


class Tenants:
    """The systems of all tenants; each is opened once, all are closed together.

    Of several worker processes the first writes the mirror and reads out the notes of the tenant `default`. It may
    never hear of the other tenants, so their notes are read by every worker that has opened them.
    """

    def __init__(self, home: System, settings: Settings, worker: int = 0) -> None:
        self.home, self.max_tenants = home, settings.max_tenants
        self.shared = settings.tenants is Tenancy.SHARED
        self.keyring = Keyring.beside(home) if settings.store_keys else None
        """The API keys of all tenants, in a store of their own."""
        self.webhooks = WebhookRegistry.beside(home) if settings.webhooks else None
        """The webhooks of all tenants, in a store of their own."""
        self.is_first = worker == 0
        self.mirrors = Mirrors(Path(settings.mirror) if settings.mirror and self.is_first else None)
        self.extraction = ExtractionWorkers(settings)
        self._places: list[System | Keyring | WebhookRegistry] = []
        """What was opened at start-up."""
        self._opened: dict[str, System] = {}
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self.home.open()
        self._places = [self.home]
        try:
            if self.keyring is not None:
                await self._open_keyring(self.keyring)
            if self.webhooks is not None:
                await self.webhooks.open()
                self._places.append(self.webhooks)
            await self.mirrors.follow(self.home)
            await self.extraction.follow(self.home, calls=self.is_first)
        except BaseException:
            await self._close()
            raise
        return self

    async def _open_keyring(self, keyring: Keyring) -> None:
        await keyring.open()
        self._places.append(keyring)
        if keyring.is_empty:
            log.warning("the store holds no API key that works: make one with `ugs key add NAME --role admin`")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        await self.extraction.close()
        await self.mirrors.close()
        places = [*self._opened.values(), *self._places]
        self._opened, self._places = {}, []
        closed = await asyncio.gather(*(place.close() for place in places), return_exceptions=True)
        for failure in filter(None, closed):
            raise failure

    @property
    def open_systems(self) -> dict[str, System]:
        """The open systems by tenant, the one that owns the store first."""
        return {HOME: self.home, **self._opened}

    def opened(self, principal: Principal) -> System | None:
        """The system of the principal's tenant if it is already open."""
        if self.shared or principal.tenant == HOME:
            return self.home
        return self._opened.get(principal.tenant)

    async def system_of(self, principal: Principal) -> System:
        """The system of the principal's tenant; opens it on the first request."""
        found = self.opened(principal)
        if found is not None:
            return found
        async with self._opening:
            return self._opened.get(principal.tenant) or await self._open(principal.tenant)

    async def _open(self, tenant: str) -> System:
        if len(self._opened) >= self.max_tenants:
            raise LimitExceeded(
                f"This gateway serves {self.max_tenants} tenants already (max_tenants)", limit=self.max_tenants
            )
        place = place_of(tenant)
        storage = self.home.storage.sibling(place)
        if storage is None:
            raise UnknownStore("This store can keep one tenant only: use another, or set tenants to shared")
        system = System(storage, self.home.clock)
        system.vectors.embedder_name = self.home.vectors.embedder_name
        await system.open()
        try:
            await self.mirrors.follow(system, place)
            await self.extraction.follow(system)
        except BaseException:
            await system.close()
            raise
        self._opened[tenant] = system
        log.info("opened a tenant", tenant=tenant, store=storage.describe())
        return system
