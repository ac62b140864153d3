"""Enforcement for the doors of the plain graph: what an ontology thinks of events that are about to be recorded.

OFF says nothing, WARN tells, STRICT refuses. With several enforced ontologies it is enough that one knows a type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ugs.desk import Desk
from ugs.errors import UgsError
from ugs.events import Event
from ugs.feature import Warned
from ugs.graph.events import edges_of
from ugs.graph.model import CONFIG_NODE, EDGES, NODES, Edge, Node
from ugs.ontology.definition import Ontology, list_ontologies
from ugs.ontology.model import ONTOLOGIES, Enforcement
from ugs.ontology.properties import Owner, check_complete, check_values
from ugs.reads.where import Compare, Op

ENFORCED = Compare("enforcement", Op.NE, Enforcement.OFF.value)
REVIEWED = frozenset({"NodeAdded", "NodeUpdated", "EdgeAdded", "EdgeUpdated"})
SETTINGS = frozenset({CONFIG_NODE, "_user_prefs"})
"""Nodes that say how this system behaves (INV-5). They are no part of what an ontology describes."""


def unconcerned(desk: Desk) -> bool:
    """Whether no ontology is enforced, as far as that is known without asking."""
    return desk.certainly_none(ONTOLOGIES, ENFORCED)


async def review(desk: Desk, events: Sequence[Event]) -> list[Warned]:
    """Look at what a command is about to record; refuse it, or say what is wrong with it."""
    ours = [event for event in events if event.type in REVIEWED and event.element not in SETTINGS]
    if not ours or desk.certainly_none(ONTOLOGIES, ENFORCED):
        return []
    ontologies = await list_ontologies(desk, ENFORCED)
    if not ontologies:
        return []
    strict = any(ontology.enforcement is Enforcement.STRICT for ontology in ontologies)
    warnings = []
    for event in ours:
        error = await _objection(desk, ontologies, event)
        if error is not None and strict:
            raise error
        if error is not None:
            warnings.append(Warned("W011", f"{error.code}: {error.message}", event.element))
    return warnings


async def _objection(desk: Desk, ontologies: Sequence[Ontology], event: Event) -> UgsError | None:
    """Why no ontology accepts the event; None when one does."""
    found: UgsError | None = None
    for ontology in ontologies:
        try:
            await _check(desk, ontology, event)
        except UgsError as error:
            found = found or error
        else:
            return None
    return found


async def _check(desk: Desk, ontology: Ontology, event: Event) -> None:
    id = event.element or ""
    if event.type in ("NodeAdded", "NodeUpdated"):
        node: Node | None = await desk.find(NODES, id)
        if node is not None:
            ontology.check_node_type(node.type)
            _check_defined(ontology, Owner.NODE, node)
            if event.type == "NodeUpdated" and "type" in event.payload:
                await _check_around(desk, ontology, node)
        return
    edge: Edge | None = await desk.find(EDGES, id)
    if edge is not None:
        await _check_edge(desk, ontology, edge)


async def _check_around(desk: Desk, ontology: Ontology, node: Node) -> None:
    """A node that becomes something else must still fit the connections it has."""
    for edge in await desk.fetch(EDGES, edges_of(node.id)):
        await _check_edge(desk, ontology, edge)


async def _check_edge(desk: Desk, ontology: Ontology, edge: Edge) -> None:
    type = ontology.connection_type(edge.type)
    ends: list[Any] = [await desk.find(NODES, end) for end in (edge.source, edge.target)]
    type.check_ends(*(None if end is None else end.type for end in ends))
    type.check_properties(edge.properties)
    _check_defined(ontology, Owner.CONNECTION, edge)


def _check_defined(ontology: Ontology, owner: Owner, element: Node | Edge) -> None:
    """Hold an element's properties to what the ontology says about them."""
    definitions = ontology.definitions(owner, element.type)
    if definitions:
        check_complete(element.type or "", owner, definitions, element.properties)
        check_values(definitions, element.properties)
