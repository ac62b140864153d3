"""Reducers of the events about webhooks, which are in a log of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ugs.changes import Change, Drop, Patch, Put
from ugs.events import Event
from ugs.reads.filters import all_of, eq, in_
from ugs.values import to_text
from ugs.webhooks.model import DEAD_LETTERS, WEBHOOKS, DeadLetter, Webhook

CREATED, PAUSED, RESUMED, DELETED, REWOUND, DELIVERED, REDELIVERED = (
    "WebhookCreated",
    "WebhookPaused",
    "WebhookResumed",
    "WebhookDeleted",
    "WebhookRewound",
    "WebhookDelivered",
    "WebhookRedelivered",
)
FROM_DATA = ("id", "name", "url", "secret", "tenant", "user", "project", "agent", "position")


def create(event: Event) -> list[Change]:
    data = event.payload
    given = {name: data[name] for name in FROM_DATA}
    row = Webhook(**given, filter=to_text(data["filter"]), created_at=event.timestamp, revision=event.position)
    return [Put(WEBHOOKS, row)]


def pause(event: Event) -> list[Change]:
    data = event.payload
    fields = {"paused_at": event.timestamp, "pause_reason": data.get("reason"), "revision": event.position}
    return [Patch(WEBHOOKS, data["id"], fields)]


def resume(event: Event) -> list[Change]:
    fields = {"paused_at": None, "pause_reason": None, "revision": event.position}
    return [Patch(WEBHOOKS, event.payload["id"], fields)]


def delete(event: Event) -> list[Change]:
    """A deleted webhook keeps its row without its secret, so that its id is never used again."""
    id = event.payload["id"]
    return [
        Patch(WEBHOOKS, id, {"deleted_at": event.timestamp, "secret": ""}),
        Drop(DEAD_LETTERS, eq("webhook_id", id)),
    ]


def rewind(event: Event) -> list[Change]:
    data = event.payload
    return [Patch(WEBHOOKS, data["id"], {"position": data["position"], "revision": event.position})]


def deliver(event: Event) -> list[Change]:
    """Move the position on; `dead` are events given up."""
    data = event.payload
    changes: list[Change] = [Patch(WEBHOOKS, data["id"], {"position": data["position"]})]
    for dead in data.get("dead", ()):
        position, attempts, error = dead
        row = DeadLetter(data["id"], position, attempts, error, event.timestamp)
        changes.append(Put(DEAD_LETTERS, row))
    return changes


def redeliver(event: Event) -> list[Change]:
    """Dead letters that arrived after all."""
    data = event.payload
    return [Drop(DEAD_LETTERS, all_of(eq("webhook_id", data["id"]), in_("position", data["positions"])))]


REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {
    CREATED: create,
    PAUSED: pause,
    RESUMED: resume,
    DELETED: delete,
    REWOUND: rewind,
    DELIVERED: deliver,
    REDELIVERED: redeliver,
}
