"""Generated types for the compiler: what each field of a node type needs, and how it is written.

A typed query goes the same way as any other: one plan, one read, straight to text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from schema.compiled import Root, Roots, paged
from schema.orders import NODE_COLUMNS, order_asked
from schema.paging import page_asked
from schema.scalars import instant_text
from schema.selection import Choice, Selection
from schema.shapes import BY_SEQUENCE, NODE_FIELDS, Builder, Nests, Shape, content_of, nests_below
from schema.templates import Arguments, Asked, NestedTemplate, ReadTemplate
from schema.typed_filters import where_of
from schema.typed_names import Kind, Naming, Side
from schema.writers import PAGE_INFO, Compiler, Pieces, keyed
from ugs.graph.bodies import CONTENT_BODIES
from ugs.graph.content import UTF8
from ugs.graph.model import EDGES, NODES
from ugs.identity import is_identifier
from ugs.ontology.model import CONTENTS
from ugs.ontology.properties import PropertyDefinition, is_of
from ugs.reads.plan import Found
from ugs.reads.rendering import (
    Body,
    Cases,
    Column,
    Cursor,
    Items,
    Late,
    Made,
    Many,
    One,
    Parts,
    Piece,
    Rendering,
    Text,
    Total,
    json_of,
)
from ugs.reads.where import Linked, all_of, eq, in_

COMMON = ("id", "type", "created", "modified", "createdAt", "modifiedAt", "version", "label", "properties")
EDGE_COMMON: Mapping[str, Piece] = {
    "id": Column("id"),
    "created": Column("created"),
    "createdAt": Made(lambda found, late: f'"{instant_text(found.row.created)}"'),
    "properties": Column("properties_text"),
}
CONTENT_FIELDS: Mapping[str, Piece] = {
    "format": Column("format"),
    "encoding": Made(lambda found, late: '"UTF8"' if found.row.encoding == UTF8 else '"BASE64"'),
    "size": Column("size"),
    "path": Made(lambda found, late: json_of(found.row.path)),
    "body": One("body", Body(CONTENT_BODIES, (Column("body"),))),
    "__typename": Text('"Content"'),
}


def property_piece(definition: PropertyDefinition) -> Piece:
    """A defined property; what is stored there but of another kind shows as nothing."""
    name, kind = definition.name, definition.kind

    def write(found: Found, late: Late) -> str:
        value = found.row.properties.get(name)
        return json_of(value) if is_of(kind, value) else "null"

    return Made(write)


def write_content(compiler: Compiler, field: Choice, path: str) -> Pieces:
    """What an element says."""
    fields = compiler.selection.below(field).values()
    return [One(path + field.key, Body(CONTENTS, keyed((inner.key, [CONTENT_FIELDS[inner.name]]) for inner in fields)))]


class TypedCompiler(Compiler):
    """A compiler that marks what is one of several types, for the ordinary executor to tell them apart."""

    marking = True


class TypedShapes:
    """The shapes of all node types of an ontology; they refer to each other."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        self.shapes = {kind.type: self._shape(kind) for kind in naming.kinds.values()}

    def roots(self) -> Roots:
        """How each root field is compiled."""
        found: dict[str, Callable[[Compiler, Choice], Root]] = {}
        for kind in self.naming.kinds.values():
            found[kind.singular] = self._single(kind)
            found[kind.plural] = paged(self.shapes[kind.type], asked_of(kind))
        return found

    def _shape(self, kind: Kind) -> Shape:
        plain = {name: NODE_FIELDS[name] for name in COMMON}
        plain |= {name: property_piece(definition) for name, definition in kind.properties.items()}
        related: dict[str, Builder] = {"content": content_of}
        makers: dict[str, Callable[[Any, Choice, str], list[Piece]]] = {"content": write_content}
        for name, side in kind.sides.items():
            related[name], makers[name] = self._needs(side), self._writes(side)
        return Shape(NODES, kind.name, related, plain, makers=makers)

    def by_id(self, kind: Kind, selection: Selection, choice: Choice, ids: Callable[[Any], str]) -> ReadTemplate:
        """The read of one node of a type."""
        shape = self.shapes[kind.type]

        def asked(arguments: dict[str, Any]) -> Asked:
            return all_of(eq("id", ids(arguments)), eq("type", kind.type)), (), page_asked({"first": 1}, NODES, ())

        return ReadTemplate(NODES, nests_below(selection, choice, shape), False, Arguments(choice), asked)

    def _single(self, kind: Kind) -> Callable[[Compiler, Choice], Root]:
        def make(compiler: Compiler, choice: Choice) -> Root:
            arguments = Arguments(choice)
            template = self.by_id(kind, compiler.selection, choice, lambda given: str(given["id"]))

            def plan(variables: Any) -> Any:
                return template.bind(variables) if is_identifier(arguments(variables)["id"]) else None

            return Root(choice.key, plan, Rendering(compiler.row(choice, self.shapes[kind.type])))

        return make

    # ── connections, seen from a node ────────────────────────────────────────

    def _needs(self, side: Side) -> Builder:
        """The connections at a node, each with the node at its other end."""
        relation, end = ("outgoing", "target_node") if side.outgoing else ("incoming", "source_node")

        def build(selection: Selection, choice: Choice, path: str) -> Nests:
            fields = selection.below(choice).values()
            total = any(field.name == "totalCount" for field in fields)
            nests: Nests = {}
            for field in fields:
                if field.name == "nodes":
                    nests[f"{field.key}/end"] = NestedTemplate(end, self._end(selection, field, side))
                elif field.name == "edges":
                    nests |= self._edge_needs(selection, field, side, end)
            read = ReadTemplate(EDGES, nests, total, Arguments(choice), self._asked(side, end))
            return {path + choice.key: NestedTemplate(relation, read)}

        return build

    def _edge_needs(self, selection: Selection, field: Choice, side: Side, end: str) -> Nests:
        nests: Nests = {}
        for inner in selection.below(field).values():
            if inner.name == "node":
                nests[f"{field.key}/{inner.key}/end"] = NestedTemplate(end, self._end(selection, inner, side))
            elif inner.name == "content":
                nests |= content_of(selection, inner, f"{field.key}/")
        return nests

    def _end(self, selection: Selection, choice: Choice, side: Side) -> ReadTemplate:
        nests: Nests = {}
        for kind, path in self._paths(side):
            nests |= nests_below(selection, choice, self.shapes[kind.type], path)
        return ReadTemplate(NODES, nests)

    def _paths(self, side: Side) -> list[tuple[Kind, str]]:
        """The node types at the other end; where there may be several, each keeps what it needs apart."""
        alone = self.naming.has_one_end(side)
        return [(kind, "" if alone else f"{kind.name}/") for kind in self.naming.ends(side)]

    def _asked(self, side: Side, end: str) -> Callable[[dict[str, Any]], Asked]:
        ends = self.naming.ends(side)
        alone = self.naming.has_one_end(side)

        def asked(arguments: dict[str, Any]) -> Asked:
            fits = in_("type", [kind.type for kind in ends])
            if alone:
                fits = all_of(fits, where_of(ends[0], arguments.get("where")))
            where = all_of(eq("type", side.link.type.name), Linked(end, fits))
            return where, BY_SEQUENCE, page_asked(arguments, EDGES, BY_SEQUENCE)

        return asked

    def _writes(self, side: Side) -> Callable[[Any, Choice, str], list[Piece]]:
        def make(compiler: Compiler, choice: Choice, path: str) -> Pieces:
            fields = compiler.selection.below(choice).values()
            parts = Parts(keyed((field.key, self._part(compiler, field, side)) for field in fields))
            return [Many(path + choice.key, parts)]

        return make

    def _part(self, compiler: Compiler, field: Choice, side: Side) -> Pieces:
        if field.name == "totalCount":
            return [Total()]
        if field.name == "pageInfo":
            fields = compiler.selection.below(field).values()
            return list(keyed((inner.key, [PAGE_INFO[inner.name]]) for inner in fields))
        if field.name == "nodes":
            body = Body(EDGES, (One(f"{field.key}/end", self._end_body(compiler, field, side)),))
            return [Text("["), Items(body), Text("]")]
        if field.name == "edges":
            fields = compiler.selection.below(field).values()
            pieces = keyed((inner.key, self._edge_part(compiler, inner, field, side)) for inner in fields)
            return [Text("["), Items(Body(EDGES, pieces)), Text("]")]
        return [Text(json_of(field.parent.name))]

    def _edge_part(self, compiler: Compiler, inner: Choice, field: Choice, side: Side) -> Pieces:
        if inner.name == "cursor":
            return [Cursor()]
        if inner.name == "node":
            return [One(f"{field.key}/{inner.key}/end", self._end_body(compiler, inner, side))]
        if inner.name == "content":
            return write_content(compiler, inner, f"{field.key}/")
        if inner.name in side.link.properties:
            return [property_piece(side.link.properties[inner.name])]
        return [EDGE_COMMON.get(inner.name) or Text(json_of(inner.parent.name))]

    def _end_body(self, compiler: Compiler, choice: Choice, side: Side) -> Body:
        bodies = {kind.type: compiler.row(choice, self.shapes[kind.type], path) for kind, path in self._paths(side)}
        if self.naming.has_one_end(side):
            return next(iter(bodies.values()))
        if isinstance(compiler, TypedCompiler):
            bodies = {type: marked(body, self.shapes[type]) for type, body in bodies.items()}
        return Body(NODES, (Cases("type", bodies),))


MARK = "__kind"


def marked(body: Body, shape: Shape) -> Body:
    """A body that also says which type it shows."""
    first, *rest = body.pieces
    assert isinstance(first, Text)
    comma = "" if first.text == "{}" else ","
    head = Text(f'{{"{MARK}":{json_of(shape.type_name)}{comma}{first.text[1:]}')
    return Body(body.table, (head, *rest))


def asked_of(kind: Kind) -> Callable[[dict[str, Any]], Asked]:
    """What the arguments of a list of one type ask for: by id unless told."""

    def asked(arguments: dict[str, Any]) -> Asked:
        order = order_asked(arguments.get("orderBy"), NODE_COLUMNS)
        where = all_of(eq("type", kind.type), where_of(kind, arguments.get("where")))
        return where, order, page_asked(arguments, NODES, order)

    return asked
