"""The registry of webhooks: a system of its own beside the graph's, like that of the keys.

No tenant's log has an event about webhooks, so no reader of a graph sees their addresses or secrets. The rows are read
when they are asked for; `changes` tells a deliverer when to look again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct

from ugs.bus import Interest
from ugs.catalog import Catalog
from ugs.changes import TableWrites
from ugs.errors import UnknownStore
from ugs.feature_registry import RULES
from ugs.identity import LOCAL, Context, Principal
from ugs.keys.api import manageable_tenant
from ugs.log.idempotency import RETRIES
from ugs.log.snapshots import SNAPSHOTS
from ugs.reads.filters import EVERYTHING, Where, all_of, eq
from ugs.reads.plan import Order, Page
from ugs.storage.read_position import reading_from_primary
from ugs.system import System
from ugs.webhooks.commands import (
    CreateWebhook,
    DeleteWebhook,
    PauseWebhook,
    RecordDelivery,
    RecordRedelivery,
    ResumeWebhook,
    RewindWebhook,
    get_own,
)
from ugs.webhooks.events import CREATED, DELETED, PAUSED, RESUMED, REWOUND
from ugs.webhooks.model import (
    DEAD_LETTERS,
    LEASES,
    TABLES,
    WEBHOOKS,
    DeadLetter,
    Lease,
    Webhook,
    new_secret,
    new_webhook_id,
)

WEBHOOKS_STORE_NAME = "h_webhooks"
"""The sibling store that holds the webhooks; no tenant's store has this name."""
CATALOG = Catalog((*TABLES, RETRIES, SNAPSHOTS), msgspec.structs.replace(RULES, bulk_replay={}))
MANAGED = Interest(types=frozenset({CREATED, PAUSED, RESUMED, DELETED, REWOUND}))
"""Events after which a deliverer must look again."""
LEASE_NAME = "delivery"
OLDEST_FIRST = (Order("created_at"), Order("id"))
NOT_DELETED = eq("deleted_at", None)


class WebhookRequest(Struct, frozen=True):
    """The properties of a webhook to create."""

    name: str
    url: str
    filter: dict[str, object]
    end: int
    """Where the tenant's log ends now."""
    after: int | None = None
    user: str = ""
    """Empty: the caller."""
    project: str = "default"
    agent: str = "default"


class CreatedWebhook(Struct, frozen=True):
    """A created webhook, and its secret; None for a repeated request, since it is shown once."""

    webhook: Webhook
    secret: str | None


class WebhookRegistry:
    """Creates, lists and ends webhooks, and keeps how far each has come."""

    def __init__(self, system: System) -> None:
        self.system = system

    @classmethod
    def beside(cls, home: System) -> WebhookRegistry:
        """The registry of the store that a system works on."""
        storage = home.storage.sibling(WEBHOOKS_STORE_NAME)
        if storage is None:
            raise UnknownStore("This store has no place for webhooks beside the graph: use another")
        return cls(System(storage, home.clock, CATALOG))

    async def open(self) -> None:
        await self.system.open()

    async def close(self) -> None:
        await self.system.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ── what their owners do ─────────────────────────────────────────────────────

    async def create(self, wanted: WebhookRequest, caller: Principal, retry: str | None = None) -> CreatedWebhook:
        """Create a webhook on the graph of the caller's tenant."""
        command = CreateWebhook(
            id=new_webhook_id(),
            secret=new_secret(),
            name=wanted.name,
            url=wanted.url,
            filter=wanted.filter,
            tenant=caller.tenant,
            user=wanted.user or caller.user,
            project=wanted.project,
            agent=wanted.agent,
            end=wanted.end,
            after=wanted.after,
        )
        outcome = await self.system.execute(command, Context(caller, retry))
        row = await self._find(outcome.events[0].payload["id"])
        return CreatedWebhook(row, None if outcome.repeated else command.secret)

    async def pause(self, id: str, caller: Principal, retry: str | None = None) -> Webhook:
        await self.system.execute(PauseWebhook(id=id, tenant=manageable_tenant(caller)), Context(caller, retry))
        return await self._find(id)

    async def resume(self, id: str, caller: Principal, retry: str | None = None) -> Webhook:
        await self.system.execute(ResumeWebhook(id=id, tenant=manageable_tenant(caller)), Context(caller, retry))
        return await self._find(id)

    async def delete(self, id: str, caller: Principal, retry: str | None = None) -> Webhook:
        await self.system.execute(DeleteWebhook(id=id, tenant=manageable_tenant(caller)), Context(caller, retry))
        return await self._find(id)

    async def rewind(self, id: str, position: int, caller: Principal, retry: str | None = None) -> Webhook:
        command = RewindWebhook(id=id, position=position, tenant=manageable_tenant(caller))
        await self.system.execute(command, Context(caller, retry))
        return await self._find(id)

    async def list_webhooks(self, caller: Principal) -> list[Webhook]:
        """The webhooks that the caller may manage, oldest first."""
        reach = manageable_tenant(caller)
        return await self._rows(NOT_DELETED if reach is None else all_of(NOT_DELETED, eq("tenant", reach)))

    async def get(self, id: str, caller: Principal) -> Webhook:
        """The webhook, if the caller may manage it, else `WebhookNotFound`."""
        async with self.system.session() as session:
            return await get_own(id, manageable_tenant(caller), session)

    async def dead_letters(self, id: str, limit: int | None = None) -> list[DeadLetter]:
        """The events that were given up, oldest first."""
        async with self.system.session() as session:
            return await session.fetch(DEAD_LETTERS, eq("webhook_id", id), [Order("position")], Page(limit))

    # ── what the deliverer does ──────────────────────────────────────────────────

    async def active(self) -> list[Webhook]:
        """All webhooks of all tenants that are delivered."""
        return await self._rows(all_of(NOT_DELETED, eq("paused_at", None)))

    async def record(
        self, webhook: Webhook, position: int, dead: tuple[tuple[int, int, str], ...] = ()
    ) -> Webhook | None:
        """Record how far a webhook has come; None if somebody paused, moved or ended it meanwhile."""
        command = RecordDelivery(id=webhook.id, revision=webhook.revision, position=position, dead=dead)
        outcome = await self.system.execute(command, LOCAL)
        return msgspec.structs.replace(webhook, position=position) if outcome.events else None

    async def record_redelivery(self, webhook: Webhook, positions: tuple[int, ...]) -> None:
        """Record that dead letters arrived after all."""
        await self.system.execute(RecordRedelivery(id=webhook.id, positions=positions), LOCAL)

    async def give_up(self, webhook: Webhook, reason: str) -> None:
        """Pause a webhook whose receiver wants nothing any more."""
        await self.system.execute(PauseWebhook(id=webhook.id, reason=reason), LOCAL)

    def changes(self) -> AsyncIterator[object]:
        """Something for each time when webhooks were created, ended, paused, resumed or rewound, by any process."""
        return self.system.subscribe(None, MANAGED)

    async def read_lease(self) -> Lease | None:
        """Who delivers now."""
        # A beat has no place in the log, so a replica cannot be asked whether it has it.
        with reading_from_primary():
            async with self.system.session() as session:
                lease: Lease | None = await session.find(LEASES, LEASE_NAME)
        return lease

    async def replace_lease(self, seen: Lease | None, new: Lease) -> bool:
        """Write a lease if it is still the one that was seen."""
        async with self.system.storage.session(write=True) as session:
            now: Lease | None = await session.find(LEASES, LEASE_NAME)
            if now != seen:
                return False
            writes = TableWrites(inserts=[new]) if now is None else TableWrites(updates=[new], before={new.name: now})
            await session.append((), {LEASES: writes})
        return True

    async def _find(self, id: str) -> Webhook:
        async with self.system.session() as session:
            found: list[Webhook] = await session.find_many(WEBHOOKS, [id])
        return found[0]

    async def _rows(self, where: Where = EVERYTHING) -> list[Webhook]:
        async with self.system.session() as session:
            return await session.fetch(WEBHOOKS, where, OLDEST_FIRST)
