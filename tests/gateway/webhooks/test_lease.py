"""Of several processes on a store one delivers, and another takes over."""

from __future__ import annotations

import itertools
import signal
import time
from pathlib import Path

import pytest

from tests.gateway.processes import Gateway, serving
from tests.gateway.webhooks.receiver import Receiver, check_order, until
from ugs.system import System
from ugs.webhooks.registry import WebhookRegistry
from ugs_gateway.webhooks import lease as lease_module
from ugs_gateway.webhooks.lease import DeliveryLease

TAKEOVER_SECONDS = 10.0
OPTIONS = ("--webhooks", "on", "--webhook-private-addresses", "on")


async def test_one_holds_the_lease_and_a_silent_one_loses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(lease_module.time, "monotonic", lambda: now)
    async with System.at_url(f"sqlite:///{tmp_path}/graph.db") as home, WebhookRegistry.beside(home) as registry:
        one, two = DeliveryLease(registry), DeliveryLease(registry)
        assert (await one.beat(), await two.beat()) == (True, False)
        now += lease_module.LEASE_SECONDS - 0.1
        assert (await one.beat(), await two.beat()) == (True, False), "a beat was not seen"
        now += lease_module.HOLD_SECONDS
        assert not one.is_held, "a holder without a beat goes on"
        assert not await two.beat()
        now += lease_module.LEASE_SECONDS - lease_module.HOLD_SECONDS
        assert await two.beat() and two.is_held
        assert not await one.beat() and not one.is_held
        await two.release()
        assert not two.is_held
        assert await one.beat(), "a lease that was given back is not free"


async def test_two_that_find_no_lease_do_not_both_get_it(tmp_path: Path) -> None:
    async with System.at_url(f"sqlite:///{tmp_path}/graph.db") as home, WebhookRegistry.beside(home) as registry:
        one, two = DeliveryLease(registry), DeliveryLease(registry)
        assert await registry.read_lease() is None
        assert await one.beat()
        two._seen = None
        assert not await two.beat()


def create(gateway: Gateway, url: str) -> None:
    made = gateway.ask(f'mutation {{ createWebhook(input: {{url: "{url}", afterSeq: 0}}) {{ webhook {{ id }} }} }}')
    assert "errors" not in made, made


def add(gateway: Gateway, numbers: itertools.count[int]) -> int:
    """Add a node, or change one of ten, so that elements have an order to keep."""
    number = next(numbers)
    if number < 10:
        query = f'mutation {{ done: addNode(input: {{id: "n{number}"}}) {{ event {{ seq }} }} }}'
    else:
        given = f'id: "n{number % 10}", properties: {{at: {number}}}'
        query = f"mutation {{ done: updateNode(input: {{{given}}}) {{ event {{ seq }} }} }}"
    return int(gateway.ask(query)["data"]["done"]["event"]["seq"])


def test_another_gateway_takes_over_within_ten_seconds_of_a_kill(tmp_path: Path) -> None:
    store, numbers = ("--store", f"sqlite:///{tmp_path}/graph.db"), itertools.count()
    with (
        Receiver() as receiver,
        serving(tmp_path, *store, *OPTIONS) as first,
        serving(tmp_path, *store, *OPTIONS) as other,
    ):
        create(first, receiver.url)
        seqs = {add(first, numbers) for _ in range(12)}
        receiver.wait_for(12)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        killed_at = time.monotonic()
        last = add(other, numbers)
        seqs.add(last)

        def arrived() -> list[float]:
            return [arrival.at for arrival in list(receiver.accepted) if arrival.seq == last]

        (at, *_) = until(arrived, lambda: f"{last} did not arrive")
        assert at - killed_at < TAKEOVER_SECONDS
        check_order(receiver.accepted, seqs)
