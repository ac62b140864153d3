"""Plain new elements, decided at once.

Most commands add a node or an edge under an id of their own. Where nothing about one is unusual and nobody has to be
asked, its event and its row are written down straight away, as the usual decision and the reducer would have them.
Anything else is left to those: here nothing is refused, and nothing is done by halves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from typing import Any

from ugs.desk import Desk
from ugs.errors import UgsError
from ugs.feature import Command
from ugs.graph.commands import CLAIMING, AddEdge, AddNode
from ugs.graph.events import EDGE_COUNTER, NODE_COUNTER
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.identity import is_identifier
from ugs.values import JsonText, check_type, check_weight, plain_data, plain_properties, to_text


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
    row = Node(id, type and intern(type), properties, None if data == "null" else data, now, now, 1)
    desk.record("NodeAdded", JsonText(text), NODES, id, row)
    return True


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


def _is_node(id: str, desk: Desk) -> bool:
    return _is_id(id) and desk.is_there(NODES, id)


def _is_id(id: Any) -> bool:
    return type(id) is str and is_identifier(id)


def _label(type: Any) -> str | None:
    """A type as JSON; None where it would be refused."""
    if type is None:
        return "null"
    return _label_of(type) if type.__class__ is str else None


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
