"""Root fields for webhooks, for admins, and the events that a webhook follows. Secrets are shown once.

A webhook has the filters of the subscriptions and follows the same event sources, so what it may see and what it is
told is decided where it is for subscriptions. Webhooks have no global id and no time travel: their events are not in
the graph's log.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

import strawberry
from graphql import GraphQLEnumType, GraphQLError, GraphQLSchema
from graphql.utilities import coerce_input_value

from ugs.errors import Forbidden, InvalidSyntax
from ugs.identity import TENANT_ADMIN, login_name
from ugs.log.log_reader import LogReader
from ugs.log.replay import position_of
from ugs.reads.cursors import cursor_of
from ugs.reads.level_executor import one_more, without_extra
from ugs.reads.plan import Order, paged
from ugs.values import from_text
from ugs.webhooks.model import WEBHOOKS
from ugs.webhooks.model import DeadLetter as KernelLetter
from ugs.webhooks.model import Webhook as KernelWebhook
from ugs.webhooks.registry import CreatedWebhook, WebhookRegistry, WebhookRequest
from ugs_schema.context import Info
from ugs_schema.graph.events import EventType
from ugs_schema.graph.filters import EdgeFilter, NodeFilter
from ugs_schema.graph.inputs import MUTATION_ID_DESCRIPTION, RETRY_DESCRIPTION
from ugs_schema.graph.list_arguments import build_edge_where, build_node_where
from ugs_schema.graph.queries import get_arguments
from ugs_schema.graph.subscriptions import (
    Events,
    check_followable,
    follow_edges,
    follow_element,
    follow_events,
    follow_nodes,
)
from ugs_schema.pagination import PageInfo, build_page_info, parse_page
from ugs_schema.scalars import Instant, Json, Position, instant_of

OLDEST_FIRST = (Order("created_at"), Order("id"))
MAX_DEAD_LETTERS = 100
FILTER_TYPES = {"types": "[EventType!]", "element": "ID", "nodes": "NodeFilter", "edges": "EdgeFilter"}
"""The parts of a filter; a webhook has one of them, or none for all events."""


# ── filters ──────────────────────────────────────────────────────────────────


def to_filter(given: Mapping[str, Any]) -> dict[str, Any]:
    """The filter in the arguments of a field, checked, as JSON."""
    found = {name: given[name] for name in FILTER_TYPES if given.get(name) is not None}
    check_filter(found)
    return {name: _to_json(value) for name, value in found.items()}


def check_filter(filter: Mapping[str, Any]) -> None:
    """Check a coerced filter as far as subscriptions would when they begin."""
    if len(filter) > 1:
        raise InvalidSyntax("A webhook has one of types, element, nodes and edges", given=sorted(filter))
    if "nodes" in filter:
        check_followable(build_node_where(filter["nodes"]))
    if "edges" in filter:
        check_followable(build_edge_where(filter["edges"]))


def parse_filter(schema: GraphQLSchema, filter: Mapping[str, Any]) -> dict[str, Any]:
    """Coerce a filter in JSON, as GraphQL does with the variables of a request."""
    unknown = sorted(set(filter) - set(FILTER_TYPES))
    if unknown:
        raise InvalidSyntax(f"A webhook's filter has no {unknown[0]!r}: use one of {', '.join(FILTER_TYPES)}")
    try:
        coerced = {name: _coerce(schema, name, value) for name, value in filter.items()}
    except GraphQLError as error:
        raise InvalidSyntax(f"The filter is not right: {error.message}") from error
    check_filter(coerced)
    return coerced


def _coerce(schema: GraphQLSchema, name: str, value: Any) -> Any:
    if name == "types":
        known = cast(GraphQLEnumType, schema.type_map["EventType"]).values
        if not isinstance(value, list) or not all(isinstance(one, str) and one in known for one in value):
            raise InvalidSyntax("The types of a webhook are a list of event types")
        return value
    return coerce_input_value(value, schema.type_map[FILTER_TYPES[name]])  # type: ignore[arg-type]


def _to_json(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Mapping):
        return {key: _to_json(one) for key, one in value.items()}
    return [_to_json(one) for one in value] if isinstance(value, list) else value


def follow_webhook(schema: GraphQLSchema, log: LogReader, webhook: KernelWebhook) -> Events:
    """The events of a webhook after its position, with the rights of whoever reads the log."""
    filter = parse_filter(schema, from_text(webhook.filter))
    after = webhook.position
    if "element" in filter:
        return follow_element(log, {"id": filter["element"], "afterSeq": after})
    if "nodes" in filter:
        return follow_nodes(log, {"filter": filter["nodes"], "afterSeq": after})
    if "edges" in filter:
        return follow_edges(log, {"filter": filter["edges"], "afterSeq": after})
    return follow_events(log, {"types": filter.get("types"), "afterSeq": after})


# ── types ────────────────────────────────────────────────────────────────────


@strawberry.type(description="An event that a webhook could not deliver")
class DeadLetter:
    seq: Position = strawberry.field(description="The event's place in the log")
    attempts: int = strawberry.field(description="How often it was tried")
    error: str = strawberry.field(description="What came of the last try")
    failed_at: Instant = strawberry.field(description="When it was given up")


@strawberry.type(description="An address that events are sent to; its secret was shown once, when it was made")
class Webhook:
    row: strawberry.Private[KernelWebhook]

    @strawberry.field(description="Its id")
    def id(self) -> strawberry.ID:
        return strawberry.ID(self.row.id)

    @strawberry.field(description="What it is for")
    def name(self) -> str:
        return self.row.name

    @strawberry.field(description="Where events are sent")
    def url(self) -> str:
        return self.row.url

    @strawberry.field(description="Which events: one of types, element, nodes and edges; empty for all")
    def filter(self) -> Json:
        return Json(from_text(self.row.filter))

    @strawberry.field(description="Whose graph it follows")
    def tenant(self) -> str:
        return self.row.tenant

    @strawberry.field(description="Whose eyes it sees with, as a reader")
    def user(self) -> str:
        return self.row.user

    @strawberry.field(description="The project it sees with")
    def project(self) -> str:
        return self.row.project

    @strawberry.field(description="The agent it sees with")
    def agent(self) -> str:
        return self.row.agent

    @strawberry.field(description="Everything up to this place in the log was delivered or given up")
    def seq(self) -> Position:
        return Position(self.row.position)

    @strawberry.field(description="When it was made")
    def created_at(self) -> Instant:
        return instant_of(self.row.created_at)

    @strawberry.field(description="When it was paused; null: it is delivered")
    def paused_at(self) -> Instant | None:
        return None if self.row.paused_at is None else instant_of(self.row.paused_at)

    @strawberry.field(description="Why the gateway paused it; null where somebody did")
    def pause_reason(self) -> str | None:
        return self.row.pause_reason

    @strawberry.field(description="Events that could not be delivered, oldest first, at most 100")
    async def dead_letters(self, info: Info) -> list[DeadLetter]:
        rows = await get_registry(info).dead_letters(self.row.id, MAX_DEAD_LETTERS)
        return list(map(to_graphql_letter, rows))


@strawberry.type(description="A webhook on a page, with the cursor behind it")
class WebhookEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: Webhook = strawberry.field(description="The webhook")


@strawberry.type(description="A page of webhooks, oldest first")
class WebhookConnection:
    edges: list[WebhookEdge] = strawberry.field(description="The webhooks with their cursors")
    page_info: PageInfo = strawberry.field(description="Where the page stands")
    total_count: int = strawberry.field(description="How many there are in all")

    @strawberry.field(description="The webhooks alone")
    def nodes(self) -> list[Webhook]:
        return [edge.node for edge in self.edges]


@strawberry.input(description="A new webhook, on the graph of the caller's tenant")
class CreateWebhookInput:
    url: str = strawberry.field(description="Where events are sent: an https address, or http where that is allowed")
    name: str = strawberry.field(default="webhook", description="What it is for")
    types: list[EventType] | None = strawberry.field(default=None, description="Events of these types only")
    element: strawberry.ID | None = strawberry.field(default=None, description="Events of this node or edge only")
    nodes: NodeFilter | None = strawberry.field(default=None, description="Events of nodes that meet this only")
    edges: EdgeFilter | None = strawberry.field(default=None, description="Events of edges that meet this only")
    after_seq: Position | None = strawberry.field(
        default=None, description="Begin after this place in the log, 0 for its beginning; now when left out"
    )
    user: str | None = strawberry.field(default=None, description="Whose eyes it sees with; the caller's if left out")
    project: str = strawberry.field(default="default", description="The project it sees with")
    agent: str = strawberry.field(default="default", description="The agent it sees with")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION + ", without the secret")
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="A webhook to pause, resume or delete")
class ManageWebhookInput:
    id: strawberry.ID = strawberry.field(description="Its id")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="Where a webhook delivers from, earlier or later")
class RewindWebhookInput:
    id: strawberry.ID = strawberry.field(description="Its id")
    after_seq: Position = strawberry.field(description="Deliver what comes after this place in the log")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.type(description="What was done to a webhook")
class WebhookPayload:
    webhook: Webhook = strawberry.field(description="The webhook as it is now")
    secret: str | None = strawberry.field(description="The key of its signatures; told only once, when it is made")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type(description="What became of a webhook's dead letters")
class RedeliveryPayload:
    delivered: int = strawberry.field(description="How many were delivered now, at most 100 at once")
    left: int = strawberry.field(description="How many are left")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


# ── root fields ──────────────────────────────────────────────────────────────


@strawberry.type
class WebhooksQuery:
    @strawberry.field(
        description="Webhooks of the caller's tenant, oldest first; of all tenants for admins of `default`"
    )
    async def webhooks(self, info: Info, first: int | None = None, after: str | None = None) -> WebhookConnection:
        registry = get_registry(info)
        page = parse_page({"first": first, "after": after}, WEBHOOKS, OLDEST_FIRST)
        known = await registry.list_webhooks(info.context.principal)
        rows, more = without_extra(paged(known, WEBHOOKS, OLDEST_FIRST, one_more(page)), page)
        cursors = [cursor_of(row, WEBHOOKS, OLDEST_FIRST) for row in rows]
        edges = [WebhookEdge(cursor=c, node=Webhook(row=row)) for c, row in zip(cursors, rows, strict=True)]
        return WebhookConnection(edges=edges, page_info=build_page_info(page, more, cursors), total_count=len(known))


@strawberry.type
class WebhooksMutation:
    @strawberry.mutation(description="Send events to an address; the secret of its signatures is shown now only")
    async def create_webhook(self, info: Info, input: CreateWebhookInput) -> WebhookPayload:
        registry, context = get_registry(info), info.context
        wanted = WebhookRequest(
            name=input.name,
            url=input.url,
            filter=to_filter(get_arguments(info)["input"]),
            end=await position_of(context.system.storage),
            after=input.after_seq,
            user=login_name(input.user) if input.user else "",
            project=input.project,
            agent=input.agent,
        )
        return build_payload(await registry.create(wanted, context.principal, input.idempotency_key), input)

    @strawberry.mutation(description="Deliver nothing until it is resumed")
    async def pause_webhook(self, info: Info, input: ManageWebhookInput) -> WebhookPayload:
        row = await get_registry(info).pause(input.id, info.context.principal, input.idempotency_key)
        return build_payload(CreatedWebhook(row, None), input)

    @strawberry.mutation(description="Deliver again, from where it was paused")
    async def resume_webhook(self, info: Info, input: ManageWebhookInput) -> WebhookPayload:
        row = await get_registry(info).resume(input.id, info.context.principal, input.idempotency_key)
        return build_payload(CreatedWebhook(row, None), input)

    @strawberry.mutation(description="Deliver nothing any more, and forget its dead letters")
    async def delete_webhook(self, info: Info, input: ManageWebhookInput) -> WebhookPayload:
        row = await get_registry(info).delete(input.id, info.context.principal, input.idempotency_key)
        return build_payload(CreatedWebhook(row, None), input)

    @strawberry.mutation(description="Deliver from another place in the log, earlier or later")
    async def rewind_webhook(self, info: Info, input: RewindWebhookInput) -> WebhookPayload:
        registry, caller = get_registry(info), info.context.principal
        row = await registry.rewind(input.id, input.after_seq, caller, input.idempotency_key)
        return build_payload(CreatedWebhook(row, None), input)

    @strawberry.mutation(description="Try once more to deliver the dead letters, oldest first, until one fails")
    async def redeliver_webhook(self, info: Info, input: ManageWebhookInput) -> RedeliveryPayload:
        registry, context = get_registry(info), info.context
        row = await registry.get(input.id, context.principal)
        if context.redeliver is None:
            raise InvalidSyntax("Nothing delivers webhooks here")
        delivered = await context.redeliver(row)
        left = len(await registry.dead_letters(row.id))
        return RedeliveryPayload(delivered=delivered, left=left, client_mutation_id=input.client_mutation_id)


def get_registry(info: Info) -> WebhookRegistry:
    """The registry; rejects callers who are not admins, and gateways without webhooks."""
    if not {"admin", TENANT_ADMIN} & info.context.principal.roles:
        raise Forbidden("This needs the role admin")
    if info.context.webhooks is None:
        raise InvalidSyntax("This gateway has no webhooks: set webhooks")
    return info.context.webhooks


def to_graphql_letter(row: KernelLetter) -> DeadLetter:
    return DeadLetter(
        seq=Position(row.position), attempts=row.attempts, error=row.error, failed_at=instant_of(row.failed_at)
    )


def build_payload(created: CreatedWebhook, input: Any) -> WebhookPayload:
    return WebhookPayload(
        webhook=Webhook(row=created.webhook), secret=created.secret, client_mutation_id=input.client_mutation_id
    )
