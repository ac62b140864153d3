"""The reference pages of the documentation site, each made from what it describes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import msgspec
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    Undefined,
    build_schema,
    print_ast,
)
from graphql.utilities import ast_from_value

from ugs.feature_registry import FEATURES
from ugs_gateway.cli.command_table import COMMANDS
from ugs_gateway.mcp.server import Profile, tools_of
from ugs_gateway.rest.programs_openapi import openapi_document
from ugs_schema import build_schema as build_gateway_schema

PYTHON = {
    "ugs": ("System", "Graph", "At", "copy"),
    "ugs.facts.api": ("Facts",),
    "ugs.recall.api": ("Recall",),
    "ugs.ontology.api": ("Memory",),
    "ugs.programs.api": ("Programs",),
    "ugs.actors.api": ("ActorGraph",),
    "ugs.cypher.api": (),
    "ugs.keys.api": ("Keyring",),
    "ugs.storage": ("Storage", "Session", "Capabilities", "EventQuery"),
}
"""The classes and functions of the Python interface, by module; those that a module does not have are left out."""


def page_title(text: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1] if found else ""


def first_sentence(text: str) -> str:
    """The first sentence of a page's prose, without marks."""
    prose = re.sub(r"^(```)[^\n]*\n.*?^```$|^[#>|!][^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    paragraph = next((" ".join(part.split()) for part in prose.split("\n\n") if part.strip()), "")
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", paragraph)
    return re.split(r"(?<=[.:?])\s", plain)[0]


# ── GraphQL ──────────────────────────────────────────────────────────────────
def graphql_queries() -> str:
    """Everything that can be asked."""
    return _root_page("Queries", "Everything that can be asked over GraphQL, one heading for each field.", "query_type")


def graphql_mutations() -> str:
    """Everything that can be changed."""
    return _root_page("Mutations", "Everything that can be changed over GraphQL.", "mutation_type")


def graphql_subscriptions() -> str:
    """Everything that can be followed."""
    return _root_page("Subscriptions", "What can be [followed](../subscriptions.md) over GraphQL.", "subscription_type")


def graphql_types() -> str:
    """The types of arguments and answers."""
    schema = _schema()
    roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
    kinds = (kind for kind in schema.type_map.values() if not kind.name.startswith("__") and kind not in roots)
    parts = [_type_part(kind) for kind in sorted(kinds, key=lambda kind: kind.name)]
    return "# GraphQL types\n\nThe types of arguments and answers, by name.\n\n" + "\n".join(parts)


def _schema() -> GraphQLSchema:
    return build_schema(build_gateway_schema().as_str())


def _root_page(title: str, about: str, root: str) -> str:
    fields: dict[str, GraphQLField] = getattr(_schema(), root).fields
    parts = []
    for name, field in fields.items():
        rows = "".join(_row(given, argument) for given, argument in field.args.items())
        table = f"| argument | type | default | |\n| --- | --- | --- | --- |\n{rows}\n" if rows else ""
        parts.append(f"## `{name}`\n\n{_text(field.description)}\n\nGives {_linked(field.type)}.\n\n{table}")
    return f"# {title}\n\n{about} Types are on a [page of their own](graphql-types.md).\n\n" + "\n".join(parts)


def _type_part(kind: GraphQLNamedType) -> str:
    head = f"## {kind.name}\n\n*{_kind_of(kind)}.* {_text(kind.description)}\n\n"
    if isinstance(kind, GraphQLEnumType):
        return head + "".join(f"- `{name}`: {_text(value.description)}\n" for name, value in kind.values.items())
    if isinstance(kind, GraphQLUnionType):
        return head + "One of " + ", ".join(f"[{one.name}](#{one.name.lower()})" for one in kind.types) + ".\n"
    if isinstance(kind, GraphQLInputObjectType):
        rows = "".join(_row(name, field) for name, field in kind.fields.items())
        return f"{head}| field | type | default | |\n| --- | --- | --- | --- |\n{rows}"
    if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        lines = (
            f"| `{name}`{_arguments(field)} | {_linked(field.type, here=True)} | {_text(field.description)} |\n"
            for name, field in kind.fields.items()
        )
        return f"{head}| field | type | |\n| --- | --- | --- |\n{''.join(lines)}"
    return head


def _kind_of(kind: GraphQLNamedType) -> str:
    names = {
        GraphQLEnumType: "Enum",
        GraphQLUnionType: "Union",
        GraphQLInputObjectType: "Input",
        GraphQLInterfaceType: "Interface",
        GraphQLScalarType: "Scalar",
        GraphQLObjectType: "Type",
    }
    return names[type(kind)]


def _arguments(field: GraphQLField) -> str:
    return " (" + ", ".join(f"`{name}`" for name in field.args) + ")" if field.args else ""


def _row(name: str, given: Any) -> str:
    default = "" if given.default_value is Undefined else print_ast(_ast(given))
    return f"| `{name}` | {_linked(given.type)} | {f'`{default}`' if default else ''} | {_text(given.description)} |\n"


def _ast(given: Any) -> Any:
    return ast_from_value(given.default_value, given.type)


def _linked(kind: Any, here: bool = False) -> str:
    """A type, linked to its place on the page of types."""
    text = str(kind)
    name = text.strip("[]!")
    page = "" if here else "graphql-types.md"
    return text.replace(name, f"[{name}]({page}#{name.lower()})") if name not in BUILT_IN else f"`{text}`"


BUILT_IN = ("String", "Int", "Float", "Boolean", "ID")


def _text(description: str | None) -> str:
    return " ".join((description or "").split()).replace("|", "\\|").replace("<", "&lt;")


# ── command line, MCP, REST ──────────────────────────────────────────────────
def command_line() -> str:
    """Every command with its usage."""
    parts = ["# Commands\n\nEvery command of `ugs`; the [command line](../cli.md) says how they go together.\n"]
    groups = dict.fromkeys(entry.group for entry in COMMANDS)
    for group in groups:
        parts.append(f"## {group[:1].upper()}{group[1:]}\n")
        for entry in COMMANDS:
            if entry.group == group:
                examples = "".join(f"ugs {example}\n" for example in entry.examples)
                block = f"\n```text\n{examples}```\n" if examples else ""
                usage = f"`ugs {entry.usage or entry.name}`"
                parts.append(f"### {entry.name}\n\n{usage}: {_text(entry.summary)}.\n{block}")
    return "\n".join(parts)


def mcp_tools() -> str:
    """Every tool with its arguments."""
    parts = ["# MCP tools\n\nThe tools of `ugs mcp` and `/mcp`, by [profile](../mcp.md).\n"]
    told = set[str]()
    for profile in (Profile.CORE, Profile.MEMORY, Profile.EXTENDED):
        parts.append(f"## Profile {profile.value}\n")
        for tool in tools_of(profile):
            if tool.name in told:
                continue
            told.add(tool.name)
            schema = tool.takes.json_schema() if hasattr(tool.takes, "json_schema") else _arguments_schema(tool.takes)
            rows = "".join(
                f"| `{name}` | {'yes' if name in schema.get('required', ()) else ''} | {_text(_about(field))} |\n"
                for name, field in schema.get("properties", {}).items()
            )
            table = f"\n| argument | required | |\n| --- | --- | --- |\n{rows}" if rows else ""
            parts.append(f"### `{tool.name}`\n\n{_text(tool.description)}\n{table}")
    return "\n".join(parts)


def _arguments_schema(kind: type) -> dict[str, Any]:
    (found,), components = msgspec.json.schema_components([kind], ref_template="{name}")
    return dict(components.get(found.get("$ref", ""), found))


def _about(field: dict[str, Any]) -> str:
    return str(field.get("description") or field.get("type") or "")


def rest() -> str:
    """Every path of the OpenAPI document."""
    document = openapi_document()
    parts = [
        "# REST\n\nWhat a gateway answers beside GraphQL, from its own `/openapi.json`. Every path takes the same "
        "login as GraphQL.\n"
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method not in ("get", "post", "put", "delete", "patch"):
                continue
            answers = "".join(
                f"- {status}: {_text(answer.get('description'))}\n" for status, answer in operation["responses"].items()
            )
            summary = _text(operation.get("summary") or operation.get("description"))
            parts.append(f"## `{method.upper()} {path}`\n\n{summary}\n\n{answers}")
    return "\n".join(parts)


# ── Python, events ───────────────────────────────────────────────────────────
def python() -> str:
    """The classes of the Python interface with their methods."""
    parts = ["# Python\n\nThe names that other programs may use; [upgrading](../upgrading.md) says what is stable.\n"]
    for name, wanted in PYTHON.items():
        module = import_module(name)
        for each in wanted:
            if hasattr(module, each):
                parts += _described(f"{name}.{each}", getattr(module, each))
    return "\n".join(parts)


def _described(name: str, thing: Any) -> Iterator[str]:
    if not inspect.isclass(thing):
        yield f"## `{name}`\n\n```python\n{thing.__name__}{_signature(thing)}\n```\n\n{_doc(thing)}\n"
        return
    yield f"## `{name}`\n\n{_doc(thing)}\n"
    for each, value in inspect.getmembers(thing, inspect.isroutine):
        if not each.startswith("_") and each in _own_names(thing):
            yield f"### `{each}` {{ #{name.rpartition('.')[2].lower()}-{each.replace('_', '-')} }}\n"
            yield f"```python\n{each}{_signature(value)}\n```\n\n{_doc(value)}\n"


def _own_names(thing: type) -> set[str]:
    """Names that this project's classes define, not those of msgspec or the standard library."""
    return {name for base in thing.__mro__ if base.__module__.startswith("ugs") for name in vars(base)}


def _signature(thing: Any) -> str:
    try:
        return str(inspect.signature(thing)).replace("'", "")
    except (TypeError, ValueError):
        return "(…)"


def _doc(thing: Any) -> str:
    return inspect.cleandoc(thing.__doc__ or "").replace("<", "&lt;")


def events() -> str:
    """Every event of the log with what it leaves behind."""
    rows = dict[str, list[tuple[str, str]]]()
    for feature in FEATURES:
        for name, reducer in feature.reducers.items():
            about = first_sentence(inspect.getdoc(reducer) or "")
            rows.setdefault(name, []).append((feature.name, about))
    parts = [
        "# Events\n\nWhat the log holds, and which feature keeps rows for it. The line format is explained under "
        "[durability](../durability.md); `/log` and `ugs export graph.wal` give the lines.\n\n"
        "| event | kept by | |\n| --- | --- | --- |\n"
    ]
    for name, found in rows.items():
        about = next((text for _, text in found if text), "")
        parts.append(f"| `{name}` | {', '.join(feature for feature, _ in found)} | {_text(about)} |\n")
    return "".join(parts)


REFERENCE: dict[str, Callable[[], str]] = {
    "reference/graphql-queries.md": graphql_queries,
    "reference/graphql-mutations.md": graphql_mutations,
    "reference/graphql-subscriptions.md": graphql_subscriptions,
    "reference/graphql-types.md": graphql_types,
    "reference/command-line.md": command_line,
    "reference/mcp-tools.md": mcp_tools,
    "reference/rest.md": rest,
    "reference/python.md": python,
    "reference/events.md": events,
}
"""The pages that are made, by their place on the site."""
