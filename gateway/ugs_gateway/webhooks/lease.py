"""The lease: of all processes on a store, one delivers.

The holder counts its beats in the store. Whoever waits takes over when it has seen no beat for `LEASE_SECONDS` by its
own clock, so the clocks of machines need not agree. A holder that could not write its beat for a while stops by itself
before another may begin.
"""

from __future__ import annotations

import time
from secrets import token_hex

from ugs.webhooks.model import Lease
from ugs.webhooks.registry import LEASE_NAME, WebhookRegistry

BEAT_SECONDS, LEASE_SECONDS = 1.0, 6.0
HOLD_SECONDS = 4.0
"""How long a holder goes on after its last beat; what it has sent by then may arrive twice, but not its successor's
before it."""


class DeliveryLease:
    """This process's side of the lease."""

    def __init__(self, registry: WebhookRegistry) -> None:
        self.registry, self.me = registry, token_hex(8)
        self._seen: Lease | None = None
        self._seen_at = self._beat_at = time.monotonic()
        self._held: Lease | None = None
        self._is_alone = not registry.system.storage.capabilities.concurrent_writers

    @property
    def is_held(self) -> bool:
        """Whether this process may deliver now."""
        return self._is_alone or (self._held is not None and time.monotonic() - self._beat_at < HOLD_SECONDS)

    async def beat(self) -> bool:
        """Keep the lease, or take it if its holder is silent; answers whether it is held."""
        if self._is_alone:
            return True
        now = time.monotonic()
        lease = await self.registry.read_lease()
        if lease != self._seen:
            self._seen, self._seen_at = lease, now
        if lease is not None and self._held is not None and lease.holder == self.me:
            new = Lease(LEASE_NAME, self.me, lease.term, lease.beat + 1)
        elif lease is None or not lease.holder or now - self._seen_at >= LEASE_SECONDS:
            new = Lease(LEASE_NAME, self.me, 1 if lease is None else lease.term + 1, 0)
        else:
            self._held = None
            return False
        if not await self.registry.replace_lease(lease, new):
            self._held = None
            return False
        self._held = self._seen = new
        self._beat_at = self._seen_at = now
        return True

    async def release(self) -> None:
        """Let another take over at once."""
        held, self._held = self._held, None
        if held is not None:
            await self.registry.replace_lease(held, Lease(LEASE_NAME, "", held.term, held.beat + 1))
