"""From a selection to a rendering: which text stands where in the response, for every row and every page.

What a store may write itself is said in pieces (`ugs.reads.rendering`); what needs more than a column is made from
the row. What cannot be written either way raises `NotCompiled`, and the ordinary executor answers instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from schema.selection import Choice, Selection
from schema.shapes import SHAPES, Shape
from schema.templates import Arguments
from ugs.reads.plan import Found
from ugs.reads.rendering import (
    Body,
    Cursor,
    EndCursor,
    Further,
    Items,
    Late,
    Made,
    Many,
    One,
    Parts,
    Piece,
    Text,
    Total,
    json_of,
)
from ugs.values import from_text

Pieces = list[Piece]


class NotCompiled(Exception):
    """This selection needs the ordinary executor."""


class Compiler:
    """Turns a selection into renderings."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.binders: list[Callable[[Any], Any]] = []

    def late(self, binder: Callable[[Any], Any]) -> int:
        """A place in the list that is filled from the variables of each request."""
        self.binders.append(binder)
        return len(self.binders) - 1

    # ── rows ─────────────────────────────────────────────────────────────────

    def row(self, choice: Choice, shape: Shape, path: str = "") -> Body:
        """How a row is written with the fields chosen below a field."""
        fields = self.selection.below(choice, shape.type_name).values()
        return body_of(shape, ((field.key, self._field(field, shape, path)) for field in fields))

    def _field(self, field: Choice, shape: Shape, path: str) -> Pieces:
        if field.name == "__typename":
            return [Text(f'"{shape.type_name}"')]
        piece = shape.plain.get(field.name)
        if piece is not None:
            self._check_plain(field)
            return [piece]
        make = shape.makers.get(field.name) or (MAKERS[field.name] if field.name in shape.made else None)
        if make is None:
            raise NotCompiled(field.name)
        return make(self, field, path)

    def _check_plain(self, field: Choice) -> None:
        """A field that is written as it stands; asked to follow addresses, it is not."""
        if field.nodes[0].arguments:
            raise NotCompiled(field.name)

    def property_field(self, field: Choice, path: str) -> Pieces:
        for argument in field.nodes[0].arguments or ():
            if argument.name.value == "resolveDepth":
                raise NotCompiled("resolveDepth")
        place = self.late(Arguments(field))

        def write(found: Found, late: Late) -> str:
            return json_of(from_text(found.row.properties_text).get(late[place]["key"]))

        return [Made(write)]

    def degree_field(self, field: Choice, path: str) -> Pieces:
        place, name = self.late(Arguments(field)), path + field.key

        def write(found: Found, late: Late) -> str:
            direction = getattr(late[place].get("direction"), "name", "BOTH")
            sides = ("outgoing", "incoming") if direction == "BOTH" else (direction.lower(),)
            return str(sum(found.nest[f"{name}/{side}"].total or 0 for side in sides))

        return [Made(write)]

    def end_field(self, field: Choice, path: str) -> Pieces:
        return [One(path + field.key, self.row(field, SHAPES["GraphNode"]))]

    def dangling_field(self, field: Choice, path: str) -> Pieces:
        ends = [f"{path}{field.key}/{end}" for end in ("source_node", "target_node")]

        def write(found: Found, late: Late) -> str:
            return json_of(not all(found.nest[end].items for end in ends))

        return [Made(write)]

    def edges_field(self, field: Choice, path: str) -> Pieces:
        return [Many(path + field.key, self.connection(field, SHAPES["GraphEdge"]))]

    # ── connections ──────────────────────────────────────────────────────────

    def connection(self, choice: Choice, shape: Shape) -> Parts:
        """How a page is written with the fields chosen below a connection field."""
        fields = self.selection.below(choice).values()
        return Parts(keyed((field.key, self._part(field, shape)) for field in fields))

    def _part(self, field: Choice, shape: Shape) -> Pieces:
        if field.name == "totalCount":
            return [Total()]
        if field.name == "__typename":
            return [Text(json_of(f"{shape.type_name}Connection"))]
        if field.name == "nodes":
            return [Text("["), Items(self.row(field, shape, f"{field.key}/")), Text("]")]
        if field.name == "pageInfo":
            fields = self.selection.below(field).values()
            return list(keyed((inner.key, [PAGE_INFO[inner.name]]) for inner in fields))
        if field.name == "edges":
            return self._edges(field, shape)
        raise NotCompiled(field.name)

    def _edges(self, field: Choice, shape: Shape) -> Pieces:
        fields = self.selection.below(field).values()
        body = body_of(shape, ((inner.key, self._edge_part(inner, field, shape)) for inner in fields))
        return [Text("["), Items(body), Text("]")]

    def _edge_part(self, inner: Choice, field: Choice, shape: Shape) -> Pieces:
        if inner.name == "cursor":
            return [Cursor()]
        if inner.name == "node":
            return list(self.row(inner, shape, f"{field.key}/{inner.key}/").pieces)
        return [Text(json_of(f"{shape.type_name}Edge"))]


MAKERS: Mapping[str, Callable[[Compiler, Choice, str], Pieces]] = {
    "property": Compiler.property_field,
    "degree": Compiler.degree_field,
    "fromNode": Compiler.end_field,
    "toNode": Compiler.end_field,
    "dangling": Compiler.dangling_field,
    "outgoing": Compiler.edges_field,
    "incoming": Compiler.edges_field,
}
"""Fields that need more than the row."""

PAGE_INFO: Mapping[str, Piece] = {
    "hasNextPage": Further(behind=True),
    "hasPreviousPage": Further(behind=False),
    "startCursor": EndCursor(last=False),
    "endCursor": EndCursor(last=True),
    "__typename": Text('"PageInfo"'),
}


def body_of(shape: Shape, fields: Iterable[tuple[str, Pieces]]) -> Body:
    return Body(shape.table, keyed(fields))


def keyed(fields: Iterable[tuple[str, Pieces]]) -> tuple[Piece, ...]:
    """An object of these keys, neighbouring texts as one. GraphQL names need no escaping in JSON."""
    pieces: Pieces = []
    for number, (key, value) in enumerate(fields):
        pieces += [Text(f'{"," if number else "{"}"{key}":'), *value]
    return merged([*pieces, Text("}")]) if pieces else (Text("{}"),)


def merged(pieces: Pieces) -> tuple[Piece, ...]:
    """The same with fewer texts."""
    found: Pieces = []
    for piece in pieces:
        last = found[-1] if found else None
        if isinstance(piece, Text) and isinstance(last, Text):
            found[-1] = Text(last.text + piece.text)
        else:
            found.append(piece)
    return tuple(found)
