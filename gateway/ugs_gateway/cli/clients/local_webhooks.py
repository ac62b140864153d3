"""Webhooks of a store that this process opens; they have an event log of their own beside the graph's."""

from __future__ import annotations

from ugs.clock import utc
from ugs.errors import InvalidSyntax
from ugs.identity import LOCAL, login_name
from ugs.log.replay import position_of
from ugs.system import System
from ugs.values import from_text
from ugs.webhooks.model import Webhook
from ugs.webhooks.registry import WebhookRegistry, WebhookRequest
from ugs_gateway.cli.clients import WEBHOOK_FIELDS, Record

OPERATOR = LOCAL.principal
"""Whoever can open the store may manage all its webhooks."""


async def add_webhook(system: System, wanted: Record) -> Record:
    """Create a webhook on the graph of the tenant `default`."""
    from ugs_schema import build_schema
    from ugs_schema.webhooks import parse_filter

    parse_filter(build_schema()._schema, wanted["filter"])
    given = {name: wanted[name] for name in ("url", "filter", "after", "project", "agent") if name in wanted}
    user = login_name(wanted["user"]) if "user" in wanted else ""
    end = await position_of(system.storage)
    request = WebhookRequest(name=wanted.get("name", "webhook"), end=end, user=user, **given)
    async with WebhookRegistry.beside(system) as registry:
        made = await registry.create(request, OPERATOR)
    return {"secret": made.secret, **_record(made.webhook)}


async def list_webhooks(system: System) -> list[Record]:
    """All webhooks."""
    async with WebhookRegistry.beside(system) as registry:
        return [_record(webhook) for webhook in await registry.list_webhooks(OPERATOR)]


async def change_webhook(system: System, action: str, id: str, after: int | None) -> Record:
    """Pause, resume, rewind or delete a webhook."""
    if action == "redeliver":
        raise InvalidSyntax("webhook redeliver needs a gateway that delivers: say where it is with --url")
    async with WebhookRegistry.beside(system) as registry:
        if action == "rewind":
            assert after is not None
            return _record(await registry.rewind(id, after, OPERATOR))
        change = {"pause": registry.pause, "resume": registry.resume, "delete": registry.delete}[action]
        return _record(await change(id, OPERATOR))


def _record(webhook: Webhook) -> Record:
    row = {name: getattr(webhook, name) for name in WEBHOOK_FIELDS if name not in ("seq", "filter")}
    for name in ("created_at", "paused_at"):
        if row[name] is not None:
            row[name] = utc(row[name] / 1000).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    row |= {"seq": webhook.position, "filter": from_text(webhook.filter)}
    return {name: row[name] for name in WEBHOOK_FIELDS}
