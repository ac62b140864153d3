"""Root fields of actors: messages to nodes, message types, and relations of tasks."""

from __future__ import annotations

from typing import Annotated

import strawberry

from ugs.actors.addresses import Message
from ugs.actors.api import ActorGraph
from ugs.actors.errors import NoActor
from ugs.actors.registry import actor_types
from ugs.actors.types.task_relations import child_ids, dependency_ids, existing
from ugs.errors import InvalidJSON
from ugs.graph.model import Node
from ugs.graph.queries import get
from ugs.reads.plan import ResultRow
from ugs.storage import Session
from ugs_schema.context import Info
from ugs_schema.graph.inputs import MUTATION_ID_DESCRIPTION, RETRY_DESCRIPTION
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.graph.traversal import load_nodes
from ugs_schema.graph.types import GraphNode, to_graphql_node
from ugs_schema.list_page import PAGING_DESCRIPTION, cut_page
from ugs_schema.scalars import Json, Uuid

TaskId = Annotated[strawberry.ID, strawberry.argument(description="The task")]


@strawberry.type(description="A node type with the messages that its nodes handle")
class ActorType:
    type: str = strawberry.field(description="The node type; * stands for all types that are not listed")
    messages: list[str] = strawberry.field(description="Message types, by name")


@strawberry.input(description="A message to a node")
class SendMessageInput:
    node_id: strawberry.ID = strawberry.field(description="Whose actor is asked")
    type: str = strawberry.field(description="What is asked, such as start or query")
    payload: Json | None = strawberry.field(default=None, description="An object with what belongs to the message")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.type(description="What an actor answered")
class MessageResponse:
    message_id: Uuid = strawberry.field(description="The id that the message was given")
    success: bool = strawberry.field(description="Whether the actor did what it was asked; if not, nothing changed")
    error: str | None = strawberry.field(description="Why not")
    payload: Json = strawberry.field(description="The whole answer")
    client_mutation_id: str | None = strawberry.field(description="As it was given")
    node_id: strawberry.Private[str]

    @strawberry.field(description="The node as it is now; null when it is gone")
    async def node(self, info: Info) -> GraphNode | None:
        async with info.context.system.session() as session:
            row = await get(session, self.node_id)
        return to_graphql_node(ResultRow(row, {})) if isinstance(row, Node) else None


@strawberry.type
class ActorsQuery:
    @strawberry.field(description="Node types with the messages they handle, by name")
    async def actor_types(self) -> list[ActorType]:
        return [ActorType(type=name, messages=messages) for name, messages in actor_types().items()]

    @strawberry.field(description="Tasks that were made by a task, oldest first" + PAGING_DESCRIPTION)
    async def child_tasks(
        self,
        info: Info,
        id: TaskId,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[GraphNode]:
        async with info.context.system.session_at(parse_at(at)) as session:
            await check_exists(session, id)
            rows = await existing(session, await child_ids(session, id))
        return await load_nodes(info, cut_page(rows, first, after, lambda row: row.id), parse_at(at))

    @strawberry.field(
        description="Tasks that must be complete before a task, in the order they were named" + PAGING_DESCRIPTION
    )
    async def dependencies(
        self,
        info: Info,
        id: TaskId,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[GraphNode]:
        async with info.context.system.session_at(parse_at(at)) as session:
            await check_exists(session, id)
            rows = await existing(session, await dependency_ids(session, id))
        return await load_nodes(info, cut_page(rows, first, after, lambda row: row.id), parse_at(at))


@strawberry.type
class ActorsMutation:
    @strawberry.mutation(
        description="Ask the actor of a node to do something; what it changes is durable and all or none"
    )
    async def send_message(self, info: Info, input: SendMessageInput) -> MessageResponse:
        message = Message(input.type, check_payload(input.payload))
        graph = ActorGraph(info.context.system, info.context.principal)
        answer = await graph.deliver(input.node_id, message, key=input.idempotency_key)
        return MessageResponse(
            message_id=Uuid(message.id),
            success=answer["success"],
            error=answer.get("error"),
            payload=Json(answer),
            client_mutation_id=input.client_mutation_id,
            node_id=input.node_id,
        )


def check_payload(payload: Json | None) -> dict[str, object]:
    if payload is None:
        return {}
    if not isinstance(payload, dict):
        raise InvalidJSON("payload must be an object")
    return payload


async def check_exists(session: Session, id: str) -> None:
    if not isinstance(await get(session, id), Node):
        raise NoActor(id)
