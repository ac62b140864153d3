"""The base of all formats: items, writers, and the digest of their content."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple, TextIO

from ugs.errors import InvalidJSON, InvalidSyntax
from ugs.values import to_text, whole

NODE, EDGE = "node", "edge"
Record = dict[str, Any]


class Item(NamedTuple):
    """A node or an edge in transfer, with its JSON record."""

    kind: str
    record: Record


def content_of(item: Item) -> Record:
    """What a file stores of an item: everything but times and versions."""
    record = item.record
    if item.kind == NODE:
        keys: Record = {"type": None, "properties": {}, "data": None}
        return {"id": record["id"], **{key: record.get(key, usual) for key, usual in keys.items()}}
    ends = {"id": record.get("id"), "from": record["from"], "to": record["to"], "type": record.get("type")}
    return {**ends, "weight": whole(record.get("weight", 1)), "properties": record.get("properties", {})}


class Digest:
    """One SHA-256 over the content of nodes by id, then edges by id."""

    def __init__(self) -> None:
        self._hash = sha256()

    def add(self, item: Item) -> None:
        """Add the next item; nodes first, each kind in the order of ids."""
        self._hash.update(f"{item.kind} {to_text(content_of(item))}\n".encode())

    def __str__(self) -> str:
        return self._hash.hexdigest()


class Survey:
    """A first pass over all items, for formats that must declare columns or attributes before the first item."""

    def inspect(self, item: Item) -> None:
        """Inspect an item; does nothing by default."""


class Writer(ABC):
    """Writes items one by one; `written` is the number of items already in the file when writing resumes."""

    head: ClassVar[str] = ""
    tail: ClassVar[str] = ""

    def __init__(self, out: TextIO, survey: Survey, nodes: int = 0, edges: int = 0) -> None:
        self.out = out
        self.survey = survey
        self.nodes = nodes
        self.edges = edges

    def begin(self) -> None:
        """Write what precedes the first item."""
        self.out.write(self.head)

    def write(self, item: Item) -> None:
        """Write the next item."""
        if item.kind == NODE:
            self.write_node(content_of(item))
            self.nodes += 1
        else:
            self.write_edge(content_of(item))
            self.edges += 1

    @abstractmethod
    def write_node(self, node: Record) -> None:
        """Write the next node."""

    @abstractmethod
    def write_edge(self, edge: Record) -> None:
        """Write the next edge; all nodes come before."""

    def end(self) -> None:
        """Write what follows the last item."""
        self.out.write(self.tail)


class Format(NamedTuple):
    """The writer, reader and survey of one file format."""

    name: str
    writer: type[Writer]
    read: Callable[[TextIO], Iterator[Item]]
    survey: type[Survey] | None = None


def item_of(record: object, where: str) -> Item:
    """The node or edge in a JSON object; one with `from` and `to` is an edge. Refused with its place if invalid."""
    if not isinstance(record, dict):
        raise InvalidSyntax(f"{where}: a node or an edge is an object, not {type(record).__name__}")
    kind = record.get("kind")
    if kind not in (None, NODE, EDGE):
        raise InvalidSyntax(f"{where}: kind is node or edge, not {str(kind)[:40]!r}")
    if kind == EDGE or (kind is None and "from" in record and "to" in record):
        return Item(EDGE, _checked(record, ("from", "to"), where))
    return Item(NODE, _checked(record, ("id",), where))


def _checked(record: Record, needed: tuple[str, ...], where: str) -> Record:
    for key in needed:
        if not isinstance(record.get(key), str):
            raise InvalidSyntax(f"{where}: {key!r} must be a text")
    return {key: value for key, value in record.items() if key not in ("kind", "created", "modified", "version")}


def invalid_json(where: str, error: Exception) -> InvalidJSON:
    """The error for JSON that cannot be parsed, with its place in the file."""
    return InvalidJSON(f"{where}: not valid JSON: {error}")
