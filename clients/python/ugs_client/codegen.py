"""Makes typed methods from a schema: `ugs-client-codegen <SDL file or URL> <folder>` writes a package.

`types.py` has a TypedDict for each type and input, and a Literal for each enum; `operations.py` each root field as a
value; `methods.py` a method for each of them, awaited and not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from keyword import iskeyword
from pathlib import Path
from textwrap import wrap
from typing import Any
from urllib.request import Request, urlopen

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    Undefined,
    build_schema,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

SCALARS = {
    **{"ID": "str", "String": "str", "UUID": "str", "DateTime": "str", "Boolean": "bool", "Float": "float"},
    **{"Int": "int", "Millis": "int", "Position": "int"},
}
"""Other scalars are any JSON."""
INPUT_SCALARS = {"DateTime": "str | datetime", "UUID": "str | UUID"}
SELECTIONS = {
    "GraphNode": "id type label properties data created modified version",
    "GraphEdge": "id type from to weight properties created modified version",
    "Fact": "factId subject { entityId canonical } predicate objectEntity { entityId canonical } objectValue scope "
    "validFrom validTo active",
    "CypherResult": "columns rows truncated explanation durationMs notifications { code message line column }",
}
"""What is asked for of these types unless told otherwise. Of others: all fields without subfields, and those below
that are no things of their own (`Node`)."""
LEFT_OUT = ("totalCount", "startCursor", "hasPreviousPage")
"""What nobody asks for without saying so: counting may cost more than the page."""
PAGE_FIELDS = ("nodes", "edges", "pageInfo")
"""Of a page; its aggregates are asked for by name."""
MAX_DEPTH = 4
DOC_WIDTH = 110
KEY = "idempotencyKey"
HEAD = '"""{}\n\nMade by `python -m ugs_client.codegen` from the schema of the gateway: not edited by hand.\n"""\n'
CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def main(words: list[str] | None = None) -> int:
    """`ugs-client-codegen <SDL file or URL> <folder>`"""
    given = sys.argv[1:] if words is None else words
    if len(given) != 2:
        print("usage: ugs-client-codegen <SDL file or URL> <folder>", file=sys.stderr)
        return 2
    folder = Path(given[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in generate(load_sdl(given[0])).items():
        (folder / name).write_text(text, "utf-8")
    return 0


def load_sdl(place: str) -> str:
    """The SDL in a file, or at a gateway: `http://localhost:8000/graphql/default/schema.graphql`."""
    if "://" not in place:
        return Path(place).read_text("utf-8")
    with urlopen(Request(place, headers={"accept": "text/plain, */*"}), timeout=60) as answer:
        return str(answer.read().decode())


def generate(sdl: str) -> dict[str, str]:
    """The modules of the package, by file name."""
    schema = build_schema(sdl)
    return {
        "__init__.py": HEAD.format("The types and root fields of one schema."),
        "types.py": "".join(_types(schema)),
        "operations.py": "".join(_operations(schema)),
        "methods.py": "".join(_methods(schema)),
    }


def default_selection(kind: GraphQLNamedType, on_path: tuple[str, ...] = ()) -> str:
    """The fields of a type that are asked for unless told otherwise."""
    if kind.name in SELECTIONS:
        return SELECTIONS[kind.name]
    if isinstance(kind, GraphQLUnionType):
        members = (f"... on {member.name} {{ {default_selection(member, on_path)} }}" for member in kind.types)
        return " ".join(("__typename", *members))
    if not isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        return ""
    shown = ["__typename"] if isinstance(kind, GraphQLInterfaceType) else []
    for name, field in kind.fields.items():
        inner = get_named_type(field.type)
        if name in LEFT_OUT or any(map(is_required_argument, field.args.values())):
            continue
        if "pageInfo" in kind.fields and name not in PAGE_FIELDS:
            continue
        if is_leaf_type(inner):
            shown.append(name)
        elif _is_expanded(kind, name, inner, on_path) and (below := default_selection(inner, (*on_path, kind.name))):
            shown.append(f"{name} {{ {below} }}")
    return " ".join(shown)


def _is_expanded(kind: Any, name: str, inner: GraphQLNamedType, on_path: tuple[str, ...]) -> bool:
    if _is_thing(kind) or inner.name in (kind.name, *on_path) or len(on_path) >= MAX_DEPTH:
        return False
    return not (name == "edges" and "nodes" in kind.fields)


def _is_thing(kind: Any) -> bool:
    """Whether it has an identity of its own, as nodes, facts and notes have."""
    return isinstance(kind, GraphQLInterfaceType) or any(one.name == "Node" for one in kind.interfaces)


# ── types ────────────────────────────────────────────────────────────────────
def _types(schema: GraphQLSchema) -> Iterator[str]:
    yield HEAD.format("The types of the schema; an answer has those of their keys that were asked for.")
    yield "\nfrom datetime import datetime\nfrom typing import Any, Literal, Required, TypedDict, Union\n"
    yield "from uuid import UUID\n"
    for kind in sorted(schema.type_map.values(), key=lambda kind: kind.name):
        if kind.name.startswith("__") or kind in (schema.query_type, schema.mutation_type, schema.subscription_type):
            continue
        if isinstance(kind, GraphQLEnumType):
            yield f"\n{kind.name} = Literal[{', '.join(_quoted(value) for value in kind.values)}]\n"
        elif isinstance(kind, GraphQLUnionType):
            yield f"\n{kind.name} = Union[{', '.join(_quoted(member.name) for member in kind.types)}]\n"
        elif isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            pairs = {name: _type_of(field.type) for name, field in kind.fields.items()}
            yield _typed_dict(kind.name, kind.description, {**pairs, "__typename": "str"})
        elif isinstance(kind, GraphQLInputObjectType):
            yield _typed_dict(kind.name, kind.description, dict(_input_fields(kind)))


def _input_fields(kind: GraphQLInputObjectType) -> Iterator[tuple[str, str]]:
    for name, field in kind.fields.items():
        shown = _type_of(field.type, INPUT_SCALARS)
        needed = isinstance(field.type, GraphQLNonNull) and field.default_value is Undefined
        yield name, f"Required[{shown}]" if needed else shown


def _typed_dict(name: str, description: str | None, fields: dict[str, str]) -> str:
    rows = "".join(f"        {_quoted(field)}: {_quoted(shown)},\n" for field, shown in fields.items())
    doc = f"{_doc(description, '')}\n" if description else ""
    return f"\n{name} = TypedDict(\n    {_quoted(name)},\n    {{\n{rows}    }},\n    total=False,\n)\n{doc}"


def _type_of(kind: Any, scalars: dict[str, str] | None = None, prefix: str = "") -> str:
    """A GraphQL type as an annotation."""
    if isinstance(kind, GraphQLNonNull):
        inner = kind.of_type
        if isinstance(inner, GraphQLList):
            return f"list[{_type_of(inner.of_type, scalars, prefix)}]"
        if isinstance(inner, GraphQLScalarType):
            return (scalars or {}).get(inner.name) or SCALARS.get(inner.name, "Any")
        return f"{prefix}{inner.name}"
    shown = _type_of(GraphQLNonNull(kind), scalars, prefix)
    return shown if shown == "Any" else f"{shown} | None"


# ── operations ───────────────────────────────────────────────────────────────
def _operations(schema: GraphQLSchema) -> Iterator[str]:
    yield HEAD.format("The root fields of the schema, each with what is asked for unless told otherwise.")
    yield "\nfrom ugs_client.operation import Operation\n"
    for kind, name, field in _root_fields(schema):
        inner = get_named_type(field.type)
        selection = default_selection(inner)
        arguments = {given: str(argument.type) for given, argument in field.args.items()}
        told = {
            "selection": selection,
            "key": _key_of(field) if kind == "mutation" else "",
            "page": _page_of(field) if kind == "query" else "",
            "position": "seq" if "afterSeq" in field.args and "seq" in selection.split() else "",
        }
        rows = "".join(f"    {key}={_folded(value)},\n" for key, value in told.items() if value)
        types = "{" + ", ".join(f"{_quoted(given)}: {_quoted(shown)}" for given, shown in arguments.items()) + "}"
        named = f"    {_quoted(kind)},\n    {_quoted(name)},\n"
        yield f"{_constant(kind, name)} = Operation(\n{named}    {types},\n{rows})\n"


def _root_fields(schema: GraphQLSchema) -> Iterator[tuple[str, str, GraphQLField]]:
    roots = {"query": schema.query_type, "mutation": schema.mutation_type, "subscription": schema.subscription_type}
    for kind, root in roots.items():
        for name, field in (root.fields if root is not None else {}).items():
            if not name.startswith("_"):
                yield kind, name, field


def _key_of(field: GraphQLField) -> str:
    if KEY in field.args:
        return "argument"
    given = field.args.get("input")
    inner = get_named_type(given.type) if given is not None else None
    return "input" if isinstance(inner, GraphQLInputObjectType) and KEY in inner.fields else ""


def _page_of(field: GraphQLField) -> str:
    fields = getattr(get_named_type(field.type), "fields", {})
    if "pageInfo" not in fields or "after" not in field.args:
        return ""
    return "nodes" if "nodes" in fields else "edges"


# ── methods ──────────────────────────────────────────────────────────────────
def _methods(schema: GraphQLSchema) -> Iterator[str]:
    yield HEAD.format("A method for each root field, for asyncio and without it.")
    yield "\nfrom __future__ import annotations\n\n"
    yield "from collections.abc import AsyncGenerator, Generator, Mapping\n"
    yield "from typing import TYPE_CHECKING, Any\n\nfrom ugs_client.operation import OMITTED, Operation\n\n"
    yield "from . import operations as op\n\n"
    yield "if TYPE_CHECKING:\n    from datetime import datetime\n    from uuid import UUID\n\n"
    yield "    from . import types as t\n"
    yield from _class(schema, "AsyncMethods", "async def", "await ", "AsyncGenerator")
    yield from _class(schema, "Methods", "def", "", "Generator")


def _class(schema: GraphQLSchema, name: str, define: str, wait: str, generator: str) -> Iterator[str]:
    iterates = f"{generator}[Any, None{', None' if generator == 'Generator' else ''}]"
    yield f'\n\nclass {name}:\n    """The root fields; a client says how they are sent."""\n'
    given = "operation: Operation, arguments: Mapping[str, Any], fields: str | None"
    yield f"\n    {define} _call(self, {given}) -> Any:\n        raise NotImplementedError\n"
    for hook in ("_iterate", "_follow"):
        yield f"\n    def {hook}(self, {given}) -> {iterates}:\n        raise NotImplementedError\n"
    for kind, field_name, field in _root_fields(schema):
        shown, operation = _snake(field_name), _constant(kind, field_name)
        is_leaf = is_leaf_type(get_named_type(field.type))
        arguments, passed = _signature(field.args, is_leaf)
        given = "None" if is_leaf else "fields"
        doc = _doc(field.description, "        ")
        if kind == "subscription":
            result = iterates.replace("Any", _type_of(field.type, prefix="t."), 1)
            yield f"\n    def watch_{shown}(self{arguments}) -> {result}:\n{doc}"
            yield f"        return self._follow(op.{operation}, {passed}, {given})\n"
            continue
        yield f"\n    {define} {shown}(self{arguments}) -> {_type_of(field.type, prefix='t.')}:\n{doc}"
        call = f"{wait}self._call(op.{operation}, {passed}, {given})"
        yield f"        found: {_type_of(field.type, prefix='t.')} = {call}\n        return found\n"
        if kind == "query" and _page_of(field):
            row = _row_of(field)
            result = iterates.replace("Any", f"t.{row}", 1)
            yield f"\n    def iterate_{shown}(self{arguments}) -> {result}:\n{doc}"
            yield f"        return self._iterate(op.{operation}, {passed}, fields)\n"


def _row_of(field: GraphQLField) -> str:
    """The type of the rows of a page."""
    page: Any = get_named_type(field.type)
    if "nodes" not in page.fields:
        page = get_named_type(page.fields["edges"].type)
    return str(get_named_type(page.fields["nodes" if "nodes" in page.fields else "node"].type))


def _signature(args: dict[str, GraphQLArgument], is_leaf: bool) -> tuple[str, str]:
    """The parameters of a method, and the dictionary of its arguments."""
    needed, optional = list[str](), list[str]()
    for name, argument in args.items():
        shown = _type_of(argument.type, INPUT_SCALARS, "t.")
        if is_required_argument(argument):
            needed.append(f", {_parameter(name)}: {shown}")
        else:
            optional.append(f", {_parameter(name)}: {shown} = OMITTED")
    if not is_leaf:
        optional.append(", fields: str | None = None")
    passed = "{" + ", ".join(f"{_quoted(name)}: {_parameter(name)}" for name in args) + "}"
    return "".join(needed) + (", *" if optional else "") + "".join(optional), passed


def _snake(name: str) -> str:
    return CASE.sub("_", name).lower()


def _parameter(name: str) -> str:
    return _snake(name) + ("_" if iskeyword(name) else "")


def _constant(kind: str, name: str) -> str:
    return ("WATCH_" if kind == "subscription" else "") + _snake(name).upper()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _folded(text: str) -> str:
    """A long string as several that follow each other."""
    lines, line = list[str](), ""
    for word in re.findall(r"\S+\s*", text):
        if len(line) + len(word) > 100:
            lines.append(line)
            line = ""
        line += word
    lines.append(line)
    return _quoted(text) if len(lines) == 1 else "(\n" + "".join(f"        {_quoted(one)}\n" for one in lines) + "    )"


def _doc(description: str | None, indent: str) -> str:
    text = " ".join((description or "").split()).replace("\\", "\\\\").replace('"""', "'''")
    lines = wrap(text, DOC_WIDTH - len(indent))
    if not lines:
        return ""
    rest = "".join(f"{indent}{line}\n" for line in lines[1:])
    return f'{indent}"""{lines[0]}"""\n' if not rest else f'{indent}"""{lines[0]}\n{rest}{indent}"""\n'


if __name__ == "__main__":
    sys.exit(main())
