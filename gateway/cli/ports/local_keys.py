"""API keys in a store that this process opens: they have a place of their own beside the graph's."""

from __future__ import annotations

from datetime import datetime

from gateway.cli.ports import KEY_FIELDS, Record
from ugs.clock import utc
from ugs.identity import LOCAL
from ugs.keyring import Keyring, Wanted
from ugs.keys.model import ApiKey
from ugs.system import System

OPERATOR = LOCAL.principal
"""Whoever can open the store itself may know of all keys."""


async def add_key(system: System, wanted: Record) -> Record:
    """Make a key."""
    given = {**wanted, "roles": tuple(wanted["roles"])}
    if "expires_at" in given:
        given["expires_at"] = int(datetime.fromisoformat(given["expires_at"]).timestamp() * 1000)
    async with Keyring.beside(system) as ring:
        made = await ring.create(Wanted(**given), OPERATOR)
    return {"token": made.token, **_record(made.key)}


async def list_keys(system: System) -> list[Record]:
    """All keys."""
    async with Keyring.beside(system) as ring:
        return [_record(key) for key in ring.listed(OPERATOR)]


async def revoke_key(system: System, id: str) -> Record:
    """Take a key back."""
    async with Keyring.beside(system) as ring:
        return _record(await ring.revoke(id, OPERATOR))


def _record(key: ApiKey) -> Record:
    return {name: _told(name, getattr(key, name)) for name in KEY_FIELDS}


def _told(name: str, value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if not name.endswith("_at") or not isinstance(value, int):
        return value
    return utc(value / 1000).isoformat(timespec="milliseconds").replace("+00:00", "Z")
