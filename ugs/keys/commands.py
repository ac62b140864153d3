"""Making an API key and taking it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ugs.desk import Desk
from ugs.errors import InvalidSyntax, KeyNotFound
from ugs.events import Draft
from ugs.feature import Command, Decision
from ugs.identity import ROLES
from ugs.keys.events import CREATED, REVOKED
from ugs.keys.model import API_KEYS, ApiKey
from ugs.values import FORBIDDEN_TEXT

LONGEST = 200


class CreateKey(Command, frozen=True):
    """Let somebody in with a new key."""

    UNASKED: ClassVar[frozenset[str]] = frozenset({"id", "hash"})

    id: str
    hash: str
    name: str
    user: str
    roles: tuple[str, ...]
    tenant: str
    project: str = "default"
    agent: str = "default"
    expires_at: int | None = None


class RevokeKey(Command, frozen=True):
    """Let nobody in with a key any more."""

    id: str
    tenant: str | None = None
    """The only tenant whose keys the caller may know of; None for all."""


async def create(command: CreateKey, desk: Desk) -> Decision:
    """Decide whether a key may be made."""
    for name in ("name", "user", "tenant", "project", "agent"):
        check_text(getattr(command, name), name)
    check_roles(command.roles)
    if command.expires_at is not None and command.expires_at <= desk.now:
        raise InvalidSyntax("A key expires in the future, or never", expires_at=command.expires_at)
    if await desk.find(API_KEYS, command.id) is not None:
        raise InvalidSyntax("A key with this id exists already: make another", id=command.id)
    data = {name: getattr(command, name) for name in command.__struct_fields__ if name != "roles"}
    return Decision([Draft(CREATED, None, {**data, "roles": sorted(set(command.roles))})])


async def revoke(command: RevokeKey, desk: Desk) -> Decision:
    """Decide whether there is a key to take back; one that was taken back stays so."""
    found: ApiKey | None = await desk.find(API_KEYS, command.id)
    if found is None or command.tenant not in (None, found.tenant):
        raise KeyNotFound(command.id)
    drafts = [] if found.revoked_at is not None else [Draft(REVOKED, None, {"id": found.id})]
    return Decision(drafts)


def check_text(text: object, what: str) -> None:
    """Refuse names that nobody could read or that no store keeps."""
    if not isinstance(text, str) or not 1 <= len(text) <= LONGEST or FORBIDDEN_TEXT.search(text):
        raise InvalidSyntax(f"The {what} of a key is text of 1 to {LONGEST} characters")


def check_roles(roles: tuple[str, ...]) -> None:
    """Refuse a key that opens nothing, or that names what is no role."""
    unknown = sorted(set(roles) - set(ROLES))
    if unknown or not roles:
        raise InvalidSyntax(f"The roles of a key are one or more of {', '.join(ROLES)}", roles=list(roles))


DECIDERS: Mapping[type[Command], Any] = {CreateKey: create, RevokeKey: revoke}
