"""Import of a memory that another program kept: its ontology, nodes and connections with their own ids and times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ugs.errors import LimitExceeded
from ugs.events import Draft
from ugs.feature import Command, Decision
from ugs.graph.batches import MAX_EVENTS
from ugs.graph.commands import AddEdge, AddNode, add_edge, add_node
from ugs.graph.content import NewContent
from ugs.ontology.commands.memory import check_properties
from ugs.ontology.commands.ontologies import CreateOntology, create_ontology
from ugs.ontology.errors import InvalidArgument
from ugs.unit_of_work import UnitOfWork


class ImportedElement(Struct, frozen=True):
    """One imported node or connection."""

    id: str
    type: str
    created: int
    modified: int
    properties: dict[str, Any] = {}
    content: NewContent | None = None
    source: str | None = None
    target: str | None = None


class ImportMemory(Command, frozen=True):
    """Import a whole memory into a system that is still empty."""

    ontology: CreateOntology | None
    nodes: tuple[ImportedElement, ...] = ()
    connections: tuple[ImportedElement, ...] = ()


async def import_memory(command: ImportMemory, uow: UnitOfWork) -> Decision:
    """Decide the import: all records become events, or the command is refused and nothing is stored."""
    if uow.head.position:
        raise InvalidArgument("a memory is taken over only into a store that holds nothing yet")
    if len(command.nodes) + len(command.connections) >= MAX_EVENTS:
        raise LimitExceeded(
            f"a memory of more than {MAX_EVENTS} records cannot be taken over at once", limit=MAX_EVENTS
        )
    warnings = []
    if command.ontology is not None:
        made = await create_ontology(command.ontology, uow)
        await uow.stage(made.drafts)
        warnings += made.warnings
    for one in (*command.nodes, *command.connections):
        await uow.stage([await _to_draft(one, uow)])
    return Decision([], warnings)


async def _to_draft(one: ImportedElement, uow: UnitOfWork) -> Draft:
    """The event that recreates a record with its original times."""
    properties = check_properties(one.properties)
    if not 0 <= one.created <= one.modified:
        raise InvalidArgument(f"{one.id[:80]}: created must not be later than modified", id=one.id[:80])
    if one.source is None or one.target is None:
        add = AddNode(id=one.id, type=one.type, properties=properties, content=one.content)
        [draft] = (await add_node(add, uow)).drafts
    else:
        edge = AddEdge(
            id=one.id,
            source=one.source,
            target=one.target,
            type=one.type,
            properties=properties,
            content=one.content,
            strict=True,
        )
        [draft] = (await add_edge(edge, uow)).drafts
    data = {**draft.data, "created": one.created, "modified": one.modified}
    return Draft(draft.type, draft.element, data, draft.version)


DECIDERS: Mapping[type[Command], Any] = {ImportMemory: import_memory}
