"""GraphQL types of predicates and aliases, and the enums of facts."""

from __future__ import annotations

from enum import Enum
from typing import Any

import strawberry

from ugs.facts import model
from ugs.facts.commands.predicates import level_of
from ugs.facts.model import PREDICATE_ALIASES
from ugs.facts.temporal.instants import datetime_of, instant_of
from ugs.reads.plan import Order
from ugs_schema.facts.loaders import FactsLoader, RelatedLookup
from ugs_schema.graph.types import Identified
from ugs_schema.scalars import Instant, Uuid


@strawberry.enum(description="How many values a predicate has at a time")
class Cardinality(Enum):
    SINGLE = strawberry.enum_value("single", description="One: a newer fact takes the place of the older")
    MULTI = strawberry.enum_value("multi", description="Any number")


@strawberry.enum(description="How far a predicate is trusted")
class PredicateStatus(Enum):
    PENDING = strawberry.enum_value("pending", description="Registered by use; nobody has looked at it yet")
    ACTIVE = strawberry.enum_value("active", description="In order")
    DEPRECATED = strawberry.enum_value("deprecated", description="Still understood, no longer to be used")


@strawberry.enum(description="Where a predicate is known")
class PredicateLevel(Enum):
    TENANT_PROJECT = strawberry.enum_value("tenant_project", description="In one project of one tenant")
    PROJECT = strawberry.enum_value("project", description="In a project, for all tenants")
    GLOBAL = strawberry.enum_value("global", description="Everywhere")


@strawberry.enum(description="Where an instant lies in the life of a fact")
class FactState(Enum):
    CURRENT = strawberry.enum_value("current", description="It holds")
    HISTORICAL = strawberry.enum_value("historical", description="It has ended")
    FUTURE = strawberry.enum_value("future", description="It has not begun")


def moment(instant: int) -> Instant:
    return Instant(datetime_of(instant))


def parse_instant_or_now(value: Any, loader: FactsLoader) -> int:
    """The instant of an argument, or the loader's current time."""
    return loader.moment if value is None else instant_of(value, "asOf")


@strawberry.type(description="Another name of an entity")
class EntityAlias:
    alias_id: Uuid = strawberry.field(description="Its id")
    alias: str = strawberry.field(description="As it was written last")
    alias_norm: str = strawberry.field(description="Trimmed, collapsed, lower case")
    created_at: Instant = strawberry.field(description="Since when it is known")


@strawberry.type(description="Another way to say a predicate")
class PredicateAlias:
    alias_id: Uuid = strawberry.field(description="Its id")
    scope_key: str = strawberry.field(description="Where it is understood")
    alias: str = strawberry.field(description="As it was written last")
    alias_norm: str = strawberry.field(description="Trimmed, collapsed, lower case")
    created_at: Instant = strawberry.field(description="Since when it is known")


@strawberry.type(description="A word of the controlled vocabulary")
class Predicate(Identified):
    row: strawberry.Private[model.Predicate]
    loader: strawberry.Private[FactsLoader]

    @strawberry.field(description="Its own id")
    def predicate_id(self) -> Uuid:
        return Uuid(self.row.predicate_id)

    @strawberry.field(description="Where it is understood, as a key")
    def scope_key(self) -> str:
        return self.row.scope_key

    @strawberry.field(description="Where it is understood")
    def level(self) -> PredicateLevel:
        return PredicateLevel(level_of(self.row.scope_key))

    @strawberry.field(description="The tenant it belongs to; null when it is shared")
    def tenant_id(self) -> str | None:
        return self.row.tenant_id

    @strawberry.field(description="The project it belongs to; null when it is global")
    def project_id(self) -> str | None:
        return self.row.project_id

    @strawberry.field(description="Its name")
    def canonical(self) -> str:
        return self.row.canonical

    @strawberry.field(description="Its name trimmed, collapsed and in lower case")
    def canonical_norm(self) -> str:
        return self.row.canonical_norm

    @strawberry.field(description="How many values it has at a time")
    def cardinality(self) -> Cardinality:
        return Cardinality(self.row.cardinality)

    @strawberry.field(description="How far it is trusted")
    def status(self) -> PredicateStatus:
        return PredicateStatus(self.row.status)

    @strawberry.field(description="All ways to say it, oldest first")
    async def aliases(self) -> list[PredicateAlias]:
        order = (Order("created_at"), Order("alias_norm"))
        rows, _ = await self.loader.find_many(
            RelatedLookup(PREDICATE_ALIASES, "predicate_id", order=order), self.row.predicate_id
        )
        return [
            PredicateAlias(
                alias_id=Uuid(row.alias_id),
                scope_key=row.scope_key,
                alias=row.alias,
                alias_norm=row.alias_norm,
                created_at=moment(row.created_at),
            )
            for row in rows
        ]

    @strawberry.field(description="Since when it is known")
    def created_at(self) -> Instant:
        return moment(self.row.created_at)

    @strawberry.field(description="When its settings changed last")
    def updated_at(self) -> Instant:
        return moment(self.row.updated_at)


def get_enum_value(selected_field: Any) -> str | None:
    """The kernel's value of an optional enum argument."""
    return None if selected_field is None else str(selected_field.value)


def to_graphql_predicate(row: Any, loader: FactsLoader) -> Predicate:
    return Predicate(id=strawberry.ID(f"predicate/{row.predicate_id}"), row=row, loader=loader)
