"""What is sent: an event as CloudEvents JSON, signed as Standard Webhooks say."""

from __future__ import annotations

import hmac
import json
from base64 import b64decode, b64encode
from hashlib import sha256

from msgspec import Struct

from ugs.clock import utc
from ugs.events import Event
from ugs.webhooks.model import SECRET_PREFIX, Webhook

CONTENT_TYPE = "application/cloudevents+json"
TYPE_PREFIX = "ugs."


class Message(Struct, frozen=True):
    """The body of a delivery and the id that its repetitions share."""

    id: str
    body: bytes


def to_message(webhook: Webhook, event: Event) -> Message:
    """The message of an event; the same bytes for every try."""
    told = {
        "specversion": "1.0",
        "id": event.id,
        "source": f"/tenants/{webhook.tenant}",
        "type": TYPE_PREFIX + event.type,
        "time": utc(event.timestamp / 1000).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        # The extension `sequence` is a text that sorts as the log does.
        "sequence": f"{event.position:020d}",
        "data": {
            "seq": event.position,
            "eventId": event.id,
            "type": event.type,
            "elementId": event.element,
            "version": event.version,
            "timestamp": event.timestamp,
            "by": event.by,
            "data": event.payload,
        },
    }
    if event.element is not None:
        told["subject"] = event.element
    return Message(f"{webhook.id}_{event.id}", json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode())


def sign(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """The signature of a delivery: HMAC-SHA256 over id, time and body."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b"%b.%d.%b" % (id.encode(), timestamp, body)
    return "v1," + b64encode(hmac.new(key, signed, sha256).digest()).decode()


def headers_of(webhook: Webhook, message: Message, timestamp: int) -> dict[str, str]:
    """The headers of one try, which carries its own time."""
    return {
        "content-type": CONTENT_TYPE,
        "webhook-id": message.id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(webhook.secret, message.id, timestamp, message.body),
    }
