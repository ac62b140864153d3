"""API keys on a store: kept as hashes, in a place of their own, and worthless as soon as they are taken back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from ugs.errors import IdempotencyConflict, InvalidSyntax, KeyNotFound
from ugs.identity import LOCAL, Principal
from ugs.keys.api import CreatedKey, KeyRequest, Keyring
from ugs.keys.model import API_KEYS
from ugs.log.at import At
from ugs.log.replay import log_of, position_of
from ugs.system import System
from ugs_conformance.support.pytest_plugin import clause, needs
from ugs_conformance.support.store_fixture import StoreUnderTest

pytestmark = needs("apart")

OPERATOR = LOCAL.principal
ACME = Principal("ann", frozenset({"admin"}), "acme")
HOUR = 3_600_000
NO_KEYS = [
    KeyRequest(""),
    KeyRequest("x" * 201),
    KeyRequest("nul\0"),
    KeyRequest("x", ()),
    KeyRequest("x", ("root",)),
    KeyRequest("x", tenant="\0"),
    KeyRequest("x", expires_at=1),
]


@asynccontextmanager
async def keyring(system: System) -> AsyncIterator[Keyring]:
    """An empty keyring beside the store under test."""
    async with Keyring.beside(system) as ring:
        await ring.system.storage.wipe()
        try:
            yield ring
        finally:
            await ring.system.storage.wipe()


def token_of(made: CreatedKey) -> str:
    assert made.token is not None
    return made.token


@clause("UGS-9")
async def test_a_key_works_until_it_is_taken_back_or_ends(world: StoreUnderTest) -> None:
    async with keyring(world.system) as ring:
        wanted = KeyRequest("ci", ("writer", "reader"), user="robot", project="web", agent="builder")
        made = await ring.create(wanted, OPERATOR)
        token = token_of(made)
        assert ring.principal(token) == Principal("robot", frozenset({"writer", "reader"}), "default", "web", "builder")
        others = (token + "x", token[:-1], f"ugsk_{made.key.id}_", "ugsk__", "")
        assert {ring.principal(text) for text in others} == {None}
        assert (await ring.revoke(made.key.id, OPERATOR)).revoked_at == world.clock.moment
        assert ring.principal(token) is None
        await ring.revoke(made.key.id, OPERATOR)
        assert await position_of(ring.system.storage) == 2, "taking back twice happens once"
        guest = token_of(await ring.create(KeyRequest("guest", expires_at=world.clock.moment + HOUR), OPERATOR))
        assert ring.principal(guest) is not None
        world.clock.moment += HOUR
        assert ring.principal(guest) is None and ring.is_empty


@clause("UGS-9", "UGS-11")
async def test_a_key_is_in_no_log_and_its_hash_in_no_graph(system: System) -> None:
    async with keyring(system) as ring:
        before = await position_of(system.storage)
        made = await ring.create(KeyRequest("ci"), OPERATOR)
        secret = token_of(made).removeprefix(f"ugsk_{made.key.id}_")
        (created,) = [event async for events in log_of(ring.system.storage) for event in events]
        assert made.key.hash in created.data and secret not in created.data
        assert await position_of(system.storage) == before
        async with system.session() as session:
            assert await session.fetch(API_KEYS) == []
        await ring.revoke(made.key.id, OPERATOR)
        async with ring.system.session_at(At(position=1)) as session:
            assert [key.revoked_at for key in await session.fetch(API_KEYS)] == [None]
        await ring.system.rebuild()
        async with ring.system.session() as session:
            assert await session.fetch(API_KEYS) == ring.list_keys(OPERATOR)
        assert (await ring.system.verify()).ok


@clause("UGS-9")
async def test_who_may_know_of_a_key_and_what_is_none(system: System) -> None:
    async with keyring(system) as ring:
        for wanted in NO_KEYS:
            with pytest.raises(InvalidSyntax):
                await ring.create(wanted, OPERATOR)
        ours = await ring.create(KeyRequest("ours"), OPERATOR)
        theirs = await ring.create(KeyRequest("theirs", tenant="default"), ACME)
        given = await ring.create(KeyRequest("given", tenant="acme"), OPERATOR)
        assert await position_of(ring.system.storage) == 3
        assert (theirs.key.tenant, given.key.tenant) == ("acme", "acme")
        assert {key.name for key in ring.list_keys(ACME)} == {"theirs", "given"}
        assert len(ring.list_keys(OPERATOR)) == 3
        for id in (ours.key.id, "0000000000000000", "", "x'--"):
            with pytest.raises(KeyNotFound, match="API key not found"):
                await ring.revoke(id, ACME)
        assert ring.principal(token_of(ours)) is not None
        first = await ring.create(KeyRequest("once"), OPERATOR, "retry-1")
        again = await ring.create(KeyRequest("once"), OPERATOR, "retry-1")
        assert again == CreatedKey(first.key, None) and len(ring.list_keys(OPERATOR)) == 4
        with pytest.raises(IdempotencyConflict):
            await ring.create(KeyRequest("other"), OPERATOR, "retry-1")


@needs("concurrent_writers")
@clause("UGS-9")
async def test_what_another_process_does_counts_here(system: System, storage_url: str) -> None:
    async with keyring(system) as ring, Keyring.beside(System.at_url(storage_url, system.clock)) as other:
        made = await other.create(KeyRequest("ci"), OPERATOR)
        await wait_until(lambda: ring.principal(token_of(made)) is not None)
        await other.revoke(made.key.id, OPERATOR)
        await wait_until(lambda: ring.principal(token_of(made)) is None)


async def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what must come true by itself."""
    for _ in range(750):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it has not come true")
