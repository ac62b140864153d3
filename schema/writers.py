"""From rows to the response, as text: one generated function per selection, no object per field.

A row keeps its JSON as text, so writing it out is copying. The functions are ordinary Python made of format strings;
only response keys and constants from the query enter them, as JSON literals. What cannot be written this way raises
`NotCompiled`, and the ordinary executor answers instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from schema.cursors import encode_cursor, order_name
from schema.paging import page_info
from schema.scalars import instant_text
from schema.selection import Choice, Selection
from schema.shapes import EDGE, NODE, Shape, edges_at_node
from schema.templates import Arguments, Asked
from ugs.graph.model import Node
from ugs.identity import scope_of
from ugs.reads.plan import Found, Order, Page, Rows, full_order, place_of
from ugs.values import from_text

_encode = msgspec.json.Encoder().encode


class NotCompiled(Exception):
    """This selection needs the ordinary executor."""


def json_of(value: Any) -> str:
    return _encode(value).decode()


class _Types(dict[str | None, str]):
    """Type names as JSON; there are few of them, so each is encoded once."""

    def __missing__(self, type: str | None) -> str:
        text = json_of(type)
        if len(self) < 10_000:
            self[type] = text
        return text


def label_of(row: Node) -> str:
    """A name for people: the property label, name or title, else the id."""
    properties = row.properties
    names = (properties.get(key) for key in ("label", "name", "title"))
    return next((name for name in names if isinstance(name, str) and name), row.id)


def property_of(text: str, key: str) -> str:
    return json_of(from_text(text).get(key))


HELPERS: dict[str, Any] = {
    "TYPES": _Types(),
    "json_of": json_of,
    "label_of": label_of,
    "property_of": property_of,
    "instant_text": instant_text,
    "scope_name": lambda id: scope_of(id).name,
    "counted": lambda nest, name, arguments: counted(nest, name, arguments),
}

COMMON = {
    "id": '"{r.id}"',
    "type": "{TYPES[r.type]}",
    "scope": '"{scope_name(r.id)}"',
    "created": "{r.created}",
    "modified": "{r.modified}",
    "createdAt": '"{instant_text(r.created)}"',
    "modifiedAt": '"{instant_text(r.modified)}"',
    "version": "{r.version}",
    "properties": "{r.properties_text}",
}
PLAIN: Mapping[str, Mapping[str, str]] = {
    "GraphNode": {**COMMON, "data": "{r.data_text or 'null'}", "label": "{json_of(label_of(r))}"},
    "GraphEdge": {**COMMON, "from": '"{r.source}"', "to": '"{r.target}"', "weight": "{json_of(float(r.weight))}"},
}
"""Fields that are written from the row alone."""

Write = Callable[[Any, list[Any]], str]
"""Writes a found row or a page; the list holds what the variables made of the arguments."""


class Compiler:
    """Turns a selection into a function that writes it."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.names: dict[str, Any] = dict(HELPERS)
        self.binders: list[Callable[[Any], Any]] = []

    def hold(self, value: Any) -> str:
        """A name under which generated code finds a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def late(self, binder: Callable[[Any], Any]) -> int:
        """A place in the list that is filled from the variables of each request."""
        self.binders.append(binder)
        return len(self.binders) - 1

    def function(self, body: str) -> str:
        """A generated function of a found row."""
        source = f"def write(f, v):\n    r = f.row\n    n = f.nest\n    return f'''{body}'''\n"
        scope = self.names
        exec(compile(source, "<selection>", "exec"), scope)
        return self.hold(scope.pop("write"))

    # ── rows ─────────────────────────────────────────────────────────────────

    def row(self, choice: Choice, shape: Shape, path: str = "") -> str:
        """The name of a function that writes a row with the fields chosen below a field."""
        fields = self.selection.below(choice, shape.type_name)
        parts = [f"{key_text(field.key)}:{self._field(field, shape, path)}" for field in fields.values()]
        return self.function("{{" + ",".join(parts) + "}}")

    def _field(self, field: Choice, shape: Shape, path: str) -> str:
        if field.name == "__typename":
            return f'"{shape.type_name}"'
        if field.name in ("properties", "data", "property"):
            self._check_not_expanded(field)
        plain = PLAIN[shape.type_name].get(field.name)
        if plain is not None:
            return plain
        special = SPECIAL.get(field.name)
        if special is None:
            raise NotCompiled(field.name)
        return special(self, field, path)

    def _check_not_expanded(self, field: Choice) -> None:
        arguments = Arguments(field)
        if not arguments.constant and field.name != "property":
            raise NotCompiled("resolveDepth")
        for argument in field.nodes[0].arguments or ():
            if argument.name.value == "resolveDepth":
                raise NotCompiled("resolveDepth")

    def property_field(self, field: Choice, path: str) -> str:
        place = self.late(Arguments(field))
        return f"{{property_of(r.properties_text, v[{place}]['key'])}}"

    def degree_field(self, field: Choice, path: str) -> str:
        place = self.late(Arguments(field))
        return f"{{counted(n, {self.hold(path + field.key)}, v[{place}])}}"

    def end_field(self, field: Choice, path: str) -> str:
        write = self.row(field, NODE)
        name = self.hold(path + field.key)
        return f"{{{write}(n[{name}].items[0], v) if n[{name}].items else 'null'}}"

    def dangling_field(self, field: Choice, path: str) -> str:
        source, target = (self.hold(f"{path}{field.key}/{end}") for end in ("source_node", "target_node"))
        return f"{{'false' if n[{source}].items and n[{target}].items else 'true'}}"

    def edges_field(self, field: Choice, path: str) -> str:
        write = self.connection(field, EDGE, edges_at_node)
        return f"{{{write}(n[{self.hold(path + field.key)}], v)}}"

    # ── connections ──────────────────────────────────────────────────────────

    def connection(self, choice: Choice, shape: Shape, asked: Callable[[dict[str, Any]], Asked]) -> str:
        """The name of a function that writes a page with the fields chosen below a connection field."""
        arguments = Arguments(choice)
        place = self.late(lambda variables: paging(shape, asked(arguments(variables))))
        fields = self.selection.below(choice)
        parts = [(key_text(field.key), self._part(field, shape)) for field in fields.values()]

        def write(rows: Rows, late: list[Any]) -> str:
            paged = Paged(rows, *late[place])
            return "{" + ",".join([f"{key}:{part(paged, late)}" for key, part in parts]) + "}"

        return self.hold(write)

    def _part(self, field: Choice, shape: Shape) -> Callable[[Paged, list[Any]], str]:
        if field.name == "totalCount":
            return lambda paged, late: str(paged.rows.total or 0)
        if field.name == "__typename":
            name = json_of(f"{shape.type_name}Connection")
            return lambda paged, late: name
        if field.name == "nodes":
            write = self.names[self.row(field, shape, f"{field.key}/")]
            return lambda paged, late: "[" + ",".join([write(item, late) for item in paged.rows.items]) + "]"
        if field.name == "pageInfo":
            return self._page_info(field)
        if field.name == "edges":
            return self._edges(field, shape)
        raise NotCompiled(field.name)

    def _page_info(self, field: Choice) -> Callable[[Paged, list[Any]], str]:
        fields = [(key_text(inner.key), PAGE_INFO[inner.name]) for inner in self.selection.below(field).values()]
        return lambda paged, late: "{" + ",".join([f"{key}:{get(paged)}" for key, get in fields]) + "}"

    def _edges(self, field: Choice, shape: Shape) -> Callable[[Paged, list[Any]], str]:
        parts = [(inner.name, self._edge_part(inner, field, shape)) for inner in self.selection.below(field).values()]
        heads = [head for _, (head, _) in parts]
        writes = [write for _, (_, write) in parts]

        def write_one(item: Found, paged: Paged, late: list[Any]) -> str:
            return "{" + ",".join([h + w(item, paged, late) for h, w in zip(heads, writes, strict=True)]) + "}"

        return lambda paged, late: "[" + ",".join([write_one(item, paged, late) for item in paged.rows.items]) + "]"

    def _edge_part(self, inner: Choice, field: Choice, shape: Shape) -> tuple[str, Callable[..., str]]:
        head = key_text(inner.key) + ":"
        if inner.name == "cursor":
            return head, lambda item, paged, late: f'"{paged.cursor(item)}"'
        if inner.name == "node":
            write = self.names[self.row(inner, shape, f"{field.key}/{inner.key}/")]
            return head, lambda item, paged, late: write(item, late)
        name = json_of(f"{shape.type_name}Edge")
        return head, lambda item, paged, late: name


SPECIAL: Mapping[str, Callable[[Compiler, Choice, str], str]] = {
    "property": Compiler.property_field,
    "degree": Compiler.degree_field,
    "fromNode": Compiler.end_field,
    "toNode": Compiler.end_field,
    "dangling": Compiler.dangling_field,
    "outgoing": Compiler.edges_field,
    "incoming": Compiler.edges_field,
}
"""Fields that need more than the row."""


def key_text(key: str) -> str:
    """A response key as JSON. GraphQL names need no escaping, neither in JSON nor in a format string."""
    return f'"{key}"'


def counted(nest: Mapping[str, Rows], name: str, arguments: Mapping[str, Any]) -> int:
    """The edges at the sides of a node that `degree` asks for."""
    direction = getattr(arguments.get("direction"), "name", "BOTH")
    sides = ("outgoing", "incoming") if direction == "BOTH" else (direction.lower(),)
    return sum(nest[f"{name}/{side}"].total or 0 for side in sides)


def paging(shape: Shape, asked: Asked) -> tuple[Page, tuple[Order, ...], str]:
    """What cursors of a page are made of."""
    _, order, page = asked
    whole = full_order(shape.table, order)
    return page, whole, order_name(whole)


class Paged:
    """A page being written."""

    def __init__(self, rows: Rows, page: Page, order: tuple[Order, ...], order_text: str) -> None:
        self.rows, self.page, self.order, self.order_text = rows, page, order, order_text

    def cursor(self, item: Found) -> str:
        return encode_cursor(self.order_text, place_of(item.row, self.order))

    def info(self) -> Any:
        ends = [self.rows.items[0], self.rows.items[-1]] if self.rows.items else []
        return page_info(self.page, self.rows.more, [self.cursor(item) for item in ends])


PAGE_INFO: Mapping[str, Callable[[Paged], str]] = {
    "hasNextPage": lambda paged: json_of(paged.info().has_next_page),
    "hasPreviousPage": lambda paged: json_of(paged.info().has_previous_page),
    "startCursor": lambda paged: json_of(paged.info().start_cursor),
    "endCursor": lambda paged: json_of(paged.info().end_cursor),
    "__typename": lambda paged: '"PageInfo"',
}
