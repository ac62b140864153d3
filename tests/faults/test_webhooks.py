"""F61: the process that delivers webhooks is killed again and again; no event is lost, elements keep their order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from tests.faults.children import child
from tests.faults.figures import Figures
from tests.gateway.webhooks.receiver import Receiver, check_order, until
from ugs.connect import storage_for
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode, Update
from ugs.identity import LOCAL, Principal
from ugs.log.replay import position_of
from ugs.system import System
from ugs.webhooks.registry import WebhookRegistry, WebhookRequest
from ugs_gateway.webhooks import delivery, lease
from ugs_gateway.webhooks.delivery import Deliverer
from ugs_gateway.webhooks.http_client import HttpClient
from ugs_schema import build_schema

KILLS, FULL_KILLS = 8, 1_000
ELEMENTS, PAUSE_SECONDS, LONG = 8, 0.02, 1_000


def write_and_deliver(pipe: Connection, url: str, numbers: Iterable[int]) -> None:
    """A process that writes and delivers until somebody ends it; its lease ends soon, so that the next begins soon."""
    lease.BEAT_SECONDS = delivery.BEAT_SECONDS = 0.02
    lease.LEASE_SECONDS, lease.HOLD_SECONDS = 0.2, 0.15
    asyncio.run(work(pipe, url, numbers))


async def work(pipe: Connection, url: str, numbers: Iterable[int]) -> None:
    async with System.at_url(url) as system, WebhookRegistry.beside(system) as registry:

        async def system_of(principal: Principal) -> System:
            return system

        client = HttpClient(True, 5)
        schema = build_schema()._schema
        deliverer = Deliverer(registry, schema, system_of, client, 50, False, lambda outcome: None)
        async with deliverer.running():
            pipe.send("ready")
            graph = Graph(system, LOCAL.principal)
            for number in numbers:
                id = f"n{number % ELEMENTS}"
                change = AddNode(id=id) if number < ELEMENTS else Update(id=id, properties={"at": number})
                await graph.do(change, f"k{number}")
                pipe.send(number)
                await asyncio.sleep(PAUSE_SECONDS)
            await asyncio.Event().wait()


async def create(url: str, address: str) -> None:
    async with System.at_url(url) as system, WebhookRegistry.beside(system) as registry:
        await registry.create(WebhookRequest("killed", address, {}, 0), LOCAL.principal)


async def end_of(url: str) -> int:
    storage = storage_for(url)
    async with System(storage):
        return await position_of(storage)


def test_f61_deliverers_are_killed_and_no_event_is_lost(
    tmp_path: Path, full: bool, chance: Random, figures: Figures
) -> None:
    url, kills, start = f"sqlite:///{tmp_path}/graph.db", FULL_KILLS if full else KILLS, 0
    # Some answers are lost: the receiver has the event, and its sender never hears of it.
    with Receiver(lambda arrival: 500 if chance.random() < 0.02 else 204) as receiver:
        asyncio.run(create(url, receiver.url))
        for _ in range(kills):
            with child(write_and_deliver, url, range(start, start + LONG)) as process:
                process.tell()
                time.sleep(0.3 + chance.random() * 0.4)
                said = [word for word in process.kill() if isinstance(word, int)]
            start = max([start, *(word + 1 for word in said)])
        end = asyncio.run(end_of(url))
        with child(write_and_deliver, url, range(0)) as process:
            process.tell()
            until(
                lambda: {arrival.seq for arrival in list(receiver.accepted)} >= set(range(1, end + 1)),
                lambda: f"{len({arrival.seq for arrival in receiver.accepted})} of {end} arrived",
            )
            process.kill()
        accepted = [arrival for arrival in receiver.accepted if arrival.seq <= end]
    check_order(accepted, set(range(1, end + 1)))
    figures.add("F61 sqlite", kills=kills, events=end, deliveries=len(accepted), lost=0)
