"""What can be asked of the graph, and how each request is decided.

A decision reads through the desk, refuses with a coded error, or answers with drafts of events. It changes nothing
itself; whoever called it stages the drafts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Raw, UnsetType

from ugs.desk import Desk
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
from ugs.feature import Command, Decision, Warned
from ugs.graph.content import NewContent, told_content
from ugs.graph.events import EDGE_COUNTER, NODE_COUNTER, edges_of
from ugs.graph.model import COUNTERS, EDGES, NODES, TOMBSTONES, Edge, Element, Node
from ugs.identity import check_identifier
from ugs.reads.plan import Order
from ugs.values import Json, check_key, check_type, check_value, check_weight, data_text, properties_text

BY_SEQUENCE = (Order("seq"),)
CLAIMING = (NODES, EDGES, TOMBSTONES)
"""Where an id may have been used."""


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


class Update(Command, frozen=True):
    """Change a node or an edge: merge, append to and remove properties, replace type, data or weight."""

    id: str
    kind: str = "any"
    """`node`, `edge`, or `any` as the command line's update."""
    type: str | UnsetType | None = UNSET
    properties: dict[str, Any] = {}
    append: dict[str, Any] = {}
    remove: tuple[str, ...] = ()
    data: Any = UNSET
    weight: Any = UNSET
    expected_version: int | None = None
    content: NewContent | UnsetType | None = UNSET
    """What it shall say; nothing takes the content away."""


class Delete(Command, frozen=True):
    """Remove a node with its edges, or an edge."""

    id: str
    kind: str = "any"
    expected_version: int | None = None


Operation = AddNode | AddEdge | Update | Delete
"""What changes one element (and, when a node goes, its edges)."""
SINGLE = (AddNode, AddEdge, Update, Delete)
"""The same, to be asked for: every command of every group is."""


class SetEdgeCounter(Command, frozen=True):
    """Lift the number from which edge ids are generated; it never falls."""

    value: int


async def find_element(desk: Desk, id: str, kind: str = "any") -> Element | None:
    """The node or edge under an id; the node wins where a foreign log holds both."""
    node: Node | None = await desk.find(NODES, id) if kind != "edge" else None
    if node is not None or kind == "node":
        return node
    edge: Edge | None = await desk.find(EDGES, id)
    return edge


async def _first_version(desk: Desk, id: str, expected: int | None) -> int:
    """The version with which the life of a new element begins; an id that is taken is refused."""
    if expected is None and desk.is_unused(id, CLAIMING):
        return 1
    element = await desk.find(NODES, id) or await desk.find(EDGES, id)
    if element is not None or expected is not None:
        check_version(id, expected, element)
    if element is not None:
        raise NodeExists(id) if isinstance(element, Node) else EdgeExists(id)
    grave = await desk.find(TOMBSTONES, id)
    return 1 if grave is None else grave.version + 1


def check_version(id: str, expected: int | None, element: Element | None) -> None:
    """Refuse when the caller looked at another version; 0 means that nothing may be there."""
    current = None if element is None else element.version
    if expected is not None and expected != (current or 0):
        raise VersionConflict(id, expected, current)


async def generated_id(desk: Desk, name: str) -> str:
    """The next free `<name>_<n>`, above every number ever issued."""
    counter = await desk.find(COUNTERS, name)
    number = 1 if counter is None else counter.value + 1
    while await find_element(desk, f"{name}_{number}") is not None:
        number += 1
    return f"{name}_{number}"


async def add_node(command: AddNode, desk: Desk) -> Decision:
    """Decide what happens when someone asks for a new node."""
    id = check_identifier(command.id) if command.id is not None else await generated_id(desk, NODE_COUNTER)
    properties, payload = properties_text(command.properties), data_text(command.data)
    version = await _first_version(desk, id, command.expected_version)
    data: dict[str, Json] = {
        "id": id,
        "type": check_type(command.type),
        "properties": Raw(properties),
        "data": None if payload is None else Raw(payload),
        "created": desk.now,
        "modified": desk.now,
    }
    if command.content is not None:
        data["content"] = await told_content(command.content, desk)
    return Decision([Draft("NodeAdded", id, data, version)])


async def add_edge(command: AddEdge, desk: Desk) -> Decision:
    """Decide what happens when someone asks for a new edge."""
    id = check_identifier(command.id) if command.id is not None else await generated_id(desk, EDGE_COUNTER)
    source, target = check_identifier(command.source, "source"), check_identifier(command.target, "target")
    properties = properties_text(command.properties)
    weight = check_weight(command.weight)
    version = await _first_version(desk, id, command.expected_version)
    missing = [end for end in dict.fromkeys((source, target)) if await desk.find(NODES, end) is None]
    if missing and command.strict:
        raise EndpointMissing(id, missing)
    data: dict[str, Json] = {
        "id": id,
        "from": source,
        "to": target,
        "type": check_type(command.type),
        "weight": weight,
        "properties": Raw(properties),
        "created": desk.now,
        "modified": desk.now,
    }
    if command.content is not None:
        data["content"] = await told_content(command.content, desk)
    warnings = [Warned("W001", f"endpoint missing: {end}", end) for end in missing]
    return Decision([Draft("EdgeAdded", id, data, version)], warnings)


async def required(desk: Desk, id: str, kind: str) -> Element:
    """The element a command names, or the error that fits the door it came through."""
    element = await find_element(desk, check_identifier(id), kind)
    if element is None:
        raise EdgeNotFound(id) if kind == "edge" else NodeNotFound(id)
    return element


async def update(command: Update, desk: Desk) -> Decision:
    """Decide what happens when someone changes a node or an edge."""
    element = await required(desk, command.id, command.kind)
    check_version(command.id, command.expected_version, element)
    is_node = isinstance(element, Node)
    data: dict[str, Json] = {"id": command.id}
    _change_properties(command, element, data)
    if command.type is not UNSET:
        data["type"] = check_type(command.type)
    _change_own_fields(command, is_node, data)
    if command.content is not UNSET:
        data["content"] = None if command.content is None else await told_content(command.content, desk)
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
    check_value(command.append, "append")
    have = element.properties
    changed = {**command.properties}
    for key, value in command.append.items():
        changed[key] = appended(changed.get(key, have.get(key, UNSET)), value)
    removed = [check_key(key, "remove") for key in command.remove if key in have and key not in changed]
    after = {key: value for key, value in {**have, **changed}.items() if key not in removed}
    properties_text(after)
    if changed:
        data["properties"] = changed
    if removed:
        data["removed"] = sorted(set(removed))


def appended(old: Json, value: Json) -> list[Json]:
    """`+key=value`: a missing property becomes a list, a scalar becomes the first of two (C-36)."""
    if old is UNSET:
        return [value]
    return [*old, value] if isinstance(old, list) else [old, value]


async def delete(command: Delete, desk: Desk) -> Decision:
    """Decide what happens when someone removes an element: a node takes its edges along."""
    element = await required(desk, command.id, command.kind)
    check_version(command.id, command.expected_version, element)
    if isinstance(element, Edge):
        return Decision([Draft("EdgeDeleted", element.id, {"id": element.id})])
    warnings = []
    if await desk.find(EDGES, command.id) is not None:
        warnings.append(Warned("W002", f"{command.id} names a node and an edge; the node was deleted", command.id))
    return Decision(await deletion_of(desk, element.id), warnings)


async def deletion_of(desk: Desk, id: str) -> list[Draft]:
    """The end of each edge in order of creation, then of the node."""
    edges = await desk.fetch(EDGES, edges_of(id), BY_SEQUENCE)
    ends = [Draft("EdgeDeleted", edge.id, {"id": edge.id}) for edge in edges]
    return [*ends, Draft("NodeDeleted", id, {"id": id})]


async def set_edge_counter(command: SetEdgeCounter, desk: Desk) -> Decision:
    """Decide whether the counter rises; a smaller value is ignored (C-29)."""
    if not 0 <= command.value < 10**18:
        raise InvalidSyntax(f"the edge counter must lie between 0 and 10^18, got {command.value}")
    counter = await desk.find(COUNTERS, EDGE_COUNTER)
    if counter is not None and counter.value >= command.value:
        return Decision([])
    return Decision([Draft("EdgeCounterSet", None, {"value": command.value})])


DECIDERS: Mapping[type[Command], Any] = {
    AddNode: add_node,
    AddEdge: add_edge,
    Update: update,
    Delete: delete,
    SetEdgeCounter: set_edge_counter,
}
