"""The commands of the graph and their deciders.

A decider reads through the unit of work (`uow`), and raises a coded error or returns drafts of events. It changes
nothing itself; its caller stages the drafts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from ugs.errors import (
    EdgeExists,
    EdgeNotFound,
    EndpointMissing,
    InvalidSyntax,
    NodeExists,
    NodeNotFound,
    VersionConflict,
)
from ugs.events import Draft
from ugs.feature import Command, CommandWarning, Decision
from ugs.graph.content import NewContent, prepare_content
from ugs.graph.events import EDGE_COUNTER, NODE_COUNTER, edges_of
from ugs.graph.model import COUNTERS, EDGES, NODES, TOMBSTONES, Edge, Element, Node
from ugs.identity import check_identifier
from ugs.reads.filters import Where, all_of, eq
from ugs.reads.plan import Order
from ugs.unit_of_work import UnitOfWork
from ugs.values import Json, check_key, check_type, check_value, check_weight, data_text, properties_text

BY_SEQUENCE = (Order("seq"),)
MAX_ELEMENT_CHARS = 16_384
"""Larger elements are left out of errors."""
ID_TABLES = (NODES, EDGES, TOMBSTONES)
"""The tables in which an id may be, or have been, in use."""


class AddNode(Command, frozen=True, gc=False):
    """Create a node; without an id it gets `node_<n>`."""

    id: str | None = None
    type: str | None = None
    properties: dict[str, Any] = {}
    data: Any = None
    expected_version: int | None = None
    content: NewContent | None = None


class AddEdge(Command, frozen=True, gc=False):
    """Create an edge; without an id it gets `edge_<n>`. Missing nodes are a warning, or an error when strict."""

    source: str
    target: str
    id: str | None = None
    type: str | None = None
    weight: Any = 1
    properties: dict[str, Any] = {}
    strict: bool = False
    expected_version: int | None = None
    content: NewContent | None = None


class UpsertNode(AddNode, frozen=True, gc=False):
    """Create a node, or change the one with this id: properties are merged, other values replaced where given."""


class UpsertEdge(AddEdge, frozen=True, gc=False):
    """Create an edge, or change the one with this id; without an id, the first one of this type between the nodes.

    A weight of None keeps that of the edge there is, and is 1 for a new one.
    """

    weight: Any = None


class Update(Command, frozen=True):
    """Change a node or an edge: merge, append to and remove properties, replace type, data or weight."""

    id: str
    kind: str = "any"
    """`node`, `edge`, or `any` as the command line's update."""
    type: str | UnsetType | None = UNSET
    properties: dict[str, Any] = {}
    append: dict[str, Any] | tuple[dict[str, Any], ...] = {}
    """Values to append by property; several objects are appended one after the other."""
    remove: tuple[str, ...] = ()
    data: Any = UNSET
    weight: Any = UNSET
    expected_version: int | None = None
    content: NewContent | UnsetType | None = UNSET
    """The new content; None removes it."""


class Delete(Command, frozen=True):
    """Remove a node with its edges, or an edge."""

    id: str
    kind: str = "any"
    expected_version: int | None = None


Operation = AddNode | AddEdge | Update | Delete
"""A command that changes one element (and the edges of a deleted node)."""
UPSERTS = (UpsertNode, UpsertEdge)
SINGLE = (AddNode, AddEdge, Update, Delete)
"""The same as a tuple for `isinstance`, which is checked for every command."""


class SetEdgeCounter(Command, frozen=True):
    """Raise the counter from which edge ids are generated; it never decreases."""

    value: int


async def find_element(uow: UnitOfWork, id: str, kind: str = "any") -> Element | None:
    """The node or edge with an id; the node wins if a foreign log has both."""
    node: Node | None = await uow.find(NODES, id) if kind != "edge" else None
    if node is not None or kind == "node":
        return node
    edge: Edge | None = await uow.find(EDGES, id)
    return edge


async def _first_version(uow: UnitOfWork, id: str, expected: int | None) -> int:
    """The first version of a new element, which continues after a tombstone; raises if the id is taken."""
    if expected is None and uow.is_unused(id, ID_TABLES):
        return 1
    element = await uow.find(NODES, id) or await uow.find(EDGES, id)
    if element is not None or expected is not None:
        check_version(id, expected, element)
    if element is not None:
        raise NodeExists(id) if isinstance(element, Node) else EdgeExists(id)
    grave = await uow.find(TOMBSTONES, id)
    return 1 if grave is None else grave.version + 1


def check_version(id: str, expected: int | None, element: Element | None) -> None:
    """Raise `VersionConflict` unless the element has the expected version; 0 means that it must not exist."""
    current = None if element is None else element.version
    if expected is not None and expected != (current or 0):
        raise VersionConflict(id, expected, current, None if element is None else describe_element(element))


def describe_element(element: Element) -> dict[str, Json] | None:
    """An element with its version for an error, so that a caller can retry at once; None for a large one."""
    if len(element.properties_text) + len(getattr(element, "data_text", None) or "") > MAX_ELEMENT_CHARS:
        return None
    return {**element.as_json(), "version": element.version}


async def generated_id(uow: UnitOfWork, name: str) -> str:
    """The next free `<name>_<n>`, above every number ever issued."""
    counter = await uow.find(COUNTERS, name)
    number = 1 if counter is None else counter.value + 1
    while await find_element(uow, f"{name}_{number}") is not None:
        number += 1
    return f"{name}_{number}"


async def add_node(command: AddNode, uow: UnitOfWork) -> Decision:
    """Decide the creation of a node."""
    id = check_identifier(command.id) if command.id is not None else await generated_id(uow, NODE_COUNTER)
    properties, payload = properties_text(command.properties), data_text(command.data)
    version = await _first_version(uow, id, command.expected_version)
    data: dict[str, Json] = {
        "id": id,
        "type": check_type(command.type),
        "properties": Raw(properties),
        "data": None if payload is None else Raw(payload),
        "created": uow.now,
        "modified": uow.now,
    }
    if command.content is not None:
        data["content"] = await prepare_content(command.content, uow)
    return Decision([Draft("NodeAdded", id, data, version)])


async def add_edge(command: AddEdge, uow: UnitOfWork) -> Decision:
    """Decide the creation of an edge."""
    id = check_identifier(command.id) if command.id is not None else await generated_id(uow, EDGE_COUNTER)
    source, target = check_identifier(command.source, "source"), check_identifier(command.target, "target")
    properties = properties_text(command.properties)
    weight = check_weight(command.weight)
    version = await _first_version(uow, id, command.expected_version)
    missing = [end for end in dict.fromkeys((source, target)) if await uow.find(NODES, end) is None]
    if missing and command.strict:
        raise EndpointMissing(id, missing)
    data: dict[str, Json] = {
        "id": id,
        "from": source,
        "to": target,
        "type": check_type(command.type),
        "weight": weight,
        "properties": Raw(properties),
        "created": uow.now,
        "modified": uow.now,
    }
    if command.content is not None:
        data["content"] = await prepare_content(command.content, uow)
    warnings = [CommandWarning("W001", f"endpoint missing: {end}", end) for end in missing]
    return Decision([Draft("EdgeAdded", id, data, version)], warnings)


async def required(uow: UnitOfWork, id: str, kind: str) -> Element:
    """The element that a command names; raises `EdgeNotFound` or `NodeNotFound`, by the kind requested."""
    element = await find_element(uow, check_identifier(id), kind)
    if element is None:
        raise EdgeNotFound(id) if kind == "edge" else NodeNotFound(id)
    return element


async def update(command: Update, uow: UnitOfWork) -> Decision:
    """Decide a change of a node or an edge; no event if nothing is to be changed."""
    element = await required(uow, command.id, command.kind)
    check_version(command.id, command.expected_version, element)
    is_node = isinstance(element, Node)
    data: dict[str, Json] = {"id": command.id}
    _change_properties(command, element, data)
    if command.type is not UNSET:
        data["type"] = check_type(command.type)
    _change_own_fields(command, is_node, data)
    if command.content is not UNSET:
        data["content"] = None if command.content is None else await prepare_content(command.content, uow)
    if len(data) == 1:
        return Decision([])
    name = "NodeUpdated" if is_node else "EdgeUpdated"
    return Decision([Draft(name, command.id, data, element.version + 1)])


def _change_own_fields(command: Update, is_node: bool, data: dict[str, Json]) -> None:
    if command.data is not UNSET:
        if not is_node:
            raise InvalidSyntax(f"{command.id} is an edge and has no data")
        data_text(command.data)
        data["data"] = command.data
    if command.weight is not UNSET:
        if is_node:
            raise InvalidSyntax(f"{command.id} is a node and has no weight")
        data["weight"] = check_weight(command.weight)


def _change_properties(command: Update, element: Element, data: dict[str, Json]) -> None:
    check_value(command.properties, "properties")
    rounds = (command.append,) if isinstance(command.append, dict) else command.append
    have = element.properties
    changed = {**command.properties}
    for values in rounds:
        check_value(values, "append")
        for key, value in values.items():
            changed[key] = appended(changed.get(key, have.get(key, UNSET)), value)
    removed = [check_key(key, "remove") for key in command.remove if key in have and key not in changed]
    after = {key: value for key, value in {**have, **changed}.items() if key not in removed}
    properties_text(after)
    if changed:
        data["properties"] = changed
    if removed:
        data["removed"] = sorted(set(removed))


def appended(old: Json, value: Json) -> list[Json]:
    """Append to a property (`+key=value`): a missing one becomes a list, a scalar a list of two (C-36)."""
    if old is UNSET:
        return [value]
    return [*old, value] if isinstance(old, list) else [old, value]


async def upsert_node(command: UpsertNode, uow: UnitOfWork) -> Decision:
    """Decide an upsert of a node, by what there is at that moment."""
    there = None if command.id is None else await find_element(uow, check_identifier(command.id), "node")
    return await add_node(command, uow) if there is None else await update(_to_update(command, there, "node"), uow)


async def upsert_edge(command: UpsertEdge, uow: UnitOfWork) -> Decision:
    """Decide an upsert of an edge; its ends cannot be changed."""
    there = await find_upserted_edge(command, uow)
    if there is None:
        return await add_edge(replace(command, weight=1) if command.weight is None else command, uow)
    if (there.source, there.target) != (command.source, command.target):
        raise EdgeExists(there.id)
    return await update(_to_update(command, there, "edge"), uow)


async def find_upserted_edge(command: UpsertEdge, uow: UnitOfWork) -> Edge | None:
    """The edge that an upsert changes: by its id, or the first one of its type between its nodes."""
    if command.id is not None:
        edge: Edge | None = await uow.find(EDGES, check_identifier(command.id))
        return edge
    ends = check_identifier(command.source, "source"), check_identifier(command.target, "target")
    edges: list[Edge] = await uow.fetch(EDGES, between(*ends, check_type(command.type)), BY_SEQUENCE)
    return edges[0] if edges else None


def between(source: str, target: str, type: str | None) -> Where:
    """The condition for edges of a type from one node to another."""
    return all_of(eq("source", source), eq("target", target), eq("type", type))


def _to_update(command: UpsertNode | UpsertEdge, element: Element, kind: str) -> Update:
    """The change that an upsert makes of the element there is."""
    data = getattr(command, "data", None)
    weight = getattr(command, "weight", None)
    kept = weight is None or weight == getattr(element, "weight", None)
    return Update(
        element.id,
        kind,
        type=UNSET if command.type in (None, element.type) else command.type,
        properties=command.properties,
        data=UNSET if data is None else data,
        weight=UNSET if kept else weight,
        expected_version=command.expected_version,
        content=UNSET if command.content is None else command.content,
    )


async def delete(command: Delete, uow: UnitOfWork) -> Decision:
    """Decide the deletion of an element; a node is deleted with its edges."""
    element = await required(uow, command.id, command.kind)
    check_version(command.id, command.expected_version, element)
    if isinstance(element, Edge):
        return Decision([Draft("EdgeDeleted", element.id, {"id": element.id})])
    warnings = []
    if await uow.find(EDGES, command.id) is not None:
        warnings.append(
            CommandWarning("W002", f"{command.id} names a node and an edge; the node was deleted", command.id)
        )
    return Decision(await deletion_of(uow, element.id), warnings)


async def deletion_of(uow: UnitOfWork, id: str) -> list[Draft]:
    """The deletion of each edge in order of creation, then of the node."""
    edges = await uow.fetch(EDGES, edges_of(id), BY_SEQUENCE)
    ends = [Draft("EdgeDeleted", edge.id, {"id": edge.id}) for edge in edges]
    return [*ends, Draft("NodeDeleted", id, {"id": id})]


async def set_edge_counter(command: SetEdgeCounter, uow: UnitOfWork) -> Decision:
    """Decide a rise of the edge counter; a smaller value is ignored (C-29)."""
    if not 0 <= command.value < 10**18:
        raise InvalidSyntax(f"the edge counter must lie between 0 and 10^18, got {command.value}")
    counter = await uow.find(COUNTERS, EDGE_COUNTER)
    if counter is not None and counter.value >= command.value:
        return Decision([])
    return Decision([Draft("EdgeCounterSet", None, {"value": command.value})])


DECIDERS: Mapping[type[Command], Any] = {
    AddNode: add_node,
    AddEdge: add_edge,
    UpsertNode: upsert_node,
    UpsertEdge: upsert_edge,
    Update: update,
    Delete: delete,
    SetEdgeCounter: set_edge_counter,
}
