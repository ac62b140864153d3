"""Requests that are made of others: batches with temporary ids, clearing a scope, going back, imports.

Each is all or nothing. Within a batch, `$name` stands for an id that is only generated when the batch runs; it may
be used wherever an id is expected, and as `@($name)` inside values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ugs.changes import NewElements
from ugs.desk import Desk
from ugs.errors import InvalidSyntax, LimitExceeded, UgsError, VersionNotFound
from ugs.events import Draft
from ugs.feature import Command, Decision, Warned
from ugs.graph import commands as single
from ugs.graph.commands import SINGLE, AddEdge, AddNode, Delete, Operation, Update, find_element
from ugs.graph.content import NewContent, content_after
from ugs.graph.events import prepare
from ugs.graph.model import EDGES, NODES, Edge, Element, Node
from ugs.graph.preparing import prepare_operations
from ugs.graph.quick import QUICK, new_nodes, nodes_together
from ugs.graph.versions import difference, element_at, events_until
from ugs.identity import PREFIXES, Scope, check_identifier
from ugs.reads.where import Compare, Not, Op, Where, any_of
from ugs.values import Json

MAX_OPERATIONS = 10_000
MAX_EVENTS = 200_000
TEMPORARY = re.compile(r"\$[A-Za-z_][A-Za-z0-9_-]*")
TEMPORARY_ADDRESS = re.compile(r"@\((\$[A-Za-z_][A-Za-z0-9_-]*)\)")


class Batch(Command, frozen=True):
    """Several operations that happen together or not at all."""

    operations: tuple[Operation, ...]


class ClearScope(Command, frozen=True):
    """Delete everything in a scope; the default scope only by force."""

    scope: Scope
    force: bool = False


class Revert(Command, frozen=True):
    """Make an element again what it was at a version, by a new event."""

    id: str
    version: int
    expected_version: int | None = None


class ImportGraph(Command, frozen=True):
    """Add nodes and edges in the seed's JSON shape; `on_conflict` is error, skip or replace."""

    nodes: tuple[dict[str, Any], ...] = ()
    edges: tuple[dict[str, Any], ...] = ()
    on_conflict: str = "error"


class ApplyEvents(Command, frozen=True):
    """Add events that come without id and time (fixtures, foreign logs); they get both here."""

    events: tuple[dict[str, Any], ...]


async def batch(command: Batch, desk: Desk) -> Decision:
    """Decide several operations as one."""
    return Decision([], (await decide_all(command.operations, desk))[1])


def batches_together(commands: Sequence[Batch], desk: Desk) -> NewElements | None:
    """What some batches come to together; None unless all are of plain new nodes, no more than one batch may have."""
    sizes = [len(command.operations) for command in commands]
    if min(sizes) == 0 or sum(sizes) > MAX_OPERATIONS:
        return None
    operations: list[Any] = [operation for command in commands for operation in command.operations]
    return new_nodes(operations, sizes, desk) if set(map(type, operations)) == {AddNode} else None


TOGETHER: Mapping[type[Command], Any] = {AddNode: nodes_together, Batch: batches_together}


async def decide_all(operations: Sequence[Operation], desk: Desk) -> tuple[dict[str, str], list[Warned]]:
    """Decide each operation on what the ones before it leave behind; answers the ids behind temporary ones."""
    if len(operations) > MAX_OPERATIONS:
        raise LimitExceeded(f"a batch has at most {MAX_OPERATIONS} operations", limit=MAX_OPERATIONS)
    names: dict[str, str] = {}
    warnings: list[Warned] = []
    for index, operation in enumerate(operations):
        try:
            # Where no temporary id has been given yet, none can stand in a value either.
            if not names and (quick := QUICK.get(type(operation))) is not None and quick(operation, desk):
                continue
            decision = await _decide_one(operation, names, desk)
        except UgsError as error:
            error.details["operation"] = index
            raise
        warnings += decision.warnings
    return names, warnings


async def _decide_one(operation: Operation, names: dict[str, str], desk: Desk) -> Decision:
    decision = await decide_operation(with_real_ids(operation, names), desk)
    await desk.stage(decision.drafts)
    new_name = operation.id
    if new_name is not None and is_temporary(new_name) and isinstance(operation, AddNode | AddEdge):
        if new_name in names:
            raise InvalidSyntax(f"the temporary id {new_name} is given twice")
        names[new_name] = decision.drafts[0].element or ""
    return decision


async def decide_operation(operation: Command, desk: Desk) -> Decision:
    decision: Decision = await single.DECIDERS[type(operation)](operation, desk)
    return decision


def is_temporary(id: str | None) -> bool:
    return isinstance(id, str) and id.startswith("$") and TEMPORARY.fullmatch(id) is not None


def with_real_ids(operation: Operation, names: dict[str, str]) -> Operation:
    """The operation with temporary ids replaced by those generated so far."""
    if not names and not _names_temporary(operation):
        return operation
    changes: dict[str, Any] = {}
    for field in operation.__struct_fields__:
        value = getattr(operation, field)
        if field in ("id", "source", "target"):
            changes[field] = _real_id(value, names, new=field == "id" and not isinstance(operation, Update | Delete))
        elif isinstance(value, dict | list):
            changes[field] = _real_addresses(value, names)
    return msgspec.structs.replace(operation, **changes)


def _names_temporary(operation: Operation) -> bool:
    if isinstance(operation, AddEdge) and (is_temporary(operation.source) or is_temporary(operation.target)):
        return True
    return is_temporary(operation.id)


def _real_id(id: str | None, names: dict[str, str], new: bool) -> str | None:
    if not is_temporary(id):
        return id
    if new:
        return None
    if id not in names:
        raise InvalidSyntax(f"the temporary id {id} is used before the operation that creates it")
    return names[id or ""]


def _real_addresses(value: Json, names: dict[str, str]) -> Json:
    if isinstance(value, str):
        match = TEMPORARY_ADDRESS.fullmatch(value)
        return f"@({names[match[1]]})" if match and match[1] in names else value
    if isinstance(value, list):
        return [_real_addresses(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _real_addresses(item, names) for key, item in value.items()}
    return value


def in_scope(scope: Scope, field: str = "id") -> Where:
    """Ids of a scope, told by their prefix."""
    if scope is Scope.DEFAULT:
        return Not(Compare(field, Op.CONTAINS, ":"))
    return Compare(field, Op.STARTS, PREFIXES[scope])


async def clear_scope(command: ClearScope, desk: Desk) -> Decision:
    """Decide the end of a scope: its nodes with all their edges, and edges of its own."""
    if command.scope is Scope.DEFAULT and not command.force:
        raise InvalidSyntax("the default scope is cleared only with force")
    inside = any_of(*(in_scope(command.scope, field) for field in ("id", "source", "target")))
    for edge in await desk.fetch(EDGES, inside, single.BY_SEQUENCE):
        await _stage_end(desk, Draft("EdgeDeleted", edge.id, {"id": edge.id}))
    nodes = await desk.fetch(NODES, in_scope(command.scope))
    await prepare(desk, (), [node.id for node in nodes])
    for node in nodes:
        await _stage_end(desk, Draft("NodeDeleted", node.id, {"id": node.id}))
    return Decision([])


async def _stage_end(desk: Desk, draft: Draft) -> None:
    staged = await desk.stage([draft])
    if staged[0].position - desk.head.position > MAX_EVENTS:
        raise LimitExceeded(f"one request makes at most {MAX_EVENTS} events; clear in parts", limit=MAX_EVENTS)


async def revert(command: Revert, desk: Desk) -> Decision:
    """Decide how an element becomes what it was: an update, or a new life after deletion."""
    id = check_identifier(command.id)
    events = await desk.events_of(id)
    then = element_at(id, command.version, events)
    if then is None:
        raise VersionNotFound(id, command.version)
    now = await find_element(desk, id)
    single.check_version(id, command.expected_version, now)
    upto = events_until(id, command.version, events)
    if now is None:
        return await _again(then, given_again(content_after(upto)), desk)
    changed = difference(now, then)
    if content_after(upto) != content_after(events):
        changed["content"] = content_after(upto)
    name = "NodeUpdated" if isinstance(now, Node) else "EdgeUpdated"
    return Decision([Draft(name, id, {"id": id, **changed}, now.version + 1)] if changed else [])


def given_again(content: dict[str, Any] | None) -> NewContent | None:
    return None if content is None else NewContent(content["body"], content["format"], content["encoding"])


async def _again(then: Element, content: NewContent | None, desk: Desk) -> Decision:
    if isinstance(then, Edge):
        add = AddEdge(
            id=then.id,
            source=then.source,
            target=then.target,
            type=then.type,
            weight=then.weight,
            properties=then.properties,
            content=content,
        )
        return await single.add_edge(add, desk)
    add_again = AddNode(id=then.id, type=then.type, properties=then.properties, data=then.data, content=content)
    return await single.add_node(add_again, desk)


class _NodeIn(Struct, forbid_unknown_fields=False):
    id: str
    type: str | None = None
    properties: dict[str, Any] = {}
    data: Any = None
    content: NewContent | str | None = None


class _EdgeIn(Struct, forbid_unknown_fields=False):
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    id: str | None = None
    type: str | None = None
    weight: Any = 1
    properties: dict[str, Any] = {}
    content: NewContent | str | None = None


def _fields_of(item: _NodeIn | _EdgeIn) -> dict[str, Any]:
    """What a command is made of; content that is given as a text alone is markdown."""
    fields = msgspec.structs.asdict(item)
    if isinstance(item.content, str):
        fields["content"] = NewContent(item.content)
    return fields


def _shaped(raw: Any, shape: Any, what: str) -> Any:
    try:
        return msgspec.convert(raw, shape)
    except msgspec.ValidationError as error:
        raise InvalidSyntax(f"{what}: {error}") from error


async def import_graph(command: ImportGraph, desk: Desk) -> Decision:
    """Decide an import: every node, then every edge, all or nothing."""
    if command.on_conflict not in ("error", "skip", "replace"):
        raise InvalidSyntax(f"on_conflict is error, skip or replace, not {command.on_conflict!r}")
    nodes = [_shaped(raw, _NodeIn, f"nodes[{index}]") for index, raw in enumerate(command.nodes)]
    edges = [_shaped(raw, _EdgeIn, f"edges[{index}]") for index, raw in enumerate(command.edges)]
    added = [(AddNode if isinstance(item, _NodeIn) else AddEdge)(**_fields_of(item)) for item in (*nodes, *edges)]
    await prepare_operations(desk, added)
    warnings: list[Warned] = []
    for add in added:
        warnings += await _import_one(add, command.on_conflict, desk)
    return Decision([], warnings)


async def _import_one(add: AddNode | AddEdge, on_conflict: str, desk: Desk) -> list[Warned]:
    existing = await find_element(desk, add.id) if add.id is not None and on_conflict != "error" else None
    if existing is not None and on_conflict == "skip":
        return [Warned("W003", f"already there, skipped: {existing.id}", existing.id)]
    if existing is not None:
        await desk.stage((await decide_operation(Delete(id=existing.id), desk)).drafts)
    decision = await decide_operation(add, desk)
    await desk.stage(decision.drafts)
    return decision.warnings


async def apply_events(command: ApplyEvents, desk: Desk) -> Decision:
    """Decide to take over foreign events: each becomes the operation that would have made it."""
    warnings: list[Warned] = []
    for index, raw in enumerate(command.events):
        operation = operation_of(raw, index)
        if operation is None:
            continue
        decision = await decide_operation(operation, desk)
        await desk.stage(decision.drafts)
        warnings += decision.warnings
    return Decision([], warnings)


def operation_of(raw: dict[str, Any], index: int) -> Command | None:
    """The operation behind a foreign event."""
    kind, data = raw.get("type"), raw.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("id"), str):
        raise InvalidSyntax(f"events[{index}]: an event needs data with an id")
    if kind == "NodeAdded":
        return AddNode(**_fields_of(_shaped(data, _NodeIn, f"events[{index}]")))
    if kind == "EdgeAdded":
        return AddEdge(**_fields_of(_shaped(data, _EdgeIn, f"events[{index}]")))
    if kind in ("NodeUpdated", "EdgeUpdated"):
        fields = {key: data[key] for key in ("type", "properties", "data", "weight") if key in data}
        if "content" in data:
            fields["content"] = _shaped(data["content"], NewContent | None, f"events[{index}].content")
        return Update(id=data["id"], remove=tuple(data.get("removed", ())), **fields)
    if kind in ("NodeDeleted", "EdgeDeleted"):
        return Delete(id=data["id"])
    raise InvalidSyntax(f"events[{index}]: unknown event type {kind!r}")


async def prepare_group(desk: Desk, commands: Sequence[Command]) -> None:
    """Load together what the decisions of a group will look at one by one."""
    await prepare_operations(desk, operations_in(commands))


def operations_in(commands: Iterable[Command]) -> Iterator[Operation]:
    """The single operations that commands are made of."""
    for command in commands:
        if isinstance(command, SINGLE):
            yield command
        elif isinstance(command, Batch):
            yield from command.operations[:MAX_OPERATIONS]


DECIDERS: dict[type[Command], Any] = {
    Batch: batch,
    ClearScope: clear_scope,
    Revert: revert,
    ImportGraph: import_graph,
    ApplyEvents: apply_events,
}
