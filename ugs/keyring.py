"""The keyring: every key of a store in memory, as its log tells from moment to moment.

Keys live in a system of their own beside the graph's (`Storage.apart`), in no tenant's log. So no reader of any graph,
by whatever door, can come across them, and looking one up waits for nobody.
"""

from __future__ import annotations

import asyncio
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
from ugs.features import RULES
from ugs.identity import Context, Principal
from ugs.keys.commands import CreateKey, RevokeKey
from ugs.keys.events import CREATED, REDUCERS, REVOKED
from ugs.keys.model import API_KEYS, ApiKey, NewKey, id_in, is_of
from ugs.retries import RETRIES
from ugs.snapshots import SNAPSHOTS
from ugs.system import System

PLACE = "h_keys"
"""Where the keys are, beside the store of a graph; no tenant's store is ever called so."""
HOME = Principal().tenant
PAUSE = 1.0
CATALOG = Catalog((API_KEYS, RETRIES, SNAPSHOTS), msgspec.structs.replace(RULES, storing={}))
"""As much of the catalog as keys need: a small store is quickly made. Opened whole, it is an ordinary store."""
OURS = Interest(types=frozenset({CREATED, REVOKED}))


class Wanted(Struct, frozen=True):
    """A key that somebody would like to have."""

    name: str
    roles: tuple[str, ...] = ("reader",)
    user: str = ""
    """Empty: as the key is called."""
    tenant: str = ""
    """Empty: that of whoever makes it."""
    project: str = "default"
    agent: str = "default"
    expires_at: int | None = None


class Made(Struct, frozen=True):
    """A key that was made."""

    key: ApiKey
    token: str | None
    """The key itself; None when a repeated request found it made already, since nobody can see it twice."""


class Keyring:
    """Knows who is behind a key, makes keys and takes them back."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._keys: dict[str, ApiKey] = {}
        self._following: asyncio.Task[None] | None = None

    @classmethod
    def beside(cls, home: System) -> Keyring:
        """The keyring of the store that a system works on."""
        storage = home.storage.apart(PLACE)
        if storage is None:
            raise UnknownStore("This store has no place for keys beside the graph: use another, or a token file")
        return cls(System(storage, home.clock, CATALOG))

    async def open(self) -> None:
        """Learn the keys and listen for news of them."""
        await self.system.open()
        self._following = asyncio.create_task(self._follow(await self._load()))

    async def close(self) -> None:
        """Finish what is under way, then let everything go."""
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

    # ── who is it? ───────────────────────────────────────────────────────────

    def principal(self, token: str) -> Principal | None:
        """Who is behind a key that works; None for all others, in the same time."""
        key = self._keys.get(id_in(token))
        known = is_of(token, key)
        return key.principal if known and key is not None and key.works_at(self.system.clock.now()) else None

    @property
    def is_empty(self) -> bool:
        """Whether nobody can come in."""
        now = self.system.clock.now()
        return not any(key.works_at(now) for key in self._keys.values())

    # ── keys come and go ─────────────────────────────────────────────────────

    async def create(self, wanted: Wanted, caller: Principal, retry: str | None = None) -> Made:
        """Make a key for the caller's tenant; who belongs to the home tenant makes keys for all."""
        new = NewKey.made()
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
        self._hear(outcome.events)
        key = self._keys[outcome.events[0].payload["id"]]
        return Made(key, None if outcome.repeated else new.token)

    async def revoke(self, id: str, caller: Principal, retry: str | None = None) -> ApiKey:
        """Take a key back; from now on it opens nothing."""
        outcome = await self.system.execute(RevokeKey(id=id, tenant=reach_of(caller)), Context(caller, retry))
        self._hear(outcome.events)
        async with self.system.session() as session:
            (key,) = await session.find_many(API_KEYS, [id])
        self._keys[id] = key
        return self._keys[id]

    def listed(self, caller: Principal) -> list[ApiKey]:
        """The keys that the caller may know of, oldest first."""
        reach = reach_of(caller)
        found = [key for key in self._keys.values() if reach in (None, key.tenant)]
        return sorted(found, key=lambda key: (key.created_at, key.id))

    # ── hearing of it ────────────────────────────────────────────────────────

    async def _load(self) -> int:
        """Take all keys as they are; answers the position they stand for."""
        async with self.system.session() as session:
            position = (await session.head()).position
            self._keys = {key.id: key for key in await session.fetch(API_KEYS)}
        return position

    async def _follow(self, position: int) -> None:
        """Hear of keys that come and go, also by other processes; after a failure of the store all are read again."""
        while True:
            try:
                async for event in self.system.subscribe(position, OURS):
                    self._hear([event])
            except UgsError:
                await asyncio.sleep(PAUSE)
            with suppress(UgsError):
                position = await self._load()

    def _hear(self, events: Sequence[Event]) -> None:
        """Let events act on what is known; hearing of one twice does no harm."""
        for change in (change for event in events for change in REDUCERS[event.type](event)):
            if isinstance(change, Put):
                self._keys.setdefault(change.row.id, change.row)
            elif isinstance(change, Patch) and change.key in self._keys:
                self._keys[change.key] = patched(self._keys[change.key], change)


def reach_of(caller: Principal) -> str | None:
    """The only tenant whose keys somebody may know of; None for all, which whoever runs the home tenant may."""
    return None if caller.tenant == HOME else caller.tenant


def tenant_for(wanted: str, caller: Principal) -> str:
    """The tenant of a new key: the caller's own, unless the caller may choose."""
    return wanted if wanted and reach_of(caller) is None else caller.tenant
