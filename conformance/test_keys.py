"""API keys on a store: kept as hashes, in a place of their own, and worthless as soon as they are taken back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from conformance.plugin import clause, needs
from conformance.world import World
from ugs.errors import IdempotencyConflict, InvalidSyntax, KeyNotFound
from ugs.identity import LOCAL, Principal
from ugs.keyring import Keyring, Made, Wanted
from ugs.keys.model import API_KEYS
from ugs.moments import At
from ugs.replay import log_of, position_of
from ugs.system import System

pytestmark = needs("apart")

OPERATOR = LOCAL.principal
ACME = Principal("ann", frozenset({"admin"}), "acme")
HOUR = 3_600_000
NO_KEYS = [
    Wanted(""),
    Wanted("x" * 201),
    Wanted("nul\0"),
    Wanted("x", ()),
    Wanted("x", ("root",)),
    Wanted("x", tenant="\0"),
    Wanted("x", expires_at=1),
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


def token_of(made: Made) -> str:
    assert made.token is not None
    return made.token


@clause("UGS-9")
async def test_a_key_works_until_it_is_taken_back_or_ends(world: World) -> None:
    async with keyring(world.system) as ring:
        wanted = Wanted("ci", ("writer", "reader"), user="robot", project="web", agent="builder")
        made = await ring.create(wanted, OPERATOR)
        token = token_of(made)
        assert ring.principal(token) == Principal("robot", frozenset({"writer", "reader"}), "default", "web", "builder")
        others = (token + "x", token[:-1], f"ugsk_{made.key.id}_", "ugsk__", "")
        assert {ring.principal(text) for text in others} == {None}
        assert (await ring.revoke(made.key.id, OPERATOR)).revoked_at == world.clock.moment
        assert ring.principal(token) is None
        await ring.revoke(made.key.id, OPERATOR)
        assert await position_of(ring.system.storage) == 2, "taking back twice happens once"
        guest = token_of(await ring.create(Wanted("guest", expires_at=world.clock.moment + HOUR), OPERATOR))
        assert ring.principal(guest) is not None
        world.clock.moment += HOUR
        assert ring.principal(guest) is None and ring.is_empty


@clause("UGS-9", "UGS-11")
async def test_a_key_is_in_no_log_and_its_hash_in_no_graph(system: System) -> None:
    async with keyring(system) as ring:
        before = await position_of(system.storage)
        made = await ring.create(Wanted("ci"), OPERATOR)
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
            assert await session.fetch(API_KEYS) == ring.listed(OPERATOR)
        assert (await ring.system.verify()).ok


@clause("UGS-9")
async def test_who_may_know_of_a_key_and_what_is_none(system: System) -> None:
    async with keyring(system) as ring:
        for wanted in NO_KEYS:
            with pytest.raises(InvalidSyntax):
                await ring.create(wanted, OPERATOR)
        ours = await ring.create(Wanted("ours"), OPERATOR)
        theirs = await ring.create(Wanted("theirs", tenant="default"), ACME)
        given = await ring.create(Wanted("given", tenant="acme"), OPERATOR)
        assert await position_of(ring.system.storage) == 3
        assert (theirs.key.tenant, given.key.tenant) == ("acme", "acme")
        assert {key.name for key in ring.listed(ACME)} == {"theirs", "given"}
        assert len(ring.listed(OPERATOR)) == 3
        for id in (ours.key.id, "0000000000000000", "", "x'--"):
            with pytest.raises(KeyNotFound, match="API key not found"):
                await ring.revoke(id, ACME)
        assert ring.principal(token_of(ours)) is not None
        first = await ring.create(Wanted("once"), OPERATOR, "retry-1")
        again = await ring.create(Wanted("once"), OPERATOR, "retry-1")
        assert again == Made(first.key, None) and len(ring.listed(OPERATOR)) == 4
        with pytest.raises(IdempotencyConflict):
            await ring.create(Wanted("other"), OPERATOR, "retry-1")


@needs("concurrent_writers")
@clause("UGS-9")
async def test_what_another_process_does_counts_here(system: System, storage_url: str) -> None:
    async with keyring(system) as ring, Keyring.beside(System.at_url(storage_url, system.clock)) as other:
        made = await other.create(Wanted("ci"), OPERATOR)
        await soon(lambda: ring.principal(token_of(made)) is not None)
        await other.revoke(made.key.id, OPERATOR)
        await soon(lambda: ring.principal(token_of(made)) is None)


async def soon(holds: Callable[[], bool]) -> None:
    """Wait for what must come true by itself."""
    for _ in range(750):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it has not come true")
