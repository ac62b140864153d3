"""The ontologies of a request, read once however many nodes ask for theirs."""

from __future__ import annotations

import asyncio

from schema.context import Info
from schema.ontology_types import Ontology, shown_ontology
from ugs.moments import At
from ugs.ontology import definition


async def ontology_of_type(info: Info, type: str | None, at: At | None) -> Ontology | None:
    """The first ontology by name that knows a node type."""
    kept = info.context.kept
    if ("ontologies", at) not in kept:
        # A task, so that all who ask while it is being read wait for the same one.
        kept["ontologies", at] = asyncio.ensure_future(_ontologies(info, at))
    found = await asyncio.shield(kept["ontologies", at])
    return next((shown_ontology(one) for one in found if type in one.node_types), None)


async def _ontologies(info: Info, at: At | None) -> list[definition.Ontology]:
    async with info.context.system.session_at(at) as session:
        return await definition.list_ontologies(session)
