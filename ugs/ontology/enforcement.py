"""Enforcement: checks the events of plain graph commands against the enforced ontologies before they are recorded.

OFF checks nothing, WARN adds warnings to the result, STRICT refuses the command. With several enforced ontologies an
event is accepted if one of them accepts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ugs.errors import UgsError
from ugs.events import Event
from ugs.feature import CommandWarning
from ugs.graph.events import edges_of
from ugs.graph.model import CONFIG_NODE, EDGES, NODES, Edge, Node
from ugs.ontology.definition import Ontology, list_ontologies
from ugs.ontology.model import ONTOLOGIES, Enforcement
from ugs.ontology.properties import Owner, check_complete, check_values
from ugs.reads.filters import Compare, Op
from ugs.unit_of_work import UnitOfWork

ENFORCED = Compare("enforcement", Op.NE, Enforcement.OFF.value)
REVIEWED = frozenset({"NodeAdded", "NodeUpdated", "EdgeAdded", "EdgeUpdated"})
SETTINGS = frozenset({CONFIG_NODE, "_user_prefs"})
"""Nodes that hold settings of this system (INV-5); no ontology describes them."""


def review_is_noop(uow: UnitOfWork) -> bool:
    """Whether it is already known, without a read, that no ontology is enforced."""
    return uow.is_known_empty(ONTOLOGIES, ENFORCED)


async def review(uow: UnitOfWork, events: Sequence[Event]) -> list[CommandWarning]:
    """Check what a command is about to record: raises in STRICT mode, returns warnings in WARN mode."""
    # Stores beside the graph, such as that of the keys, have no table of ontologies, and no such events either.
    if not any(event.type in REVIEWED for event in events) or uow.is_known_empty(ONTOLOGIES, ENFORCED):
        return []
    ours = [event for event in events if event.type in REVIEWED and event.element not in SETTINGS]
    if not ours:
        return []
    ontologies = await list_ontologies(uow, ENFORCED)
    if not ontologies:
        return []
    strict = any(ontology.enforcement is Enforcement.STRICT for ontology in ontologies)
    warnings = []
    for event in ours:
        error = await _find_objection(uow, ontologies, event)
        if error is not None and strict:
            raise error
        if error is not None:
            warnings.append(CommandWarning("W011", f"{error.code}: {error.message}", event.element))
    return warnings


async def _find_objection(uow: UnitOfWork, ontologies: Sequence[Ontology], event: Event) -> UgsError | None:
    """The first ontology's error if no ontology accepts the event; None if one does."""
    found: UgsError | None = None
    for ontology in ontologies:
        try:
            await _check(uow, ontology, event)
        except UgsError as error:
            found = found or error
        else:
            return None
    return found


async def _check(uow: UnitOfWork, ontology: Ontology, event: Event) -> None:
    id = event.element or ""
    if event.type in ("NodeAdded", "NodeUpdated"):
        node: Node | None = await uow.find(NODES, id)
        if node is not None:
            ontology.check_node_type(node.type)
            _check_defined(ontology, Owner.NODE, node)
            if event.type == "NodeUpdated" and "type" in event.payload:
                await _check_connections_of(uow, ontology, node)
        return
    edge: Edge | None = await uow.find(EDGES, id)
    if edge is not None:
        await _check_edge(uow, ontology, edge)


async def _check_connections_of(uow: UnitOfWork, ontology: Ontology, node: Node) -> None:
    """Check the existing connections of a node whose type changes: they must fit the new type."""
    for edge in await uow.fetch(EDGES, edges_of(node.id)):
        await _check_edge(uow, ontology, edge)


async def _check_edge(uow: UnitOfWork, ontology: Ontology, edge: Edge) -> None:
    type = ontology.connection_type(edge.type)
    ends: list[Any] = [await uow.find(NODES, end) for end in (edge.source, edge.target)]
    type.check_ends(*(None if end is None else end.type for end in ends))
    type.check_properties(edge.properties)
    _check_defined(ontology, Owner.CONNECTION, edge)


def _check_defined(ontology: Ontology, owner: Owner, element: Node | Edge) -> None:
    """Check an element's properties against the property definitions of its type."""
    definitions = ontology.definitions(owner, element.type)
    if definitions:
        check_complete(element.type or "", owner, definitions, element.properties)
        check_values(definitions, element.properties)
