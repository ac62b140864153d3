"""Creating and revoking an API key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ugs.errors import InvalidSyntax, KeyNotFound
from ugs.events import Draft
from ugs.feature import Command, Decision
from ugs.identity import ROLES
from ugs.keys.events import CREATED, REVOKED
from ugs.keys.model import API_KEYS, ApiKey
from ugs.unit_of_work import UnitOfWork
from ugs.values import FORBIDDEN_TEXT

MAX_TEXT_CHARS = 200


class CreateKey(Command, frozen=True):
    """Create a key."""

    GENERATED_FIELDS: ClassVar[frozenset[str]] = frozenset({"id", "hash"})

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
    """Revoke a key."""

    id: str
    tenant: str | None = None
    """The only tenant whose keys the caller may manage; None for all."""


async def create(command: CreateKey, uow: UnitOfWork) -> Decision:
    """Decide whether a key may be created."""
    for name in ("name", "user", "tenant", "project", "agent"):
        check_text(getattr(command, name), name)
    check_roles(command.roles)
    if command.expires_at is not None and command.expires_at <= uow.now:
        raise InvalidSyntax("A key expires in the future, or never", expires_at=command.expires_at)
    if await uow.find(API_KEYS, command.id) is not None:
        raise InvalidSyntax("A key with this id exists already: make another", id=command.id)
    data = {name: getattr(command, name) for name in command.__struct_fields__ if name != "roles"}
    return Decision([Draft(CREATED, None, {**data, "roles": sorted(set(command.roles))})])


async def revoke(command: RevokeKey, uow: UnitOfWork) -> Decision:
    """Decide the revocation of a key; a revoked one stays revoked."""
    found: ApiKey | None = await uow.find(API_KEYS, command.id)
    if found is None or command.tenant not in (None, found.tenant):
        raise KeyNotFound(command.id)
    drafts = [] if found.revoked_at is not None else [Draft(REVOKED, None, {"id": found.id})]
    return Decision(drafts)


def check_text(text: object, what: str) -> None:
    """Check a name: its length, and no unprintable characters."""
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_TEXT_CHARS or FORBIDDEN_TEXT.search(text):
        raise InvalidSyntax(f"The {what} of a key is text of 1 to {MAX_TEXT_CHARS} characters")


def check_roles(roles: tuple[str, ...]) -> None:
    """Check the roles: at least one, and all of them known."""
    unknown = sorted(set(roles) - set(ROLES))
    if unknown or not roles:
        raise InvalidSyntax(f"The roles of a key are one or more of {', '.join(ROLES)}", roles=list(roles))


DECIDERS: Mapping[type[Command], Any] = {CreateKey: create, RevokeKey: revoke}
