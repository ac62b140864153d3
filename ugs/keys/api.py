"""The keyring: every key of a store in memory, kept current by its event log.

Keys live in a system of their own beside the graph's (`Storage.sibling`), in no tenant's log. So no reader of a
graph sees them through any interface, and a look-up needs no I/O.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct

from ugs.bus import Interest
from ugs.catalog import Catalog
from ugs.changes import Patch, Put, patched
from ugs.errors import UgsError, UnknownStore
from ugs.events import Event
from ugs.feature_registry import RULES
from ugs.identity import Context, Principal
from ugs.keys.commands import CreateKey, RevokeKey
from ugs.keys.events import CREATED, REDUCERS, REVOKED
from ugs.keys.model import API_KEYS, ApiKey, NewKey, id_in, is_of
from ugs.log.idempotency import RETRIES
from ugs.log.snapshots import SNAPSHOTS
from ugs.system import System

log = logging.getLogger(__name__)

KEYS_STORE_NAME = "h_keys"
"""The sibling store that holds the keys; no tenant's store has this name."""
HOME = Principal().tenant
RETRY_DELAY_SECONDS = 1.0
CATALOG = Catalog((API_KEYS, RETRIES, SNAPSHOTS), msgspec.structs.replace(RULES, bulk_replay={}))
"""The tables that keys need, so that creating the store is cheap."""
KEY_EVENTS = Interest(types=frozenset({CREATED, REVOKED}))


class KeyRequest(Struct, frozen=True):
    """The properties of a key to create."""

    name: str
    roles: tuple[str, ...] = ("reader",)
    user: str = ""
    """Empty: the name of the key."""
    tenant: str = ""
    """Empty: the caller's."""
    project: str = "default"
    agent: str = "default"
    expires_at: int | None = None


class CreatedKey(Struct, frozen=True):
    """A created key."""

    key: ApiKey
    token: str | None
    """The secret token; None for a repeated request, since it is shown once."""


class Keyring:
    """Authenticates, creates and revokes keys."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._keys: dict[str, ApiKey] = {}
        self._following: asyncio.Task[None] | None = None

    @classmethod
    def beside(cls, home: System) -> Keyring:
        """The keyring of the store that a system works on."""
        storage = home.storage.sibling(KEYS_STORE_NAME)
        if storage is None:
            raise UnknownStore("This store has no place for keys beside the graph: use another, or a token file")
        return cls(System(storage, home.clock, CATALOG))

    async def open(self) -> None:
        """Load the keys and subscribe to changes."""
        await self.system.open()
        self._following = asyncio.create_task(self._follow(await self._load()))

    async def close(self) -> None:
        """Stop following the log and close the store."""
        if self._following is not None:
            self._following.cancel()
            with suppress(asyncio.CancelledError):
                await self._following
        await self.system.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ── authentication ───────────────────────────────────────────────────────────

    def principal(self, token: str) -> Principal | None:
        """The principal of a valid key, else None; takes the same time for both."""
        key = self._keys.get(id_in(token))
        known = is_of(token, key)
        return key.principal if known and key is not None and key.is_valid_at(self.system.clock.now()) else None

    @property
    def is_empty(self) -> bool:
        """Whether no key is valid."""
        now = self.system.clock.now()
        return not any(key.is_valid_at(now) for key in self._keys.values())

    # ── creating and revoking ─────────────────────────────────────────────────────

    async def create(self, wanted: KeyRequest, caller: Principal, retry: str | None = None) -> CreatedKey:
        """Create a key for the caller's tenant; callers of the home tenant may name any tenant."""
        new = NewKey.generate()
        command = CreateKey(
            id=new.id,
            hash=new.hash,
            name=wanted.name,
            user=wanted.user or wanted.name,
            roles=wanted.roles,
            tenant=tenant_for(wanted.tenant, caller),
            project=wanted.project,
            agent=wanted.agent,
            expires_at=wanted.expires_at,
        )
        outcome = await self.system.execute(command, Context(caller, retry))
        self._apply_events(outcome.events)
        key = self._keys[outcome.events[0].payload["id"]]
        return CreatedKey(key, None if outcome.repeated else new.token)

    async def revoke(self, id: str, caller: Principal, retry: str | None = None) -> ApiKey:
        """Revoke a key, with immediate effect."""
        outcome = await self.system.execute(RevokeKey(id=id, tenant=manageable_tenant(caller)), Context(caller, retry))
        self._apply_events(outcome.events)
        async with self.system.session() as session:
            (key,) = await session.find_many(API_KEYS, [id])
        self._keys[id] = key
        return self._keys[id]

    def list_keys(self, caller: Principal) -> list[ApiKey]:
        """The keys visible to the caller, oldest first."""
        reach = manageable_tenant(caller)
        found = [key for key in self._keys.values() if reach in (None, key.tenant)]
        return sorted(found, key=lambda key: (key.created_at, key.id))

    # ── following the log ────────────────────────────────────────────────────────

    async def _load(self) -> int:
        """Load all keys and return the log position of that state."""
        async with self.system.session() as session:
            position = (await session.head()).position
            self._keys = {key.id: key for key in await session.fetch(API_KEYS)}
        return position

    async def _follow(self, position: int) -> None:
        """Apply changes of keys, also by other processes; after a failure of the store, load all again."""
        while True:
            try:
                async for event in self.system.subscribe(position, KEY_EVENTS):
                    self._apply_events([event])
            except UgsError:
                await asyncio.sleep(RETRY_DELAY_SECONDS)
            except Exception:
                # A gateway that stops following the log would accept revoked keys for ever.
                log.exception("following the keys failed; they are read again")
                await asyncio.sleep(RETRY_DELAY_SECONDS)
            with suppress(UgsError):
                position = await self._load()

    def _apply_events(self, events: Sequence[Event]) -> None:
        """Apply events to the keys in memory; idempotent."""
        for change in (change for event in events for change in REDUCERS[event.type](event)):
            if isinstance(change, Put):
                self._keys.setdefault(change.row.id, change.row)
            elif isinstance(change, Patch) and change.key in self._keys:
                self._keys[change.key] = patched(self._keys[change.key], change)


def manageable_tenant(caller: Principal) -> str | None:
    """The only tenant whose keys the caller may manage; None for all, for callers of the home tenant."""
    return None if caller.tenant == HOME else caller.tenant


def tenant_for(wanted: str, caller: Principal) -> str:
    """The tenant of a new key: the caller's own, unless the caller may choose."""
    return wanted if wanted and manageable_tenant(caller) is None else caller.tenant
