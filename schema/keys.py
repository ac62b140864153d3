"""API keys of the store, for admins: making them, listing them, taking them back. What is kept of a key never leaves.

They are no `Node`s, have no subscription and no past: they stand in no log that anybody can read here.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import strawberry

from schema.context import Info
from schema.inputs import MUTATION_ID, RETRY
from schema.paging import PageInfo, page_asked, page_info
from schema.scalars import Instant, instant_of
from ugs.errors import Forbidden, InvalidSyntax
from ugs.keyring import Keyring, Made, Wanted
from ugs.keys.model import API_KEYS
from ugs.keys.model import ApiKey as KernelKey
from ugs.reads.cursors import cursor_of
from ugs.reads.levels import one_more, without_extra
from ugs.reads.plan import Order, paged

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
        return self.row.works_at(self.now)


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
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY + ", without the token")
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.input(description="A key to take back")
class RevokeApiKeyInput:
    id: strawberry.ID = strawberry.field(description="Its id")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


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
        keyring = keyring_of(info)
        page = page_asked({"first": first, "after": after}, API_KEYS, OLDEST_FIRST)
        known = keyring.listed(info.context.principal)
        rows, more = without_extra(paged(known, API_KEYS, OLDEST_FIRST, one_more(page)), page)
        cursors = [cursor_of(row, API_KEYS, OLDEST_FIRST) for row in rows]
        edges = [ApiKeyEdge(cursor=c, node=shown_key(keyring, row)) for c, row in zip(cursors, rows, strict=True)]
        return ApiKeyConnection(edges=edges, page_info=page_info(page, more, cursors), total_count=len(known))


@strawberry.type
class KeysMutation:
    @strawberry.mutation(description="Make an API key; it is shown now and never again")
    async def create_api_key(self, info: Info, input: CreateApiKeyInput) -> ApiKeyPayload:
        keyring = keyring_of(info)
        made = await keyring.create(wanted_in(input), info.context.principal, input.idempotency_key)
        return payload(keyring, made, input)

    @strawberry.mutation(description="Take an API key back; from now on it opens nothing")
    async def revoke_api_key(self, info: Info, input: RevokeApiKeyInput) -> ApiKeyPayload:
        keyring = keyring_of(info)
        row = await keyring.revoke(input.id, info.context.principal, input.idempotency_key)
        return payload(keyring, Made(row, None), input)


def keyring_of(info: Info) -> Keyring:
    """The keys, for admins of a gateway that keeps them in its store."""
    if "admin" not in info.context.principal.roles:
        raise Forbidden("This needs the role admin")
    if info.context.keyring is None:
        raise InvalidSyntax("This gateway keeps no API keys in its store: set store_keys")
    return info.context.keyring


def wanted_in(input: CreateApiKeyInput) -> Wanted:
    ends = input.expires_at
    return Wanted(
        name=input.name,
        roles=tuple(str(role.value) for role in input.roles),
        user=input.user or "",
        tenant=input.tenant or "",
        project=input.project,
        agent=input.agent,
        expires_at=None if ends is None else int(ends.timestamp() * 1000),
    )


def shown_key(keyring: Keyring, row: KernelKey) -> ApiKey:
    """A key as GraphQL shows it: without its hash."""
    return ApiKey(row=row, now=keyring.system.clock.now())


def payload(keyring: Keyring, made: Made, input: Any) -> ApiKeyPayload:
    return ApiKeyPayload(
        api_key=shown_key(keyring, made.key), token=made.token, client_mutation_id=input.client_mutation_id
    )
