"""API keys in a store that this process opens; they have an event log of their own beside the graph's."""

from __future__ import annotations

from datetime import datetime

from ugs.clock import utc
from ugs.identity import LOCAL
from ugs.keys.api import KeyRequest, Keyring
from ugs.keys.model import ApiKey
from ugs.system import System
from ugs_gateway.cli.clients import KEY_FIELDS, Record

OPERATOR = LOCAL.principal
"""Whoever can open the store may see all its keys."""


async def add_key(system: System, wanted: Record) -> Record:
    """Create a key."""
    given = {**wanted, "roles": tuple(wanted["roles"])}
    if "expires_at" in given:
        given["expires_at"] = int(datetime.fromisoformat(given["expires_at"]).timestamp() * 1000)
    async with Keyring.beside(system) as ring:
        made = await ring.create(KeyRequest(**given), OPERATOR)
    return {"token": made.token, **_record(made.key)}


async def list_keys(system: System) -> list[Record]:
    """All keys."""
    async with Keyring.beside(system) as ring:
        return [_record(key) for key in ring.list_keys(OPERATOR)]


async def revoke_key(system: System, id: str) -> Record:
    """Revoke a key."""
    async with Keyring.beside(system) as ring:
        return _record(await ring.revoke(id, OPERATOR))


def _record(key: ApiKey) -> Record:
    return {name: _to_json(name, getattr(key, name)) for name in KEY_FIELDS}


def _to_json(name: str, value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if not name.endswith("_at") or not isinstance(value, int):
        return value
    return utc(value / 1000).isoformat(timespec="milliseconds").replace("+00:00", "Z")
