"""Composite commands: batches with temporary ids, clearing a scope, reverting, imports.

Each is atomic. Within a batch, `$name` stands for an id that is generated when the batch runs; it may be used wherever
an id is expected, and as `@($name)` inside values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ugs.changes import NewElements
from ugs.errors import InvalidSyntax, LimitExceeded, UgsError, VersionNotFound
from ugs.events import Draft
from ugs.feature import Command, CommandWarning, Decision
from ugs.graph import commands as single
from ugs.graph.commands import (
    SINGLE,
    AddEdge,
    AddNode,
    Delete,
    Operation,
    Update,
    UpsertEdge,
    find_element,
    find_upserted_edge,
)
from ugs.graph.content import NewContent, content_after
from ugs.graph.events import prepare
from ugs.graph.fast_adds import FAST_DECIDERS, new_nodes, nodes_together
from ugs.graph.model import EDGES, NODES, Edge, Element, Node
from ugs.graph.prefetch import prepare_operations
from ugs.graph.versions import difference, element_at, events_until
from ugs.identity import PREFIXES, Scope, check_identifier
from ugs.reads.filters import Compare, Not, Op, Where, any_of
from ugs.support.shape_errors import describe_shape_error
from ugs.support.time_slice import TimeSlice
from ugs.unit_of_work import UnitOfWork
from ugs.values import Json

MAX_OPERATIONS = 10_000
OPERATIONS_PER_CHECK = 16
"""Operations of a batch that are decided before the clock is looked at: other requests run in between."""
MAX_EVENTS = 200_000
TEMPORARY = re.compile(r"\$[A-Za-z_][A-Za-z0-9_-]*")
TEMPORARY_ADDRESS = re.compile(r"@\((\$[A-Za-z_][A-Za-z0-9_-]*)\)")


class Batch(Command, frozen=True):
    """Several operations, executed atomically."""

    operations: tuple[Operation, ...]


class ClearScope(Command, frozen=True):
    """Delete everything in a scope; the default scope only with `force`."""

    scope: Scope
    force: bool = False


class Revert(Command, frozen=True):
    """Restore an element to an earlier version, with a new event."""

    id: str
    version: int
    expected_version: int | None = None


class ImportGraph(Command, frozen=True):
    """Add nodes and edges in the seed's JSON format; `on_conflict` is error, skip or replace."""

    nodes: tuple[dict[str, Any], ...] = ()
    edges: tuple[dict[str, Any], ...] = ()
    on_conflict: str = "error"


class ApplyEvents(Command, frozen=True):
    """Apply events without id and time (fixtures, foreign logs), which are recorded as new events."""

    events: tuple[dict[str, Any], ...]


async def batch(command: Batch, uow: UnitOfWork) -> Decision:
    """Decide a batch; the events are staged along the way."""
    return Decision([], (await decide_all(command.operations, uow))[1])


def batches_together(commands: Sequence[Batch], uow: UnitOfWork) -> NewElements | None:
    """The fast path of several batches; None unless all contain only plain new nodes, within the limit of one batch."""
    sizes = [len(command.operations) for command in commands]
    if min(sizes) == 0 or sum(sizes) > MAX_OPERATIONS:
        return None
    operations: list[Any] = [operation for command in commands for operation in command.operations]
    return new_nodes(operations, sizes, uow) if set(map(type, operations)) == {AddNode} else None


BATCH_DECIDERS: Mapping[type[Command], Any] = {AddNode: nodes_together, Batch: batches_together}


async def decide_all(operations: Sequence[Operation], uow: UnitOfWork) -> tuple[dict[str, str], list[CommandWarning]]:
    """Decide and stage the operations in order, each seeing the ones before; returns the ids of temporary names."""
    if len(operations) > MAX_OPERATIONS:
        raise LimitExceeded(f"a batch has at most {MAX_OPERATIONS} operations", limit=MAX_OPERATIONS)
    names: dict[str, str] = {}
    warnings: list[CommandWarning] = []
    time = TimeSlice()
    for index, operation in enumerate(operations):
        if index % OPERATIONS_PER_CHECK == 0:
            await time.pause()
        try:
            # The fast path does not replace temporary ids; as long as none is defined, no value can contain one.
            if not names and (quick := FAST_DECIDERS.get(type(operation))) is not None and quick(operation, uow):
                continue
            decision = await _decide_one(operation, names, uow)
        except UgsError as error:
            error.details["operation"] = index
            raise
        warnings += decision.warnings
    return names, warnings


async def _decide_one(operation: Operation, names: dict[str, str], uow: UnitOfWork) -> Decision:
    decision = await decide_operation(with_real_ids(operation, names), uow)
    await uow.stage(decision.drafts)
    new_name = operation.id
    if new_name is not None and is_temporary(new_name) and isinstance(operation, AddNode | AddEdge):
        if new_name in names:
            raise InvalidSyntax(f"the temporary id {new_name} is given twice")
        names[new_name] = await _find_new_id(decision, operation, names, uow)
    return decision


async def _find_new_id(decision: Decision, operation: Operation, names: dict[str, str], uow: UnitOfWork) -> str:
    """The id behind a temporary one: of the new element, or of the edge that an upsert found and left alone."""
    if decision.drafts:
        return decision.drafts[0].element or ""
    resolved = with_real_ids(operation, names)
    assert isinstance(resolved, UpsertEdge)
    edge = await find_upserted_edge(resolved, uow)
    return "" if edge is None else edge.id


async def decide_operation(operation: Command, uow: UnitOfWork) -> Decision:
    decision: Decision = await single.DECIDERS[type(operation)](operation, uow)
    return decision


def is_temporary(id: str | None) -> bool:
    return isinstance(id, str) and id.startswith("$") and TEMPORARY.fullmatch(id) is not None


def with_real_ids(operation: Operation, names: dict[str, str]) -> Operation:
    """The operation with temporary ids replaced by those generated so far."""
    if not names and not _is_temporary_name(operation):
        return operation
    changes: dict[str, Any] = {}
    for field in operation.__struct_fields__:
        value = getattr(operation, field)
        if field in ("id", "source", "target"):
            changes[field] = _real_id(value, names, new=field == "id" and not isinstance(operation, Update | Delete))
        elif isinstance(value, dict | list):
            changes[field] = _resolve_addresses(value, names)
    return msgspec.structs.replace(operation, **changes)


def _is_temporary_name(operation: Operation) -> bool:
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


def _resolve_addresses(value: Json, names: dict[str, str]) -> Json:
    if isinstance(value, str):
        match = TEMPORARY_ADDRESS.fullmatch(value)
        return f"@({names[match[1]]})" if match and match[1] in names else value
    if isinstance(value, list):
        return [_resolve_addresses(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _resolve_addresses(item, names) for key, item in value.items()}
    return value


def in_scope(scope: Scope, field: str = "id") -> Where:
    """The condition for ids of a scope, by prefix."""
    if scope is Scope.DEFAULT:
        return Not(Compare(field, Op.CONTAINS, ":"))
    return Compare(field, Op.STARTS, PREFIXES[scope])


async def clear_scope(command: ClearScope, uow: UnitOfWork) -> Decision:
    """Decide the deletion of a scope: its nodes with all their edges, and its own edges."""
    if command.scope is Scope.DEFAULT and not command.force:
        raise InvalidSyntax("the default scope is cleared only with force")
    inside = any_of(*(in_scope(command.scope, field) for field in ("id", "source", "target")))
    for edge in await uow.fetch(EDGES, inside, single.BY_SEQUENCE):
        await _stage_end(uow, Draft("EdgeDeleted", edge.id, {"id": edge.id}))
    nodes = await uow.fetch(NODES, in_scope(command.scope))
    await prepare(uow, (), [node.id for node in nodes])
    for node in nodes:
        await _stage_end(uow, Draft("NodeDeleted", node.id, {"id": node.id}))
    return Decision([])


async def _stage_end(uow: UnitOfWork, draft: Draft) -> None:
    staged = await uow.stage([draft])
    if staged[0].position - uow.head.position > MAX_EVENTS:
        raise LimitExceeded(f"one request makes at most {MAX_EVENTS} events; clear in parts", limit=MAX_EVENTS)


async def revert(command: Revert, uow: UnitOfWork) -> Decision:
    """Decide how to restore a version: by an update, or by adding the element again after its deletion."""
    id = check_identifier(command.id)
    events = await uow.events_of(id)
    then = element_at(id, command.version, events)
    if then is None:
        raise VersionNotFound(id, command.version)
    now = await find_element(uow, id)
    single.check_version(id, command.expected_version, now)
    upto = events_until(id, command.version, events)
    if now is None:
        return await restore_element(then, content_from_event(content_after(upto)), uow)
    changed = difference(now, then)
    if content_after(upto) != content_after(events):
        changed["content"] = content_after(upto)
    name = "NodeUpdated" if isinstance(now, Node) else "EdgeUpdated"
    return Decision([Draft(name, id, {"id": id, **changed}, now.version + 1)] if changed else [])


def content_from_event(content: dict[str, Any] | None) -> NewContent | None:
    return None if content is None else NewContent(content["body"], content["format"], content["encoding"])


async def restore_element(then: Element, content: NewContent | None, uow: UnitOfWork) -> Decision:
    """Decide to add a deleted element again, as it was."""
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
        return await single.add_edge(add, uow)
    add_again = AddNode(id=then.id, type=then.type, properties=then.properties, data=then.data, content=content)
    return await single.add_node(add_again, uow)


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
    """The fields of the add command; content given as plain text is markdown."""
    fields = msgspec.structs.asdict(item)
    if isinstance(item.content, str):
        fields["content"] = NewContent(item.content)
    return fields


def _decode_shape(raw: Any, shape: Any, what: str) -> Any:
    try:
        return msgspec.convert(raw, shape)
    except msgspec.ValidationError as error:
        raise InvalidSyntax(f"{what}: {describe_shape_error(error)}") from error


async def import_graph(command: ImportGraph, uow: UnitOfWork) -> Decision:
    """Decide an import: all nodes, then all edges, atomically."""
    if command.on_conflict not in ("error", "skip", "replace"):
        raise InvalidSyntax(f"on_conflict is error, skip or replace, not {command.on_conflict!r}")
    time = TimeSlice()
    added: list[AddNode | AddEdge] = []
    for index, raw in enumerate(command.nodes):
        added.append(AddNode(**_fields_of(_decode_shape(raw, _NodeIn, f"nodes[{index}]"))))
        await time.pause()
    for index, raw in enumerate(command.edges):
        added.append(AddEdge(**_fields_of(_decode_shape(raw, _EdgeIn, f"edges[{index}]"))))
        await time.pause()
    await prepare_operations(uow, added)
    warnings: list[CommandWarning] = []
    for add in added:
        await time.pause()
        warnings += await _import_one(add, command.on_conflict, uow)
    return Decision([], warnings)


async def _import_one(add: AddNode | AddEdge, on_conflict: str, uow: UnitOfWork) -> list[CommandWarning]:
    existing = await find_element(uow, add.id) if add.id is not None and on_conflict != "error" else None
    if existing is not None and on_conflict == "skip":
        return [CommandWarning("W003", f"already there, skipped: {existing.id}", existing.id)]
    if existing is not None:
        await uow.stage((await decide_operation(Delete(id=existing.id), uow)).drafts)
    decision = await decide_operation(add, uow)
    await uow.stage(decision.drafts)
    return decision.warnings


async def apply_events(command: ApplyEvents, uow: UnitOfWork) -> Decision:
    """Decide foreign events: each becomes the operation that would have caused it."""
    warnings: list[CommandWarning] = []
    time = TimeSlice()
    for index, raw in enumerate(command.events):
        await time.pause()
        operation = operation_of(raw, index)
        if operation is None:
            continue
        decision = await decide_operation(operation, uow)
        await uow.stage(decision.drafts)
        warnings += decision.warnings
    return Decision([], warnings)


def operation_of(raw: dict[str, Any], index: int) -> Command | None:
    """The operation behind a foreign event."""
    kind, data = raw.get("type"), raw.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("id"), str):
        raise InvalidSyntax(f"events[{index}]: an event needs data with an id")
    if kind == "NodeAdded":
        return AddNode(**_fields_of(_decode_shape(data, _NodeIn, f"events[{index}]")))
    if kind == "EdgeAdded":
        return AddEdge(**_fields_of(_decode_shape(data, _EdgeIn, f"events[{index}]")))
    if kind in ("NodeUpdated", "EdgeUpdated"):
        fields = {key: data[key] for key in ("type", "properties", "data", "weight") if key in data}
        if "content" in data:
            fields["content"] = _decode_shape(data["content"], NewContent | None, f"events[{index}].content")
        return Update(id=data["id"], remove=tuple(data.get("removed", ())), **fields)
    if kind in ("NodeDeleted", "EdgeDeleted"):
        return Delete(id=data["id"])
    raise InvalidSyntax(f"events[{index}]: unknown event type {kind!r}")


async def prepare_group(uow: UnitOfWork, commands: Sequence[Command]) -> None:
    """Prefetch the rows that the deciders of a group will read."""
    await prepare_operations(uow, operations_in(commands))


def operations_in(commands: Iterable[Command]) -> Iterator[Operation]:
    """The single operations that the commands contain."""
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
