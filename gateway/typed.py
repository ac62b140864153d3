"""Typed GraphQL, live: `/graphql/<ontology>` serves the schema that an ontology yields, as it is at this moment.

Before a request is answered it is known whether the ontology has grown since its schema was made; then a new one is
made off the event loop and takes the old one's place. Nothing is restarted, and whoever has just added a type can ask
for it in the next request.
"""

from __future__ import annotations

import asyncio
import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.websockets import WebSocket

from gateway.asked import Asked, Refused
from gateway.graphql import GraphQLDoor, refused_answer
from gateway.reception import Reception, limits_in
from gateway.settings import Settings
from gateway.sockets import Conversation, SocketDoor
from gateway.tracing import Tracing
from schema.operations import Operations
from schema.typed_schema import TypedSchema
from ugs.errors import Forbidden, LimitExceeded, Unauthenticated
from ugs.identity import Principal
from ugs.ontology.errors import OntologyNotFound
from ugs.ontology.growth import growth_of
from ugs.storage import EventQuery
from ugs.system import System

GROWING = frozenset(
    {"OntologyCreated", "OntologyNodeTypeAdded", "OntologyConnectionTypeAdded", "OntologyPropertiesAdded"}
)
KEPT_SCHEMAS = 50


class Live(NamedTuple):
    """A generated schema, and the door that serves it; both go when a newer one comes."""

    schema: TypedSchema
    door: GraphQLDoor


class LiveSchemas:
    """The generated schemas of one system, each as its ontology is now."""

    def __init__(self, system: System, door_for: Callable[[TypedSchema], GraphQLDoor]) -> None:
        self.system, self.door_for = system, door_for
        self._made: OrderedDict[str, Live] = OrderedDict()
        self._position = 0
        self._making = asyncio.Lock()

    async def current(self, name: str) -> Live:
        """The schema of an ontology as it is now."""
        if self.system.bus.position == self._position and name in self._made:
            self._made.move_to_end(name)
            return self._made[name]
        async with self._making:
            await self._forget_grown()
            if name not in self._made:
                await self._make(name)
            return self._made[name]

    async def _forget_grown(self) -> None:
        """Forget the schemas of ontologies that have grown."""
        position = self.system.bus.position
        if position > self._position and self._made:
            async with self.system.session() as session:
                query = EventQuery(after=self._position, until=position, types=GROWING)
                grown = {event.payload["name"] for event in await session.events(query)}
            for name in grown & self._made.keys():
                del self._made[name]
        self._position = position

    async def _make(self, name: str) -> None:
        async with self.system.session() as session:
            steps = await growth_of(session, name)
        schema = await asyncio.to_thread(TypedSchema, name, steps)
        self._made[name] = Live(schema, self.door_for(schema))
        if len(self._made) > KEPT_SCHEMAS:
            self._made.popitem(last=False)


class TypedDoor:
    """The endpoint `/graphql/<ontology>`."""

    def __init__(self, reception: Reception, settings: Settings, tracing: Tracing) -> None:
        self.reception, self.settings, self.tracing = reception, settings, tracing
        self.limits = limits_in(settings)
        self._live: dict[System, LiveSchemas] = {}

    async def serve(self, request: Request) -> Response:
        """Answer one request under the ontology its address names."""
        try:
            live = await self._current(request, self._principal(request))
        except Refused as refused:
            return refused_answer(request, refused)
        return await live.door.serve(request)

    async def text(self, request: Request) -> Response:
        """The generated schema, for whoever may see it."""
        try:
            principal = self._principal(request)
            if not self.settings.shows_schema and "admin" not in principal.roles:
                raise Refused(403, Forbidden("The schema cannot be explored here"))
            return PlainTextResponse((await self._current(request, principal)).schema.text())
        except Refused as refused:
            return refused_answer(request, refused)

    def _principal(self, request: Request) -> Principal:
        try:
            return self.reception.gatekeeper.principal(request.headers.get("authorization"))
        except Unauthenticated as error:
            raise Refused(401, error) from error

    async def _current(self, request: Request, principal: Principal) -> Live:
        return await self.current(request.path_params["ontology"], principal)

    async def current(self, ontology: str, principal: Principal) -> Live:
        """What an ontology yields now, for whoever asks."""
        system = await self.reception.system_of(principal)
        if system not in self._live:
            self._live[system] = LiveSchemas(system, self._door)
        try:
            return await self._live[system].current(ontology)
        except OntologyNotFound as error:
            raise Refused(404, error) from error
        except LimitExceeded as error:
            raise Refused(400, error) from error

    def _door(self, schema: TypedSchema) -> GraphQLDoor:
        reception = copy.copy(self.reception)
        reception.operations = Operations(schema.core, limits=self.limits, roots=schema.roots)
        return GraphQLDoor(reception, self.settings, self.tracing)


class TypedSocketDoor(SocketDoor):
    """The WebSocket side of `/graphql/<ontology>`."""

    def __init__(self, door: TypedDoor) -> None:
        super().__init__(door.reception, door.settings)
        self.door = door

    def conversation(self, socket: WebSocket) -> Conversation:
        return TypedConversation(socket, self.door, self.most_operations)


class TypedConversation(Conversation):
    """One socket whose operations each meet the schema as it is when they begin."""

    def __init__(self, socket: WebSocket, door: TypedDoor, most_operations: int) -> None:
        super().__init__(socket, door.reception, most_operations)
        self.door = door

    async def _results(self, id: str, asked: Asked) -> bool:
        assert self.principal is not None
        live = await self.door.current(self.socket.path_params["ontology"], self.principal)
        self.reception, self.operations = live.door.reception, live.door.operations
        return await super()._results(id, asked)
