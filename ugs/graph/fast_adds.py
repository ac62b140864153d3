"""Fast paths for adding plain elements.

Most commands add a node or an edge with an explicit id. If such a command needs no look-up and no special handling, its
event and row are built directly, exactly as decider and reducer would. Everything else falls back to those: a fast path
never raises and has no partial effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from types import NoneType
from typing import Any

from ugs.changes import NewElements
from ugs.errors import UgsError
from ugs.feature import Command
from ugs.graph.commands import ID_TABLES, AddEdge, AddNode
from ugs.graph.events import EDGE_COUNTER, NODE_COUNTER, build_edge_added, build_node_added
from ugs.graph.model import EDGES, NODES
from ugs.identity import are_identifiers, is_identifier
from ugs.unit_of_work import UnitOfWork
from ugs.values import (
    MAX_DATA_BYTES,
    MAX_KEY,
    MAX_PROPERTIES,
    MAX_PROPERTIES_BYTES,
    check_type,
    check_weight,
    encode_plain_values,
    plain_data,
    plain_properties,
    to_text,
)

_COLUMNS = attrgetter("id", "type", "properties", "data", "expected_version", "content")


def add_node(command: AddNode, uow: UnitOfWork) -> bool:
    """Add a plain node; False, without any effect, if it is not plain."""
    id, type = command.id, command.type
    if id is None or not _is_fresh(command, id, NODE_COUNTER, uow) or (label := _label(type)) is None:
        return False
    properties, data = plain_properties(command.properties), plain_data(command.data)
    if properties is None or data is None:
        return False
    text, row = build_node_added(id, type, label, properties, data, uow.now)
    uow.record("NodeAdded", text, NODES, id, row)
    return True


def new_nodes(commands: Sequence[AddNode], sizes: Sequence[int], uow: UnitOfWork) -> NewElements | None:
    """Build the events and rows of new nodes; `sizes` are those of the commands. None unless all are plain."""
    ids, types, maps, loads, *others = zip(*map(_COLUMNS, commands), strict=True)
    if any(column.count(None) < len(ids) for column in others) or not _are_fresh(ids, NODE_COUNTER, uow):
        return None
    labels = _labels(types)
    if labels is None or set(map(type, maps)) != {dict} or max(map(len, maps)) > MAX_PROPERTIES:
        return None
    properties, data = encode_plain_values(maps, MAX_PROPERTIES_BYTES), encode_plain_values(loads, MAX_DATA_BYTES)
    if properties is None or data is None:
        return None
    now = uow.now
    built = [
        build_node_added(id, type, labels[type], values, payload, now)
        for id, type, values, payload in zip(ids, types, properties, data, strict=True)
    ]
    texts, rows = zip(*built, strict=True)
    return NewElements("NodeAdded", texts, ids, sizes, NODES, rows)


def nodes_together(commands: Sequence[AddNode], uow: UnitOfWork) -> NewElements | None:
    """The batch fast path of `AddNode` commands."""
    return new_nodes(commands, [1] * len(commands), uow)


def add_edge(command: AddEdge, uow: UnitOfWork) -> bool:
    """Add a plain edge between nodes known to exist; False, without any effect, if it is not plain."""
    id, source, target, type = command.id, command.source, command.target, command.type
    if id is None or not _is_fresh(command, id, EDGE_COUNTER, uow) or (label := _label(type)) is None:
        return False
    properties, weight = plain_properties(command.properties), _plain_weight(command.weight)
    if properties is None or weight is None or not (_is_node(source, uow) and _is_node(target, uow)):
        return False
    text, row = build_edge_added(id, (source, target), type, label, weight, properties, uow.now, uow.next_position)
    uow.record("EdgeAdded", text, EDGES, id, row)
    return True


FAST_DECIDERS: Mapping[type[Command], Any] = {AddNode: add_node, AddEdge: add_edge}


def _is_fresh(command: AddNode | AddEdge, id: str, counter: str, uow: UnitOfWork) -> bool:
    """Whether the id is valid, known to be unused and not a generated one, without content or expected version."""
    return (
        command.expected_version is None
        and command.content is None
        and _is_id(id)
        and not id.startswith(counter)
        and uow.is_unused(id, ID_TABLES)
    )


def _are_fresh(ids: Sequence[Any], counter: str, uow: UnitOfWork) -> bool:
    """As `_is_fresh`, for several ids."""
    return (
        set(map(type, ids)) == {str}
        and are_identifiers(ids)
        and not any([id.startswith(counter) for id in ids])
        and uow.are_unused(ids, ID_TABLES)
    )


def _is_node(id: str, uow: UnitOfWork) -> bool:
    return _is_id(id) and uow.is_there(NODES, id)


def _is_id(id: Any) -> bool:
    return type(id) is str and is_identifier(id)


def _label(type: Any) -> str | None:
    """A type as JSON; None if it is invalid."""
    if type is None:
        return "null"
    if type.__class__ is not str:
        return None
    return _label_of(type) if len(type) <= MAX_KEY else None


def _labels(types: Sequence[Any]) -> dict[str | None, str] | None:
    """Types as JSON; None if one is invalid."""
    if not set(map(type, types)) <= {str, NoneType}:
        return None
    labels = {each: _label(each) for each in set(types)}
    return None if None in labels.values() else labels  # type: ignore[return-value]


@lru_cache(maxsize=1024)
def _label_of(type: str) -> str | None:
    try:
        return to_text(check_type(type))
    except UgsError:
        return None


def _plain_weight(weight: Any) -> int | float | None:
    try:
        return check_weight(weight)
    except UgsError:
        return None
