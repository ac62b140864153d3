"""The deliverer: sends the events of every active webhook while this process holds the lease.

Each webhook has a task. It takes the events that are ready, sends those of different elements at once and those of one
element one after the other, and records in the store how far it has come. What was sent and not yet recorded when a
process dies is sent again by the next: at least once, in order for each element.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress

from graphql import GraphQLSchema

from ugs.errors import UgsError, Unavailable
from ugs.events import Event
from ugs.identity import Principal
from ugs.log.log_reader import HIDDEN, LogReader
from ugs.storage import EventQuery
from ugs.system import System
from ugs.webhooks.model import Webhook
from ugs.webhooks.registry import WebhookRegistry
from ugs_gateway.observability.structured_logs import Log
from ugs_gateway.webhooks.http_client import DeliveryFailed, HttpClient, Received
from ugs_gateway.webhooks.lease import BEAT_SECONDS, DeliveryLease
from ugs_gateway.webhooks.message import headers_of, to_message
from ugs_schema.webhooks import follow_webhook

BATCH_EVENTS, CONCURRENT_ELEMENTS = 100, 8
SAVE_SECONDS = 0.5
"""How long deliveries may wait to be recorded while more events come."""
RETRY_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 300.0
GONE = 410
MAX_REDELIVERED = 100

log = Log("ugs_gateway.webhooks")

FindSystem = Callable[[Principal], Awaitable[System]]


class ReceiverGone(Exception):
    """The receiver answered that it wants nothing any more (410)."""


class Deliverer:
    """Delivers the webhooks of a registry."""

    def __init__(
        self,
        registry: WebhookRegistry,
        schema: GraphQLSchema,
        system_of: FindSystem,
        client: HttpClient,
        attempts: int,
        shares_graph: bool,
        count: Callable[[str], None],
    ) -> None:
        self.registry, self.schema, self.system_of = registry, schema, system_of
        self.client, self.attempts, self.shares_graph = client, attempts, shares_graph
        self.count = count
        """Counts a delivery by its outcome: `delivered`, `failed` or `dead`."""
        self.lease = DeliveryLease(registry)
        self._tasks: dict[str, tuple[int, asyncio.Task[None]]] = {}
        """By webhook: the revision that is being delivered, and the task."""
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Deliver until the block ends, whenever no other process does."""
        tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._watch())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._stop_all()
            with suppress(UgsError):
                await self.lease.release()

    async def _watch(self) -> None:
        while True:
            with suppress(UgsError):
                async for _ in self.registry.changes():
                    self._changed.set()
            await asyncio.sleep(RETRY_SECONDS)

    async def _run(self) -> None:
        while True:
            try:
                if await self.lease.beat():
                    await self._start_due()
                else:
                    await self._stop_all()
            except UgsError as error:
                log.warning("webhooks wait for their store", reason=error.message)
            except Exception as error:
                log.exception("webhooks failed and are tried again", error)
            if not self.lease.is_held:
                await self._stop_all()
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._changed.wait()
            self._changed.clear()

    async def _start_due(self) -> None:
        """One task for each active webhook; those that were paused, ended or moved by somebody are stopped."""
        active = {webhook.id: webhook for webhook in await self.registry.active()}
        for id, (revision, task) in list(self._tasks.items()):
            if id not in active or active[id].revision != revision or task.done():
                await self._stop(id)
        for id, webhook in active.items():
            if id not in self._tasks:
                self._tasks[id] = (webhook.revision, asyncio.create_task(self._deliver(webhook)))

    async def _stop(self, id: str) -> None:
        _, task = self._tasks.pop(id)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _stop_all(self) -> None:
        for id in list(self._tasks):
            await self._stop(id)

    # ── one webhook ──────────────────────────────────────────────────────────────

    async def _deliver(self, webhook: Webhook) -> None:
        """Deliver the events of a webhook until it is paused, ended or moved; after a failure begin again later."""
        try:
            system = await self.system_of(webhook.reader(self.shares_graph))
            await WebhookDelivery(self, webhook, system).run()
        except ReceiverGone:
            log.warning("a webhook is paused: its receiver answers 410 Gone", webhook=webhook.id)
            await self.registry.give_up(webhook, "the receiver answered 410 Gone")
        except UgsError as error:
            log.warning("a webhook waits", webhook=webhook.id, reason=error.message)
            await asyncio.sleep(RETRY_SECONDS)
        except Exception as error:
            log.exception("a webhook failed and begins again", error, webhook=webhook.id)
            await asyncio.sleep(RETRY_SECONDS)

    async def send(self, webhook: Webhook, event: Event) -> None:
        """One try; raises `DeliveryFailed` unless the receiver answers with success."""
        try:
            received = await self._post(webhook, event)
            if received.status == GONE:
                raise ReceiverGone
            if not 200 <= received.status < 300:
                raise Refused(f"the receiver answered {received.status}", received.retry_after)
        except BaseException:
            self.count("failed")
            raise
        self.count("delivered")

    async def _post(self, webhook: Webhook, event: Event) -> Received:
        message = to_message(webhook, event)
        headers = headers_of(webhook, message, int(time.time()))
        return await self.client.post(webhook.url, headers, message.body)

    async def redeliver(self, webhook: Webhook) -> int:
        """Try the dead letters of a webhook once more, oldest first; how many arrived before one failed."""
        letters = await self.registry.dead_letters(webhook.id, MAX_REDELIVERED)
        reader = webhook.reader(self.shares_graph)
        log, arrived = LogReader(await self.system_of(reader), reader), []
        for letter in letters:
            page = await log.page(EventQuery(after=letter.position - 1, limit=1))
            try:
                for event in page.events:
                    if event.type != HIDDEN:
                        await self.send(webhook, event)
            except (DeliveryFailed, ReceiverGone):
                break
            arrived.append(letter.position)
        if arrived:
            await self.registry.record_redelivery(webhook, tuple(arrived))
        return len(arrived)


class Refused(DeliveryFailed):
    """The receiver answered, but not with success."""

    def __init__(self, reason: str, retry_after: float | None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class WebhookDelivery:
    """The delivery of one webhook from its position on."""

    def __init__(self, deliverer: Deliverer, webhook: Webhook, system: System) -> None:
        self.deliverer, self.webhook, self.system = deliverer, webhook, system
        self._ready: asyncio.Queue[Event] = asyncio.Queue(BATCH_EVENTS)
        self._reached = webhook.position
        self._dead: list[tuple[int, int, str]] = []
        self._saved_at = time.monotonic()

    async def run(self) -> None:
        """Deliver until somebody else moves or ends the webhook."""
        reading = asyncio.create_task(self._read())
        try:
            while not reading.done():
                batch = await self._next_batch()
                if batch:
                    await self._send_batch(batch)
                is_due = not batch or time.monotonic() - self._saved_at >= SAVE_SECONDS
                if is_due and self._reached != self.webhook.position and not await self._save():
                    return
            reading.result()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self) -> None:
        log_reader = LogReader(self.system, self.webhook.reader(self.deliverer.shares_graph))
        source = follow_webhook(self.deliverer.schema, log_reader, self.webhook)
        async with aclosing(source) as events:  # type: ignore[type-var]
            async for event in events:
                await self._ready.put(event)

    async def _next_batch(self) -> list[Event]:
        """The events that are ready; waits for one, but not long while something is unrecorded."""
        batch: list[Event] = []
        is_saved = self._reached == self.webhook.position
        with suppress(TimeoutError):
            async with asyncio.timeout(RETRY_SECONDS if is_saved else SAVE_SECONDS / 5):
                batch.append(await self._ready.get())
        while len(batch) < BATCH_EVENTS and not self._ready.empty():
            batch.append(self._ready.get_nowait())
        return batch

    async def _send_batch(self, batch: Sequence[Event]) -> None:
        """Send events, those of one element in order; returns when each has arrived or was given up."""
        by_element: dict[str, list[Event]] = {}
        for event in batch:
            if event.type != HIDDEN:
                by_element.setdefault(event.element or "", []).append(event)
        limit = asyncio.Semaphore(CONCURRENT_ELEMENTS)

        async def send_in_order(events: Sequence[Event]) -> None:
            async with limit:
                for event in events:
                    await self._send(event)

        try:
            async with asyncio.TaskGroup() as group:
                for events in by_element.values():
                    group.create_task(send_in_order(events))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        self._reached = batch[-1].position

    async def _send(self, event: Event) -> None:
        """Try to deliver an event, with growing pauses; after the last try it becomes a dead letter."""
        for attempt in range(1, self.deliverer.attempts + 1):
            if not self.deliverer.lease.is_held:
                raise Unavailable("another process delivers")
            try:
                await self.deliverer.send(self.webhook, event)
                return
            except DeliveryFailed as failed:
                if attempt == self.deliverer.attempts:
                    self._dead.append((event.position, attempt, failed.reason))
                    self.deliverer.count("dead")
                    log.warning("an event became a dead letter", webhook=self.webhook.id, reason=failed.reason)
                    return
                await asyncio.sleep(pause_after(attempt, failed))

    async def _save(self) -> bool:
        dead, self._dead = tuple(sorted(self._dead)), []
        recorded = await self.deliverer.registry.record(self.webhook, self._reached, dead)
        self._saved_at = time.monotonic()
        if recorded is not None:
            self.webhook = recorded
        return recorded is not None


def pause_after(attempt: int, failed: DeliveryFailed) -> float:
    """How long to wait after a failed try: doubling, or as long as the receiver asks for, within a limit."""
    asked = failed.retry_after if isinstance(failed, Refused) else None
    doubled = RETRY_SECONDS * 2.0 ** (attempt - 1)
    return min(max(doubled, asked or 0.0), LONGEST_PAUSE_SECONDS)
