"""Commands about webhooks: what their owners do, and what the process that delivers records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from ugs.errors import InvalidSyntax, LimitExceeded, WebhookNotFound
from ugs.events import Draft
from ugs.feature import Command, Decision
from ugs.reads.filters import all_of, eq
from ugs.storage import Session
from ugs.unit_of_work import UnitOfWork
from ugs.values import FORBIDDEN_TEXT
from ugs.webhooks.events import CREATED, DELETED, DELIVERED, PAUSED, REDELIVERED, RESUMED, REWOUND
from ugs.webhooks.model import WEBHOOKS, Webhook

MAX_TEXT_CHARS, MAX_URL_CHARS, MAX_FILTER_CHARS = 200, 2_000, 16_384
MAX_WEBHOOKS = 100
"""Webhooks of one tenant that are not deleted."""
MAX_ERROR_CHARS = 300


class CreateWebhook(Command, frozen=True):
    """Send events to an address from now on, or from after a position of the log."""

    GENERATED_FIELDS: ClassVar[frozenset[str]] = frozenset({"id", "secret", "end"})

    id: str
    secret: str
    name: str
    url: str
    filter: dict[str, Any]
    tenant: str
    user: str
    project: str
    agent: str
    end: int
    """Where the tenant's log ends now."""
    after: int | None = None


class PauseWebhook(Command, frozen=True):
    """Deliver nothing until it is resumed."""

    id: str
    tenant: str | None = None
    """The only tenant whose webhooks the caller may manage; None for all."""
    reason: str | None = None


class ResumeWebhook(Command, frozen=True):
    """Deliver again, from where it was paused."""

    id: str
    tenant: str | None = None


class DeleteWebhook(Command, frozen=True):
    """Deliver nothing any more."""

    id: str
    tenant: str | None = None


class RewindWebhook(Command, frozen=True):
    """Deliver from after another position of the log, earlier or later."""

    id: str
    position: int
    tenant: str | None = None


class RecordDelivery(Command, frozen=True):
    """Record how far a webhook has come. Refused without an error if somebody paused, moved or ended it
    meanwhile."""

    id: str
    revision: int
    """That of the row that the deliverer began with."""
    position: int
    dead: tuple[tuple[int, int, str], ...] = ()
    """Events given up: position, attempts, error."""


class RecordRedelivery(Command, frozen=True):
    """Record that dead letters arrived after all."""

    id: str
    positions: tuple[int, ...]


async def create(command: CreateWebhook, uow: UnitOfWork) -> Decision:
    for name in ("name", "tenant", "user", "project", "agent"):
        check_text(getattr(command, name), name)
    check_url(command.url)
    if command.after is not None and not 0 <= command.after <= command.end:
        raise InvalidSyntax(f"The log has the positions 0 to {command.end}", after=command.after)
    if len(str(command.filter)) > MAX_FILTER_CHARS:
        raise LimitExceeded(
            f"The filter of a webhook has at most {MAX_FILTER_CHARS} characters", limit=MAX_FILTER_CHARS
        )
    there = await uow.fetch(WEBHOOKS, all_of(eq("tenant", command.tenant), eq("deleted_at", None)))
    if len(there) >= MAX_WEBHOOKS:
        raise LimitExceeded(f"A tenant has at most {MAX_WEBHOOKS} webhooks", limit=MAX_WEBHOOKS)
    left_out = {"end", "after"}
    data = {name: getattr(command, name) for name in command.__struct_fields__ if name not in left_out}
    position = command.end if command.after is None else command.after
    return Decision([Draft(CREATED, None, {**data, "position": position})])


async def pause(command: PauseWebhook, uow: UnitOfWork) -> Decision:
    found = await get_own(command.id, command.tenant, uow)
    told = {"id": found.id} | ({} if command.reason is None else {"reason": command.reason[:MAX_ERROR_CHARS]})
    return Decision([] if found.paused_at is not None else [Draft(PAUSED, None, told)])


async def resume(command: ResumeWebhook, uow: UnitOfWork) -> Decision:
    found = await get_own(command.id, command.tenant, uow)
    return Decision([] if found.paused_at is None else [Draft(RESUMED, None, {"id": found.id})])


async def delete(command: DeleteWebhook, uow: UnitOfWork) -> Decision:
    found = await get_own(command.id, command.tenant, uow)
    return Decision([Draft(DELETED, None, {"id": found.id})])


async def rewind(command: RewindWebhook, uow: UnitOfWork) -> Decision:
    found = await get_own(command.id, command.tenant, uow)
    if command.position < 0:
        raise InvalidSyntax("A position in the log is 0 or greater", position=command.position)
    return Decision([Draft(REWOUND, None, {"id": found.id, "position": command.position})])


async def record(command: RecordDelivery, uow: UnitOfWork) -> Decision:
    found: Webhook | None = await uow.find(WEBHOOKS, command.id)
    if found is None or found.deleted_at is not None or found.revision != command.revision:
        return Decision([])
    data: dict[str, Any] = {"id": found.id, "position": command.position}
    if command.dead:
        data["dead"] = [[position, attempts, error[:MAX_ERROR_CHARS]] for position, attempts, error in command.dead]
    return Decision([Draft(DELIVERED, None, data)])


async def record_redelivery(command: RecordRedelivery, uow: UnitOfWork) -> Decision:
    found: Webhook | None = await uow.find(WEBHOOKS, command.id)
    if found is None or found.deleted_at is not None:
        return Decision([])
    return Decision([Draft(REDELIVERED, None, {"id": found.id, "positions": list(command.positions)})])


async def get_own(id: str, tenant: str | None, uow: UnitOfWork | Session) -> Webhook:
    """The webhook, if the caller may manage it."""
    found: Webhook | None = await uow.find(WEBHOOKS, id)
    if found is None or found.deleted_at is not None or tenant not in (None, found.tenant):
        raise WebhookNotFound(id)
    return found


def check_text(text: object, what: str) -> None:
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_TEXT_CHARS or FORBIDDEN_TEXT.search(text):
        raise InvalidSyntax(f"The {what} of a webhook is text of 1 to {MAX_TEXT_CHARS} characters")


def check_url(url: str) -> None:
    """Check the form of an address; where it leads is checked when it is used."""
    reason = "The url of a webhook is an http or https address without a login and without a fragment"
    if not 1 <= len(url) <= MAX_URL_CHARS or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidSyntax(f"{reason}, of at most {MAX_URL_CHARS} ASCII characters")
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_right = False
    if not is_right or "@" in parts.netloc or "#" in url:
        raise InvalidSyntax(reason)


DECIDERS: Mapping[type[Command], Any] = {
    CreateWebhook: create,
    PauseWebhook: pause,
    ResumeWebhook: resume,
    DeleteWebhook: delete,
    RewindWebhook: rewind,
    RecordDelivery: record,
    RecordRedelivery: record_redelivery,
}
