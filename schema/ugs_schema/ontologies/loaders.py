"""The ontologies of a request, read once for all nodes that show theirs."""

from __future__ import annotations

import asyncio

from ugs.log.at import At
from ugs.ontology import definition
from ugs_schema.context import Info
from ugs_schema.ontologies.types import Ontology, to_graphql_ontology


async def find_ontology_of_type(info: Info, type: str | None, at: At | None) -> Ontology | None:
    """The first ontology by name that defines a node type."""
    kept = info.context.kept
    if ("ontologies", at) not in kept:
        # A task, so that concurrent resolvers wait for the same read.
        kept["ontologies", at] = asyncio.ensure_future(_read_ontologies(info, at))
    found = await asyncio.shield(kept["ontologies", at])
    return next((to_graphql_ontology(one) for one in found if type in one.node_types), None)


async def _read_ontologies(info: Info, at: At | None) -> list[definition.Ontology]:
    async with info.context.system.session_at(at) as session:
        return await definition.list_ontologies(session)
