"""`/graphql/<ontology>`: a GraphQL schema generated from an ontology, always current.

Every request compares the log position with the one of the cached schemas. If the ontology has changed since, a new
schema is generated in a thread and replaces the old one, so a new type can be queried in the next request without a
restart.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.websockets import WebSocket

from ugs.errors import Forbidden, LimitExceeded
from ugs.identity import Principal
from ugs.ontology.errors import OntologyNotFound
from ugs.ontology.history import list_additions
from ugs.storage import EventQuery
from ugs.support.bounded_cache import BoundedCache
from ugs.support.worker_threads import compute_in_thread
from ugs.system import System
from ugs_gateway.graphql.admission import RequestAdmission, address_of, limits_in
from ugs_gateway.graphql.endpoint import GraphQLEndpoint, rejection_response
from ugs_gateway.graphql.request import GraphQLRequest, RequestRejected
from ugs_gateway.graphql.websocket import Connection, WebSocketEndpoint
from ugs_gateway.observability.tracing import Tracing
from ugs_gateway.settings import Settings
from ugs_schema.compiler.executor import MAX_DOCUMENT_BYTES, MAX_DOCUMENTS, OperationExecutor, Prepared
from ugs_schema.generated.schema import TypedSchema

ONTOLOGY_EVENTS = frozenset(
    {
        *("OntologyCreated", "OntologyNodeTypeAdded", "OntologyConnectionTypeAdded", "OntologyPropertiesAdded"),
        "OntologyRestored",
    }
)
MAX_SCHEMAS, MAX_SCHEMA_BYTES = 50, 128 << 20
"""How many generated schemas are cached, and their approximate memory, for all tenants together."""
SCHEMA_BYTES, BYTES_PER_TYPE = 1 << 20, 16_384
"""Estimated memory of a generated schema."""


class CachedSchema(NamedTuple):
    """A generated schema with the endpoint that serves it; replaced together."""

    schema: TypedSchema
    endpoint: GraphQLEndpoint


SchemaCache = BoundedCache[tuple[System, str], CachedSchema]


class LiveSchemas:
    """The generated schemas of one system, invalidated by ontology events."""

    def __init__(self, system: System, door_for: Callable[[TypedSchema], GraphQLEndpoint], made: SchemaCache) -> None:
        self.system, self.door_for = system, door_for
        self._made = made
        self._names: set[str] = set()
        self._position = 0
        self._making = asyncio.Lock()

    async def current(self, name: str) -> CachedSchema:
        """The current schema of an ontology. Without new events this is a cache look-up."""
        known = self._made.get((self.system, name)) if self.system.bus.position == self._position else None
        if known is not None:
            return known
        async with self._making:
            await self._invalidate_changed()
            return self._made.get((self.system, name)) or await self._make(name)

    async def _invalidate_changed(self) -> None:
        """Invalidate the schemas of ontologies that were changed since the last check."""
        position = self.system.bus.position
        if position > self._position and self._names:
            async with self.system.session() as session:
                query = EventQuery(after=self._position, until=position, types=ONTOLOGY_EVENTS)
                grown = {event.payload["name"] for event in await session.events(query)}
            for name in grown & self._names:
                self._made.pop((self.system, name))
            self._names -= grown
        self._position = position

    async def _make(self, name: str) -> CachedSchema:
        async with self.system.session() as session:
            steps = await list_additions(session, name)
        schema = await asyncio.to_thread(TypedSchema, name, steps)
        live = CachedSchema(schema, self.door_for(schema))
        self._names.add(name)
        self._made.put((self.system, name), live, SCHEMA_BYTES + BYTES_PER_TYPE * len(schema.core.type_map))
        return live


class OntologyEndpoint:
    """The endpoint `/graphql/<ontology>`."""

    def __init__(self, admission: RequestAdmission, settings: Settings, tracing: Tracing) -> None:
        self.admission, self.settings, self.tracing = admission, settings, tracing
        self.limits = limits_in(settings)
        self._live: dict[System, LiveSchemas] = {}
        self._made: SchemaCache = BoundedCache(MAX_SCHEMAS, MAX_SCHEMA_BYTES)
        self._documents: BoundedCache[Any, Prepared] = BoundedCache(MAX_DOCUMENTS, MAX_DOCUMENT_BYTES)

    async def serve(self, request: Request) -> Response:
        """Serve one request with the schema of the ontology in the path."""
        try:
            self.admission.origins.check(request.headers)
            live = await self._current(request, self._principal(request))
        except RequestRejected as refused:
            return rejection_response(request, refused)
        return await live.endpoint.serve(request)

    async def text(self, request: Request) -> Response:
        """The generated schema as SDL, for callers who may see it."""
        try:
            self.admission.origins.check(request.headers)
            principal = self._principal(request)
            if not self.settings.shows_schema and "admin" not in principal.roles:
                raise RequestRejected(403, Forbidden("The schema cannot be explored here"))
            schema = (await self._current(request, principal)).schema
            return PlainTextResponse(await compute_in_thread(lambda: schema.text))
        except RequestRejected as refused:
            return rejection_response(request, refused)

    def _principal(self, request: Request) -> Principal:
        return self.admission.authenticate(request.headers.get("authorization"), address_of(request))

    async def _current(self, request: Request, principal: Principal) -> CachedSchema:
        return await self.current(request.path_params["ontology"], principal)

    async def current(self, ontology: str, principal: Principal) -> CachedSchema:
        """The current schema of an ontology in the principal's system."""
        system = await self.admission.system_of(principal)
        if system not in self._live:
            self._live[system] = LiveSchemas(system, self._endpoint_for, self._made)
        try:
            return await self._live[system].current(ontology)
        except OntologyNotFound as error:
            raise RequestRejected(404, error) from error
        except LimitExceeded as error:
            raise RequestRejected(400, error) from error

    def _endpoint_for(self, schema: TypedSchema) -> GraphQLEndpoint:
        # Shares authentication, rate limits and metrics with the main endpoint; only the executor differs.
        admission = copy.copy(self.admission)
        admission.operations = OperationExecutor(schema.core, True, self.limits, schema.roots, self._documents)
        return GraphQLEndpoint(admission, self.settings, self.tracing)


class OntologyWebSocketEndpoint(WebSocketEndpoint):
    """The WebSocket side of `/graphql/<ontology>`."""

    def __init__(self, endpoint: OntologyEndpoint) -> None:
        super().__init__(endpoint.admission, endpoint.settings)
        self.endpoint = endpoint

    def conversation(self, socket: WebSocket) -> Connection:
        return OntologyConnection(socket, self.endpoint, self.max_operations)


class OntologyConnection(Connection):
    """One WebSocket; each operation uses the schema that is current when it starts."""

    def __init__(self, socket: WebSocket, endpoint: OntologyEndpoint, max_operations: int) -> None:
        super().__init__(socket, endpoint.admission, max_operations)
        self.endpoint = endpoint

    async def _results(self, id: str, graphql_request: GraphQLRequest, principal: Principal) -> bool:
        live = await self.endpoint.current(self.socket.path_params["ontology"], principal)
        self.admission, self.operations = live.endpoint.admission, live.endpoint.operations
        return await super()._results(id, graphql_request, principal)
