"""The schema for clients that want it in a form of their own: Relay, and Apollo Federation 2.

As a subgraph it has `_service`, and `_entities` for everything that has a global id.

A schema of its own (setting `federation`), so that the ordinary one is what schema.graphql shows. An entity is found as
`nodes` finds it, with the rights of whoever asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, NewType

import strawberry

from ugs.errors import InvalidSyntax
from ugs_schema.context import Info
from ugs_schema.facts.types import Entity, Fact, Note
from ugs_schema.facts.vocabulary import Predicate
from ugs_schema.graph.events import Event
from ugs_schema.graph.queries import check_count, find_all_identified
from ugs_schema.graph.types import GraphEdge, GraphNode
from ugs_schema.ontologies.types import Ontology
from ugs_schema.programs.types import Program

LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])\n\n'
NODE_AT = "  node(id: ID!, at: At = null): Node"
ENTITY = re.compile(r"^type (\w+) implements ((?:\w+ & )*Node(?: & \w+)*) \{", re.MULTILINE)
SHAREABLE = re.compile(r"^type (PageInfo) \{", re.MULTILINE)
"""Types that other subgraphs are likely to have, too, with the same fields."""

Representation = NewType("Representation", object)


def parse_representation(value: Any) -> Mapping[str, Any]:
    """The type and the key of an entity, as a router sends them."""
    if not isinstance(value, Mapping) or not all(isinstance(value.get(name), str) for name in ("__typename", "id")):
        raise InvalidSyntax("A representation is an object with __typename and id")
    return value


REPRESENTATION = strawberry.scalar(
    name="_Any", description="The type and the key of an entity", serialize=dict, parse_value=parse_representation
)

AnyEntity = Annotated[
    GraphNode | GraphEdge | Entity | Fact | Note | Predicate | Program | Ontology | Event,
    strawberry.union("_Entity", description="What has a global id"),
]


@strawberry.type(name="_Service", description="This subgraph")
class Service:
    sdl: str = strawberry.field(description="The schema, with the keys of its entities")


@strawberry.type
class FederationQuery:
    @strawberry.field(name="_service", description="The schema as a subgraph")
    def federation_service(self, info: Info) -> Service:
        return Service(sdl=subgraph_sdl())

    @strawberry.field(
        name="_entities", description="Entities by type and id, in their order; null where there is none of the type"
    )
    async def federation_entities(self, info: Info, representations: list[Representation]) -> list[AnyEntity | None]:
        check_count(representations, "representations")
        wanted: list[Any] = representations
        found = await find_all_identified(info, [one["id"] for one in wanted], None)
        return [_of_type(found.get(one["id"]), one["__typename"]) for one in wanted]


def _of_type(found: Any, name: str) -> Any:
    """What was found, if it is of the type that was asked for."""
    is_wanted = found is not None and type(found).__strawberry_definition__.name == name
    return found if is_wanted else None


def relay_sdl(text: str) -> str:
    """The schema as Relay's compiler takes it: its `node` has one argument. Older states are asked for by `nodes`."""
    return text.replace(NODE_AT, "  node(id: ID!): Node")


@cache
def subgraph_sdl() -> str:
    """The ordinary schema with `@key` on every type that has a global id."""
    from ugs_schema import build_schema

    text = build_schema().as_str()
    keyed = ENTITY.sub(r'type \1 implements \2 @key(fields: "id") {', text)
    return LINK + SHAREABLE.sub(r"type \1 @shareable {", keyed) + "\n"
