"""Root fields for API keys of the store, for admins: create, list, revoke. Hashes of keys are never shown.

Keys have no global id, no subscription and no time travel: their events are not in the graph's log.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import strawberry

from ugs.errors import Forbidden, InvalidSyntax
from ugs.identity import TENANT_ADMIN
from ugs.keys.api import CreatedKey, KeyRequest, Keyring
from ugs.keys.model import API_KEYS
from ugs.keys.model import ApiKey as KernelKey
from ugs.reads.cursors import cursor_of
from ugs.reads.level_executor import one_more, without_extra
from ugs.reads.plan import Order, paged
from ugs_schema.context import Info
from ugs_schema.graph.inputs import MUTATION_ID_DESCRIPTION, RETRY_DESCRIPTION
from ugs_schema.pagination import PageInfo, build_page_info, parse_page
from ugs_schema.scalars import Instant, instant_of

OLDEST_FIRST = (Order("created_at"), Order("id"))


@strawberry.enum(description="What somebody may do")
class Role(Enum):
    READER = strawberry.enum_value("reader", description="Read the graph")
    WRITER = strawberry.enum_value("writer", description="Read and change the graph")
    ADMIN = strawberry.enum_value("admin", description="Also what concerns the whole system")


@strawberry.type(description="A key that lets somebody in; the key itself was shown once, when it was made")
class ApiKey:
    row: strawberry.Private[KernelKey]
    now: strawberry.Private[int]

    @strawberry.field(description="Its id, which also stands in the key, behind ugsk_")
    def id(self) -> strawberry.ID:
        return strawberry.ID(self.row.id)

    @strawberry.field(description="What it is for")
    def name(self) -> str:
        return self.row.name

    @strawberry.field(description="Who comes in with it; events name them as their author")
    def user(self) -> str:
        return self.row.user

    @strawberry.field(description="What they may do")
    def roles(self) -> list[Role]:
        return [Role(role) for role in self.row.roles]

    @strawberry.field(description="Whose graph they see")
    def tenant(self) -> str:
        return self.row.tenant

    @strawberry.field(description="Their project, where a request names none")
    def project(self) -> str:
        return self.row.project

    @strawberry.field(description="Their agent, where a request names none")
    def agent(self) -> str:
        return self.row.agent

    @strawberry.field(description="When it was made")
    def created_at(self) -> Instant:
        return instant_of(self.row.created_at)

    @strawberry.field(description="When it ends; null: never by itself")
    def expires_at(self) -> Instant | None:
        return None if self.row.expires_at is None else instant_of(self.row.expires_at)

    @strawberry.field(description="When it was taken back; null: it was not")
    def revoked_at(self) -> Instant | None:
        return None if self.row.revoked_at is None else instant_of(self.row.revoked_at)

    @strawberry.field(description="Whether it opens anything now")
    def works(self) -> bool:
        return self.row.is_valid_at(self.now)


@strawberry.type(description="A key on a page, with the cursor behind it")
class ApiKeyEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: ApiKey = strawberry.field(description="The key")


@strawberry.type(description="A page of keys, oldest first")
class ApiKeyConnection:
    edges: list[ApiKeyEdge] = strawberry.field(description="The keys with their cursors")
    page_info: PageInfo = strawberry.field(description="Where the page stands")
    total_count: int = strawberry.field(description="How many there are in all")

    @strawberry.field(description="The keys alone")
    def nodes(self) -> list[ApiKey]:
        return [edge.node for edge in self.edges]


@strawberry.input(description="A new key")
class CreateApiKeyInput:
    name: str = strawberry.field(description="What it is for")
    roles: list[Role] = strawberry.field(default_factory=lambda: [Role.READER], description="What its holder may do")
    user: str | None = strawberry.field(default=None, description="Who comes in with it; as the key is called if left")
    tenant: str | None = strawberry.field(
        default=None, description="Whose graph it opens: the caller's own; admins of the tenant `default` may choose"
    )
    project: str = strawberry.field(default="default", description="The holder's project")
    agent: str = strawberry.field(default="default", description="The holder's agent")
    expires_at: Instant | None = strawberry.field(default=None, description="When it ends; never when left out")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION + ", without the token")
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="A key to take back")
class RevokeApiKeyInput:
    id: strawberry.ID = strawberry.field(description="Its id")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.type(description="What was done to a key")
class ApiKeyPayload:
    api_key: ApiKey = strawberry.field(description="The key as it is now")
    token: str | None = strawberry.field(
        description="The key itself, for `Authorization: Bearer`; told only once, when it is made"
    )
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type
class KeysQuery:
    @strawberry.field(
        description="API keys of the caller's tenant, oldest first; of all tenants for admins of `default`"
    )
    def api_keys(self, info: Info, first: int | None = None, after: str | None = None) -> ApiKeyConnection:
        keyring = get_keyring(info)
        page = parse_page({"first": first, "after": after}, API_KEYS, OLDEST_FIRST)
        known = keyring.list_keys(info.context.principal)
        rows, more = without_extra(paged(known, API_KEYS, OLDEST_FIRST, one_more(page)), page)
        cursors = [cursor_of(row, API_KEYS, OLDEST_FIRST) for row in rows]
        edges = [ApiKeyEdge(cursor=c, node=to_graphql_key(keyring, row)) for c, row in zip(cursors, rows, strict=True)]
        return ApiKeyConnection(edges=edges, page_info=build_page_info(page, more, cursors), total_count=len(known))


@strawberry.type
class KeysMutation:
    @strawberry.mutation(description="Make an API key; it is shown now and never again")
    async def create_api_key(self, info: Info, input: CreateApiKeyInput) -> ApiKeyPayload:
        keyring = get_keyring(info)
        created_key = await keyring.create(to_wanted(input), info.context.principal, input.idempotency_key)
        return build_payload(keyring, created_key, input)

    @strawberry.mutation(description="Take an API key back; from now on it opens nothing")
    async def revoke_api_key(self, info: Info, input: RevokeApiKeyInput) -> ApiKeyPayload:
        keyring = get_keyring(info)
        row = await keyring.revoke(input.id, info.context.principal, input.idempotency_key)
        return build_payload(keyring, CreatedKey(row, None), input)


def get_keyring(info: Info) -> Keyring:
    """The keyring; rejects callers who are not admins, and gateways without keys in the store."""
    if not {"admin", TENANT_ADMIN} & info.context.principal.roles:
        raise Forbidden("This needs the role admin")
    if info.context.keyring is None:
        raise InvalidSyntax("This gateway keeps no API keys in its store: set store_keys")
    return info.context.keyring


def to_wanted(input: CreateApiKeyInput) -> KeyRequest:
    ends = input.expires_at
    return KeyRequest(
        name=input.name,
        roles=tuple(str(role.value) for role in input.roles),
        user=input.user or "",
        tenant=input.tenant or "",
        project=input.project,
        agent=input.agent,
        expires_at=None if ends is None else int(ends.timestamp() * 1000),
    )


def to_graphql_key(keyring: Keyring, row: KernelKey) -> ApiKey:
    """The GraphQL object of a key, without its hash."""
    return ApiKey(row=row, now=keyring.system.clock.now())


def build_payload(keyring: Keyring, created_key: CreatedKey, input: Any) -> ApiKeyPayload:
    return ApiKeyPayload(
        api_key=to_graphql_key(keyring, created_key.key),
        token=created_key.token,
        client_mutation_id=input.client_mutation_id,
    )
