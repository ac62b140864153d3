"""Reducers of the events about API keys, which never contain the key itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ugs.changes import Change, Patch, Put
from ugs.events import Event
from ugs.keys.model import API_KEYS, ApiKey
from ugs.values import to_text

CREATED, REVOKED = "ApiKeyCreated", "ApiKeyRevoked"
FROM_DATA = ("id", "name", "user", "tenant", "project", "agent", "hash")


def create(event: Event) -> list[Change]:
    data = event.payload
    row = ApiKey(
        **{name: data[name] for name in FROM_DATA},
        roles_text=to_text(data["roles"]),
        created_at=event.timestamp,
        expires_at=data.get("expires_at"),
    )
    return [Put(API_KEYS, row)]


def revoke(event: Event) -> list[Change]:
    return [Patch(API_KEYS, event.payload["id"], {"revoked_at": event.timestamp})]


REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {CREATED: create, REVOKED: revoke}
