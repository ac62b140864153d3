"""Commands of typed memory: nodes with content, and connections that an ontology allows.

Stricter than the plain graph: types must be known, ends must exist and fit, properties are plain values and are only
ever merged. Everything is checked before anything is recorded.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from typing import Any, Protocol

from ugs.errors import UgsError
from ugs.events import Draft
from ugs.feature import Command, Decision
from ugs.graph.commands import AddEdge, AddNode, add_edge, add_node, check_version, deletion_of, find_element
from ugs.graph.content import (
    MARKDOWN,
    UTF8,
    checked,
    content_limit,
    validate_format,
)
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.ontology.acyclicity import refuse_cycle
from ugs.ontology.definition import find_ontology, get_ontology
from ugs.ontology.errors import (
    DEFAULT,
    ConnectionNotFound,
    InvalidArgument,
    InvalidEncoding,
    InvalidPropertyValue,
    MemoryNodeNotFound,
)
from ugs.ontology.model import CONTENTS, Content
from ugs.ontology.properties import Owner, check_complete, check_values, with_defaults
from ugs.unit_of_work import UnitOfWork
from ugs.values import MAX_INT, MIN_INT, check_value, properties_text

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
RANDOM_DIGITS = 9


class CreateNode(Command, frozen=True):
    """Create a node of a known type."""

    type: str
    content: str
    format: str
    encoding: str = UTF8
    properties: dict[str, Any] = {}
    ontology: str = DEFAULT


class UpdateNode(Command, frozen=True):
    """Merge properties, replace content, or rename its format."""

    node_id: str
    properties: dict[str, Any] | None = None
    content: str | None = None
    encoding: str | None = None
    format: str | None = None
    ontology: str = DEFAULT
    type: str | None = None
    """If set, a node of another type counts as not found."""
    expected_version: int | None = None


class DeleteNode(Command, frozen=True):
    """Delete a node, its content and its connections."""

    node_id: str
    type: str | None = None
    """If set, a node of another type counts as not found."""
    expected_version: int | None = None


class CreateConnection(Command, frozen=True):
    """Connect two nodes as the ontology allows."""

    type: str
    from_node_id: str
    to_node_id: str
    properties: dict[str, Any] = {}
    content: str | None = None
    ontology: str = DEFAULT


class UpdateConnection(Command, frozen=True):
    """Merge properties or replace content."""

    connection_id: str
    properties: dict[str, Any] | None = None
    content: str | None = None
    ontology: str = DEFAULT
    expected_version: int | None = None


class DeleteConnection(Command, frozen=True):
    """Delete a connection; its nodes stay."""

    connection_id: str
    expected_version: int | None = None


async def create_node(command: CreateNode, uow: UnitOfWork) -> Decision:
    """Check type, properties and content, and decide a NodeAdded with a generated id."""
    return await create_node_with_id(command, command.ontology, None, None, uow)


class NodeValues(Protocol):
    """What a new node is made of."""

    @property
    def type(self) -> str: ...

    @property
    def content(self) -> str: ...

    @property
    def format(self) -> str: ...

    @property
    def encoding(self) -> str: ...

    @property
    def properties(self) -> dict[str, Any]: ...


async def create_node_with_id(
    command: NodeValues, ontology_name: str, id: str | None, expected_version: int | None, uow: UnitOfWork
) -> Decision:
    """As `create_node`, with a given id where there is one."""
    ontology = await get_ontology(uow, ontology_name)
    ontology.check_node_type(command.type)
    content = checked(command.content, command.encoding, command.format, await content_limit(uow))
    definitions = ontology.definitions(Owner.NODE, command.type)
    properties = with_defaults(definitions, command.properties)
    check_complete(command.type, Owner.NODE, definitions, properties)
    check_properties(properties)
    check_values(definitions, properties)
    if id is None:
        id = await new_id(uow, "mem")
    add = AddNode(id=id, type=command.type, properties=properties, expected_version=expected_version)
    decision = await add_node(add, uow)
    return _with_content(decision, content)


async def update_node(command: UpdateNode, uow: UnitOfWork) -> Decision:
    """Decide the update of a node: merged properties, and new content if given."""
    node = await get_node(uow, command.node_id, command.type)
    check_version(node.id, command.expected_version, node)
    if command.properties is None and command.content is None and command.format is None:
        raise InvalidArgument("give at least one of properties, content and format", argument="properties")
    if command.content is not None and command.encoding is None:
        raise InvalidEncoding("encoding must be given with content: utf-8 or base64")
    await _check_defined(uow, command.ontology, Owner.NODE, node.type, command.properties)
    data = _merge_properties(node, command.properties)
    content = await _new_content(command, uow)
    if content:
        data["content"] = content
    return Decision([Draft("NodeUpdated", node.id, data, node.version + 1)])


async def _check_defined(
    uow: UnitOfWork, ontology: str, owner: Owner, type: str | None, properties: Mapping[str, Any] | None
) -> None:
    """Check new values against the property definitions of the type; without an ontology nothing is checked."""
    found = await find_ontology(uow, ontology) if properties else None
    if found is not None and properties:
        check_values(found.definitions(owner, type), properties)


async def _new_content(command: UpdateNode, uow: UnitOfWork) -> dict[str, Any]:
    """The content part of the event: body with format, the format alone, or nothing."""
    if command.content is None and command.format is None:
        return {}
    before: Content | None = await uow.find(CONTENTS, command.node_id)
    format = command.format if command.format is not None else "" if before is None else before.format
    if command.content is None and before is not None:
        return {"format": validate_format(format)}
    return checked(command.content or "", command.encoding or UTF8, format, await content_limit(uow))


async def delete_node(command: DeleteNode, uow: UnitOfWork) -> Decision:
    """Decide the deletion of a node, after that of its connections."""
    node = await get_node(uow, command.node_id, command.type)
    check_version(node.id, command.expected_version, node)
    return Decision(await deletion_of(uow, node.id))


async def create_connection(command: CreateConnection, uow: UnitOfWork) -> Decision:
    """Decide whether two nodes may be connected; the order of the checks is part of the contract (C-121)."""
    ontology = await get_ontology(uow, command.ontology)
    type = ontology.connection_type(command.type)
    source = await get_node(uow, command.from_node_id)
    target = await get_node(uow, command.to_node_id)
    type.check_ends(source.type, target.type)
    definitions = ontology.definitions(Owner.CONNECTION, type.name)
    properties = with_defaults(definitions, command.properties)
    type.check_properties(properties)
    check_complete(type.name, Owner.CONNECTION, definitions, properties)
    check_properties(properties)
    check_values(definitions, properties)
    if type.acyclic:
        await refuse_cycle(uow, type, source.id, target.id)
    content = await _content_of_connection(command.content, uow)
    id = await new_id(uow, "conn")
    add = AddEdge(id=id, source=source.id, target=target.id, type=type.name, properties=properties)
    return _with_content(await add_edge(add, uow), content)


async def update_connection(command: UpdateConnection, uow: UnitOfWork) -> Decision:
    """Decide the update of a connection: merged properties, and new content if given."""
    edge = await get_connection(uow, command.connection_id)
    check_version(edge.id, command.expected_version, edge)
    if command.properties is None and command.content is None:
        raise InvalidArgument("give at least one of properties and content", argument="properties")
    await _check_defined(uow, command.ontology, Owner.CONNECTION, edge.type, command.properties)
    data = _merge_properties(edge, command.properties)
    content = await _content_of_connection(command.content, uow)
    if content:
        data["content"] = content
    return Decision([Draft("EdgeUpdated", edge.id, data, edge.version + 1)])


async def delete_connection(command: DeleteConnection, uow: UnitOfWork) -> Decision:
    """Decide the deletion of a connection."""
    edge = await get_connection(uow, command.connection_id)
    check_version(edge.id, command.expected_version, edge)
    return Decision([Draft("EdgeDeleted", edge.id, {"id": edge.id})])


async def get_node(uow: UnitOfWork, id: str, type: str | None = None) -> Node:
    """The node a command names; a node of another type than expected counts as not found."""
    node: Node | None = await uow.find(NODES, _text(id))
    if node is None or type not in (None, node.type):
        raise MemoryNodeNotFound(id)
    return node


async def get_connection(uow: UnitOfWork, id: str) -> Edge:
    """The connection a command names; refused if there is none."""
    edge: Edge | None = await uow.find(EDGES, _text(id))
    if edge is None:
        raise ConnectionNotFound(id)
    return edge


def _text(id: str) -> str:
    # What no store could hold as an id is nobody's id, and must not reach a store.
    return id if id.isprintable() and id.isascii() else ""


async def _content_of_connection(content: str | None, uow: UnitOfWork) -> dict[str, Any]:
    return {} if content is None else checked(content, UTF8, MARKDOWN, await content_limit(uow))


def _with_content(decision: Decision, content: Mapping[str, Any]) -> Decision:
    """The same decision, with the content added to its only event."""
    draft = decision.drafts[0]
    data = {**draft.data, "content": dict(content)} if content else draft.data
    return Decision([Draft(draft.type, draft.element, data, draft.version)], decision.warnings)


def _merge_properties(element: Node | Edge, properties: Mapping[str, Any] | None) -> dict[str, Any]:
    """Event data for merged properties; without new properties the event still updates the modification time."""
    given = check_properties(properties or {})
    properties_text({**element.properties, **given})
    return {"id": element.id, "properties": given} if given else {"id": element.id}


def check_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse values that typed memory does not store (C-118); returns the properties."""
    for key, value in properties.items():
        _check_plain(str(key), value)
    properties_text(dict(properties))
    return dict(properties)


def _check_plain(key: str, value: object) -> None:
    if value is None:
        raise InvalidPropertyValue(key, "is null: leave the key out instead")
    if not isinstance(value, str | int | float | bool):
        raise InvalidPropertyValue(key, f"is {'an array' if isinstance(value, list | tuple) else 'an object'}")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidPropertyValue(key, "is not a finite number")
    if isinstance(value, int) and not MIN_INT <= value <= MAX_INT:
        raise InvalidPropertyValue(key, "does not fit a 64-bit integer")
    try:
        check_value(value, key)
    except UgsError as error:
        raise InvalidPropertyValue(key, f"cannot be kept: {error.message}") from error


async def new_id(uow: UnitOfWork, prefix: str) -> str:
    """A free id in the seed's form: prefix, time, random digits."""
    while True:
        id = f"{prefix}_{base36(uow.now)}_{base36(secrets.randbelow(36**RANDOM_DIGITS)).rjust(RANDOM_DIGITS, '0')}"
        if await find_element(uow, id) is None:
            for table in (CONTENTS, CONTENT_BODIES):
                uow.cache_absent(table, id)  # what is not there says nothing
            return id


def base36(number: int) -> str:
    """A non-negative integer in base 36."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
    return digits or "0"


DECIDERS: Mapping[type[Command], Any] = {
    CreateNode: create_node,
    UpdateNode: update_node,
    DeleteNode: delete_node,
    CreateConnection: create_connection,
    UpdateConnection: update_connection,
    DeleteConnection: delete_connection,
}
