"""Prefetch for a group of commands or events: the content rows they will read, loaded in a few statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ugs.events import Event
from ugs.feature import Command
from ugs.graph.batches import Batch, ClearScope, ImportGraph, in_scope, operations_in
from ugs.graph.commands import AddEdge, AddNode, Delete, Update
from ugs.graph.content import NewContent
from ugs.graph.events import edges_of, prepare
from ugs.graph.model import EDGES, NODES
from ugs.graph.prefetch import ADDING, identifiers
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.ontology.commands.memory import DeleteNode
from ugs.ontology.enforcement import ENFORCED
from ugs.ontology.events import mentions_content
from ugs.ontology.model import CONTENTS, ONTOLOGIES
from ugs.reads.filters import any_of
from ugs.unit_of_work import UnitOfWork

ENDS = frozenset({"NodeDeleted", "EdgeDeleted"})


async def prepare_group(uow: UnitOfWork, commands: Sequence[Command]) -> None:
    """Load the content rows that a group of commands deletes or replaces, and for plain additions whether any ontology
    is enforced.
    """
    if _only_add(commands):
        # Nearly always: what is new and says nothing. Where no ontology is enforced, it can be decided at once.
        await uow.fetch(ONTOLOGIES, ENFORCED)
        return
    if uow.session.in_process:
        return
    known = identifiers(command.node_id for command in commands if isinstance(command, DeleteNode))
    await prepare(uow, known, known)
    deleted = [operation for operation in operations_in(commands) if isinstance(operation, Delete)]
    nodes = known + identifiers(operation.id for operation in deleted if operation.kind != "edge")
    ids = dict.fromkeys([*nodes, *identifiers(operation.id for operation in deleted)])
    for id in nodes:
        # The graph has loaded these edges already: the unit of work answers from its cache.
        ids.update(dict.fromkeys(edge.id for edge in await uow.fetch(EDGES, edges_of(id))))
    for command in commands:
        if isinstance(command, ClearScope):
            ids.update(dict.fromkeys(await _ids_in_command(uow, command)))
    ids.update(dict.fromkeys(identifiers(_ids_with_content(commands))))
    await load_contents(uow, [*ids])


def _only_add(commands: Sequence[Any]) -> bool:
    """Whether the commands only add elements without content."""
    operations: list[Any] = [command for command in commands if type(command) is not Batch]
    operations += [each for command in commands if type(command) is Batch for each in command.operations]
    return set(map(type, operations)).issubset(ADDING) and all([each.content is None for each in operations])


def _ids_with_content(commands: Sequence[Command]) -> Iterator[Any]:
    """The ids of elements to which the commands give content."""
    for operation in operations_in(commands):
        if isinstance(operation, AddNode | AddEdge | Update) and isinstance(operation.content, NewContent):
            yield operation.id
    for command in commands:
        if isinstance(command, ImportGraph):
            records: Sequence[Any] = (*command.nodes, *command.edges)
            yield from (raw.get("id") for raw in records if isinstance(raw, dict) and "content" in raw)


async def _ids_in_command(uow: UnitOfWork, command: ClearScope) -> list[str]:
    nodes = await uow.fetch(NODES, in_scope(command.scope))
    edges = await uow.fetch(EDGES, any_of(*(in_scope(command.scope, field) for field in ("id", "source", "target"))))
    return [row.id for row in (*nodes, *edges)]


async def load_contents(uow: UnitOfWork, ids: Sequence[str]) -> None:
    await uow.prefetch((table, id) for id in ids for table in (CONTENTS, CONTENT_BODIES))


async def prepare_replay(uow: UnitOfWork, events: Sequence[Event]) -> None:
    """Load the content rows that a batch of replayed events deletes or replaces."""
    touched = (event for event in events if event.type in ENDS or mentions_content(event.data))
    await load_contents(uow, [event.element for event in touched if event.element])
