"""Plain new elements, decided at once.

Most commands add a node or an edge under an id of their own. Where nothing about one is unusual and nobody has to be
asked, its event and its row are written down straight away, as the usual decision and the reducer would have them.
Anything else is left to those: here nothing is refused, and nothing is done by halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from sys import intern
from types import NoneType
from typing import Any

from ugs.changes import NewElements
from ugs.desk import Desk
from ugs.errors import UgsError
from ugs.feature import Command
from ugs.graph.commands import CLAIMING, AddEdge, AddNode
from ugs.graph.events import EDGE_COUNTER, NODE_COUNTER
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.identity import are_identifiers, is_identifier
from ugs.values import (
    MAX_DATA_BYTES,
    MAX_PROPERTIES,
    MAX_PROPERTIES_BYTES,
    NULL,
    JsonText,
    check_type,
    check_weight,
    plain_data,
    plain_properties,
    plain_texts,
    to_text,
)

_COLUMNS = attrgetter("id", "type", "properties", "data", "expected_version", "content")


def add_node(command: AddNode, desk: Desk) -> bool:
    """Add a plain node; False, and nothing has happened, where it is not plain."""
    id, type = command.id, command.type
    if id is None or not _is_fresh(command, id, NODE_COUNTER, desk) or (label := _label(type)) is None:
        return False
    properties, data = plain_properties(command.properties), plain_data(command.data)
    if properties is None or data is None:
        return False
    now = desk.now
    text = f'{{"created":{now},"data":{data},"id":"{id}","modified":{now},"properties":{properties},"type":{label}}}'
    row = Node(id, type and intern(type), properties, None if data == NULL else data, now, now, 1)
    desk.record("NodeAdded", JsonText(text), NODES, id, row)
    return True


def new_nodes(commands: Sequence[AddNode], sizes: Sequence[int], desk: Desk) -> NewElements | None:
    """What adding nodes comes to, of which so many belong together; None unless all of them are plain."""
    ids, types, maps, loads, *others = zip(*map(_COLUMNS, commands), strict=True)
    if any(column.count(None) < len(ids) for column in others) or not _are_fresh(ids, NODE_COUNTER, desk):
        return None
    labels = _labels(types)
    if labels is None or set(map(type, maps)) != {dict} or max(map(len, maps)) > MAX_PROPERTIES:
        return None
    properties, data = plain_texts(maps, MAX_PROPERTIES_BYTES), plain_texts(loads, MAX_DATA_BYTES)
    if properties is None or data is None:
        return None
    now = desk.now
    texts = [
        JsonText(
            f'{{"created":{now},"data":{load},"id":"{id}","modified":{now},"properties":{each},"type":{labels[kind]}}}'
        )
        for id, kind, each, load in zip(ids, types, properties, data, strict=True)
    ]
    rows = [
        Node(id, kind and intern(kind), each, None if load == NULL else load, now, now, 1)
        for id, kind, each, load in zip(ids, types, properties, data, strict=True)
    ]
    return NewElements("NodeAdded", texts, NODES, ids, rows, sizes)


def nodes_together(commands: Sequence[AddNode], desk: Desk) -> NewElements | None:
    """What some commands come to together."""
    return new_nodes(commands, [1] * len(commands), desk)


def add_edge(command: AddEdge, desk: Desk) -> bool:
    """Add a plain edge between nodes that are there; False, and nothing has happened, where it is not plain."""
    id, source, target, type = command.id, command.source, command.target, command.type
    if id is None or not _is_fresh(command, id, EDGE_COUNTER, desk) or (label := _label(type)) is None:
        return False
    properties, weight = plain_properties(command.properties), _plain_weight(command.weight)
    if properties is None or weight is None or not (_is_node(source, desk) and _is_node(target, desk)):
        return False
    now = desk.now
    text = (
        f'{{"created":{now},"from":"{source}","id":"{id}","modified":{now},"properties":{properties},'
        f'"to":"{target}","type":{label},"weight":{to_text(weight)}}}'
    )
    row = Edge(id, source, target, type and intern(type), weight, properties, now, now, 1, desk.next_position)
    desk.record("EdgeAdded", JsonText(text), EDGES, id, row)
    return True


QUICK: Mapping[type[Command], Any] = {AddNode: add_node, AddEdge: add_edge}


def _is_fresh(command: AddNode | AddEdge, id: str, counter: str, desk: Desk) -> bool:
    """Whether a new element has an id that was never used, which no counter has to know, and nothing besides."""
    return (
        command.expected_version is None
        and command.content is None
        and _is_id(id)
        and not id.startswith(counter)
        and desk.is_unused(id, CLAIMING)
    )


def _are_fresh(ids: Sequence[Any], counter: str, desk: Desk) -> bool:
    """The same of several ids."""
    return (
        set(map(type, ids)) == {str}
        and are_identifiers(ids)
        and not any([id.startswith(counter) for id in ids])
        and desk.are_unused(ids, CLAIMING)
    )


def _is_node(id: str, desk: Desk) -> bool:
    return _is_id(id) and desk.is_there(NODES, id)


def _is_id(id: Any) -> bool:
    return type(id) is str and is_identifier(id)


def _label(type: Any) -> str | None:
    """A type as JSON; None where it would be refused."""
    if type is None:
        return "null"
    return _label_of(type) if type.__class__ is str else None


def _labels(types: Sequence[Any]) -> dict[str | None, str] | None:
    """Types as JSON; None where one would be refused."""
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
