"""One command for a node with its connections: create, update or upsert it, and connect it to nodes, new ones too.

Everything is decided by the rules of the single commands (`ugs.ontology.commands.memory`), in order, each seeing the
ones before; all of it happens or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ugs.errors import LimitExceeded
from ugs.feature import Command, CommandWarning, Decision
from ugs.graph.content import MARKDOWN, UTF8
from ugs.graph.model import NODES, Node
from ugs.identity import is_identifier
from ugs.ontology.commands.memory import (
    CreateConnection,
    UpdateNode,
    create_connection,
    create_node_with_id,
    update_node,
)
from ugs.ontology.errors import DEFAULT, InvalidArgument
from ugs.reads.filters import Op, Property, all_of, eq
from ugs.reads.plan import Page
from ugs.unit_of_work import UnitOfWork

MAX_NESTED = 1_000
"""Nodes and connections that one command writes, beside the first node."""


class NewNode(Struct, frozen=True):
    """A node to create, with its connections."""

    type: str
    content: str
    format: str
    encoding: str = UTF8
    properties: dict[str, Any] = {}
    links: tuple[NewLink, ...] = ()


class NewLink(Struct, frozen=True):
    """A connection to make, to a node there is or to a new one: exactly one of the two."""

    type: str
    outgoing: bool
    node_id: str | None = None
    node: NewNode | None = None
    properties: dict[str, Any] = {}
    content: str | None = None


class CreateNodes(Command, frozen=True):
    """Create a node with its connections."""

    node: NewNode
    ontology: str = DEFAULT


class UpdateNodes(Command, frozen=True):
    """Change a node as `UpdateNode` does, and connect it."""

    change: UpdateNode
    links: tuple[NewLink, ...] = ()


class UpsertNodes(Command, frozen=True):
    """Create a node, or change the one there is: by its id, or as the only one of its type with the same values of some
    properties. Properties are merged; content and format stay where they are not given."""

    type: str
    id: str | None = None
    by: tuple[str, ...] = ()
    properties: dict[str, Any] = {}
    content: str | None = None
    format: str | None = None
    encoding: str = UTF8
    default_format: str = MARKDOWN
    links: tuple[NewLink, ...] = ()
    ontology: str = DEFAULT
    expected_version: int | None = None


async def create_nodes(command: CreateNodes, uow: UnitOfWork) -> Decision:
    """Decide a new node and what it is connected to; the event of the node is the first."""
    await _prepare(command.node.links, uow)
    warnings: list[CommandWarning] = []
    await _create(command.node, None, None, command.ontology, uow, warnings)
    return Decision([], warnings)


async def update_nodes(command: UpdateNodes, uow: UnitOfWork) -> Decision:
    """Decide the change of a node and what it is connected to."""
    await _prepare(command.links, uow)
    change = command.change
    if change.properties is None and change.content is None and change.format is None:
        change = replace(change, properties={})
    warnings: list[CommandWarning] = []
    await _stage(await update_node(change, uow), uow, warnings)
    await _connect(change.node_id, command.links, change.ontology, uow, warnings)
    return Decision([], warnings)


async def upsert_nodes(command: UpsertNodes, uow: UnitOfWork) -> Decision:
    """Decide an upsert by what there is at that moment."""
    await _prepare(command.links, uow)
    there = await _find(command, uow)
    warnings: list[CommandWarning] = []
    if there is None:
        node = NewNode(
            command.type,
            command.content or "",
            command.format or command.default_format,
            command.encoding,
            command.properties,
            command.links,
        )
        await _create(node, command.id, command.expected_version, command.ontology, uow, warnings)
        return Decision([], warnings)
    change = UpdateNode(
        node_id=there.id,
        properties=command.properties,
        content=command.content,
        encoding=command.encoding,
        format=command.format,
        ontology=command.ontology,
        type=command.type,
        expected_version=command.expected_version,
    )
    await _stage(await update_node(change, uow), uow, warnings)
    await _connect(there.id, command.links, command.ontology, uow, warnings)
    return Decision([], warnings)


async def _find(command: UpsertNodes, uow: UnitOfWork) -> Node | None:
    """The node that an upsert changes; refused if it is not clear which one is meant."""
    if (command.id is None) is not bool(command.by):
        raise InvalidArgument("say which one is meant, by an id or by the values of some properties", argument="by")
    if command.id is not None:
        found: Node | None = await uow.find(NODES, command.id) if is_identifier(command.id) else None
        return found if found is not None and found.type == command.type else None
    missing = [name for name in command.by if name not in command.properties]
    if missing:
        raise InvalidArgument(f"{missing[0]} is to tell which one is meant, and has no value", argument="by")
    same = [Property("properties_text", name, Op.EQ, command.properties[name]) for name in command.by]
    where = all_of(eq("type", command.type), *same)
    few = len(await uow.session.fetch(NODES, where, page=Page(limit=2))) < 2
    rows = await uow.fetch(NODES, where) if few else []
    if not few or len(rows) > 1:
        told = ", ".join(command.by)
        raise InvalidArgument(f"more than one {command.type} has this {told}: say which by its id", argument="by")
    return rows[0] if rows else None


async def _create(
    node: NewNode,
    id: str | None,
    expected_version: int | None,
    ontology: str,
    uow: UnitOfWork,
    warnings: list[CommandWarning],
) -> str:
    decision = await create_node_with_id(node, ontology, id, expected_version, uow)
    new_id = decision.drafts[0].element or ""
    await _stage(decision, uow, warnings)
    await _connect(new_id, node.links, ontology, uow, warnings)
    return new_id


async def _connect(
    id: str, links: tuple[NewLink, ...], ontology: str, uow: UnitOfWork, warnings: list[CommandWarning]
) -> None:
    for link in links:
        other = link.node_id
        if link.node is not None:
            other = await _create(link.node, None, None, ontology, uow, warnings)
        source, target = (id, other or "") if link.outgoing else (other or "", id)
        command = CreateConnection(
            type=link.type,
            from_node_id=source,
            to_node_id=target,
            properties=link.properties,
            content=link.content,
            ontology=ontology,
        )
        await _stage(await create_connection(command, uow), uow, warnings)


async def _stage(decision: Decision, uow: UnitOfWork, warnings: list[CommandWarning]) -> None:
    await uow.stage(decision.drafts)
    warnings += decision.warnings


async def _prepare(links: tuple[NewLink, ...], uow: UnitOfWork) -> None:
    """Check the number of links at any depth, and load the nodes that they lead to."""
    known: list[str] = []
    for number, link in enumerate(_all_links(links)):
        if (link.node is None) is (link.node_id is None):
            raise InvalidArgument("a connection leads to one node: connect one there is, or create one")
        if number >= MAX_NESTED:
            raise LimitExceeded(f"one change makes at most {MAX_NESTED} connections", limit=MAX_NESTED)
        if link.node_id is not None and is_identifier(link.node_id):
            known.append(link.node_id)
    await uow.prefetch((NODES, id) for id in known)


def _all_links(links: tuple[NewLink, ...]) -> Iterator[NewLink]:
    waiting = [*reversed(links)]
    while waiting:
        link = waiting.pop()
        yield link
        if link.node is not None:
            waiting += reversed(link.node.links)


DECIDERS: Mapping[type[Command], Any] = {
    CreateNodes: create_nodes,
    UpdateNodes: update_nodes,
    UpsertNodes: upsert_nodes,
}
