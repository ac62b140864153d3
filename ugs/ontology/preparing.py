"""Loading in a few statements what a group will look at: the content of whatever is about to be deleted or added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ugs.desk import Desk
from ugs.events import Event
from ugs.feature import Command
from ugs.graph.batches import Batch, ClearScope, ImportGraph, in_scope, operations_in
from ugs.graph.bodies import CONTENT_BODIES
from ugs.graph.commands import AddEdge, AddNode, Delete, Update
from ugs.graph.content import NewContent
from ugs.graph.events import edges_of, prepare
from ugs.graph.model import EDGES, NODES
from ugs.graph.preparing import ADDING, identifiers
from ugs.ontology.events import mentions_content
from ugs.ontology.model import CONTENTS, ONTOLOGIES
from ugs.ontology.remembering import DeleteNode
from ugs.ontology.reviewing import ENFORCED
from ugs.reads.where import any_of

ENDS = frozenset({"NodeDeleted", "EdgeDeleted"})


async def prepare_group(desk: Desk, commands: Sequence[Command]) -> None:
    """Load the content of what the commands of a group will delete, and what they give content to; for plain new
    elements, whether an ontology is enforced."""
    if _only_add(commands):
        # Nearly always: what is new and says nothing. Where no ontology is enforced, it can be decided at once.
        await desk.fetch(ONTOLOGIES, ENFORCED)
        return
    if desk.session.near:
        return
    known = identifiers(command.node_id for command in commands if isinstance(command, DeleteNode))
    await prepare(desk, known, known)
    deleted = [operation for operation in operations_in(commands) if isinstance(operation, Delete)]
    nodes = known + identifiers(operation.id for operation in deleted if operation.kind != "edge")
    ids = dict.fromkeys([*nodes, *identifiers(operation.id for operation in deleted)])
    for id in nodes:
        # The graph has loaded these edges already: the desk answers from what it knows.
        ids.update(dict.fromkeys(edge.id for edge in await desk.fetch(EDGES, edges_of(id))))
    for command in commands:
        if isinstance(command, ClearScope):
            ids.update(dict.fromkeys(await _inside(desk, command)))
    ids.update(dict.fromkeys(identifiers(_speaking(commands))))
    await load_contents(desk, [*ids])


def _only_add(commands: Sequence[Any]) -> bool:
    """Whether commands do nothing but add elements that say nothing."""
    operations: list[Any] = [command for command in commands if type(command) is not Batch]
    operations += [each for command in commands if type(command) is Batch for each in command.operations]
    return set(map(type, operations)).issubset(ADDING) and all([each.content is None for each in operations])


def _speaking(commands: Sequence[Command]) -> Iterator[Any]:
    """Whatever the commands give as ids of elements that shall say something."""
    for operation in operations_in(commands):
        if isinstance(operation, AddNode | AddEdge | Update) and isinstance(operation.content, NewContent):
            yield operation.id
    for command in commands:
        if isinstance(command, ImportGraph):
            records: Sequence[Any] = (*command.nodes, *command.edges)
            yield from (raw.get("id") for raw in records if isinstance(raw, dict) and "content" in raw)


async def _inside(desk: Desk, command: ClearScope) -> list[str]:
    nodes = await desk.fetch(NODES, in_scope(command.scope))
    edges = await desk.fetch(EDGES, any_of(*(in_scope(command.scope, field) for field in ("id", "source", "target"))))
    return [row.id for row in (*nodes, *edges)]


async def load_contents(desk: Desk, ids: Sequence[str]) -> None:
    await desk.prefetch((table, id) for id in ids for table in (CONTENTS, CONTENT_BODIES))


async def prepare_replay(desk: Desk, events: Sequence[Event]) -> None:
    """Load the content of what a stretch of the log deletes, and what it gives content to."""
    touched = (event for event in events if event.type in ENDS or mentions_content(event.data))
    await load_contents(desk, [event.element for event in touched if event.element])
