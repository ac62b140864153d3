"""A keyring that follows the log: what others change counts without reading all keys again."""

from __future__ import annotations

import asyncio

from ugs import System
from ugs.identity import LOCAL
from ugs.keys.api import KeyRequest, Keyring

OPERATOR = LOCAL.principal


class ReadOnce(Keyring):
    """Reads the keys of the store once; from then on only events tell of changes."""

    async def _load(self) -> int:
        if self._following is not None:
            await asyncio.Event().wait()
        return await super()._load()


async def test_a_key_revoked_elsewhere_opens_nothing_here() -> None:
    async with System.at_url("memory:") as home, Keyring.beside(home) as there:
        here = ReadOnce(there.system)
        here._following = asyncio.create_task(here._follow(await Keyring._load(here)))
        try:
            made = await there.create(KeyRequest("ci"), OPERATOR)
            token = made.token or ""
            await wait_until(here, token, known=True)
            await there.revoke(made.key.id, OPERATOR)
            await wait_until(here, token, known=False)
        finally:
            here._following.cancel()


async def wait_until(ring: Keyring, token: str, *, known: bool) -> None:
    for _ in range(2_000):
        if (ring.principal(token) is not None) is known:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it has not come true")
