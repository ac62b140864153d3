"""Extreme values beyond the arguments of query fields: nested fields, inputs of mutations, MCP tools, REST routes.

What there is comes from the schema, from the list of tools and from the table of routes, so a new one is here without
anybody's help. INTERNAL, or a status of 500, is a failure.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from graphql import GraphQLField, GraphQLNonNull, GraphQLObjectType, get_named_type
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.gateway.fuzz_stores import IN_FULL, STORES, url_of
from tests.gateway.test_argument_fuzz import (
    JSON_VALUES,
    LITERALS,
    MANY_DIGITS,
    QUERY,
    SCHEMA,
    places,
    selection,
    send,
    usual,
)
from ugs.graph.api import Graph
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings

SHARE = 9
"""One value in so many, other ones for each place, where not all are tried."""
ROOTS = {one.name for one in (SCHEMA.query_type, SCHEMA.mutation_type, SCHEMA.subscription_type) if one is not None}
PROGRAM = '{"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}]}'
RPC = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
PLANTED = (
    'mutation { addFact(input: {subject: {name: "Ann"}, predicate: "knows", objectValue: "Ben", scope: "global", notes: [{text: "so"}]}) { created } }',
    'mutation { createOntology(input: {name: "default", nodeTypes: ["Memo"]}) { ontology { name } } }',
    'mutation { saveProgram(input: {dsl: "+ MATCH (n) RETURN n;"}) { program { id } } }',
)


@pytest.fixture(scope="module", params=STORES)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    store = url_of(request.param, tmp_path_factory.mktemp("fuzz_interfaces"))
    wide = {"max_tokens": 20_000, "max_cost": 1_000_000, "max_document_chars": 1 << 20, "max_depth": 40}
    options = Settings(store=store, request_seconds=120, mcp_profile="extended", **wide)  # type: ignore[arg-type]
    with TestClient(create_app(options), base_url="http://localhost", raise_server_exceptions=False) as client:
        client.portal.call(Graph(client.app.state.system).load_demo)  # type: ignore[attr-defined,call-arg,union-attr]
        for mutation in PLANTED:
            assert "errors" not in send(client, mutation)
        yield client


def share(values: Sequence[str], number: int) -> Sequence[str]:
    """The values that are tried at a place: all, or a share of them that differs from place to place."""
    return values if IN_FULL else values[number % SHARE :: SHARE]


# ── fields below the root ────────────────────────────────────────────────────


def needed(field: GraphQLField) -> str:
    """The arguments that a field must be given."""
    told = [f"{name}: {usual(one.type)}" for name, one in field.args.items() if isinstance(one.type, GraphQLNonNull)]
    return f"({' '.join(told)})" if told else ""


def ways() -> Mapping[str, tuple[str, str]]:
    """For every type that queries reach: what stands before and behind a selection of it, by few required arguments."""
    assert QUERY is not None
    found: dict[str, tuple[str, str]] = {"Query": ("{ ", " }")}
    waiting: deque[GraphQLObjectType] = deque([QUERY])
    while waiting:
        type = waiting.popleft()
        before, behind = found[type.name]
        for name, field in sorted(type.fields.items(), key=lambda one: needed(one[1]) != ""):
            named: Any = get_named_type(field.type)
            for one in SCHEMA.get_possible_types(named) if hasattr(named, "types") else [named]:
                if not isinstance(one, GraphQLObjectType) or one.name in found:
                    continue
                opening, closing = ("", "") if one is named else (f"... on {one.name} {{ ", " }")
                found[one.name] = (
                    f"{before}{name}{needed(field)} {{ __typename {opening}",
                    f"{closing} }}{behind}",
                )
                waiting.append(one)
    return found


NESTED = [
    (type, name, argument)
    for type in ways()
    if type not in ROOTS
    for name, field in SCHEMA.type_map[type].fields.items()  # type: ignore[attr-defined]
    for argument in field.args
]


@pytest.mark.parametrize(("type", "name", "argument"), NESTED)
def test_arguments_of_nested_fields_take_extreme_values(
    client: TestClient, type: str, name: str, argument: str
) -> None:
    field: GraphQLField = SCHEMA.type_map[type].fields[name]  # type: ignore[attr-defined]
    before, behind = ways()[type]
    others = [
        f"{other}: {usual(one.type)}"
        for other, one in field.args.items()
        if other != argument and isinstance(one.type, GraphQLNonNull)
    ]
    call, rest = f"{before}{name}({' '.join(others)} {argument}: ", f") {selection(field.type)}{behind}"
    first = NESTED.index((type, name, argument))
    for number, (opening, closing, _) in enumerate(places(field.args[argument].type)[: 40 if IN_FULL else 3]):
        for literal in share(LITERALS, first + number):
            send(client, f"{call}{opening}{literal}{closing}{rest}")
    for value in share(JSON_VALUES, first):
        send(client, f"query Q($v: {field.args[argument].type}) {call}$v{rest}", '{"v": %s}' % value)


# ── mutations ────────────────────────────────────────────────────────────────

MUTATION = SCHEMA.mutation_type
assert MUTATION is not None
INPUTS = [(field, argument) for field, one in MUTATION.fields.items() for argument in one.args]
DESTROYING = ("clearScope", "importGraph")
"""What empties the graph when it is done as asked."""


@pytest.mark.parametrize(("field", "argument"), INPUTS)
def test_inputs_of_mutations_take_extreme_values(client: TestClient, field: str, argument: str) -> None:
    found = MUTATION.fields[field]  # type: ignore[union-attr]
    others = [
        f"{name}: {usual(one.type)}"
        for name, one in found.args.items()
        if name != argument and isinstance(one.type, GraphQLNonNull)
    ]
    before, behind = f"{field}({' '.join(others)} {argument}: ", f") {selection(found.type)}"
    first = INPUTS.index((field, argument))
    for number, (opening, closing, _) in enumerate(places(found.args[argument].type)[: 200 if IN_FULL else 30]):
        for literal in share(LITERALS, first + number):
            send(client, f"mutation {{ {before}{opening}{literal}{closing}{behind} }}")
    for value in share(JSON_VALUES, first):
        send(client, f"mutation M($v: {found.args[argument].type}) {{ {before}$v{behind} }}", '{"v": %s}' % value)


# ── MCP tools ────────────────────────────────────────────────────────────────


def rpc(client: TestClient, method: str, params: str) -> Any:
    """The result of a call, whose parameters are given as JSON text."""
    body = '{"jsonrpc": "2.0", "id": 1, "method": "%s", "params": %s}' % (method, params)
    answer = client.post("/mcp", content=body, headers={**RPC, "content-type": "application/json"})
    shown = f"{params[:300]} -> {answer.status_code} {answer.text[:400]}"
    assert answer.status_code < 500 and '"INTERNAL"' not in answer.text and '"code":-32603' not in answer.text, shown
    return answer.json()


TOOL_VALUES = [
    *JSON_VALUES, '{"a": {"b": [%s]}}' % MANY_DIGITS, '["alice", 5]', '[{"id": null}]', '"alice"', '"@(alice)"', '"../../etc"', '"\\u202e"', PROGRAM,
]  # fmt: skip


def usual_json(schema: Mapping[str, Any], name: str) -> Any:
    """A value that a property of a tool's schema takes."""
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return usual_json(schema[choice][0], name)
    if "enum" in schema or "const" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    made = {"integer": 1, "number": 0.5, "boolean": True, "array": [], "object": {}, "null": None}
    return made.get(schema.get("type", ""), "alice")


def slots(schema: Mapping[str, Any], depth: int = 3) -> Iterator[tuple[str, str]]:
    """Where values stand inside what a schema describes: the JSON before them, and behind."""
    yield "", ""
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from (one for one in slots(choice, depth) if one != ("", ""))
    if not depth:
        return
    if isinstance(schema.get("items"), Mapping):
        yield from ((f"[{a}", f"{b}]") for a, b in slots(schema["items"], depth - 1))
    properties = schema.get("properties", {})
    for name, inner in properties.items():
        others = {one: usual_json(properties[one], one) for one in schema.get("required", ()) if one != name}
        told = json.dumps(others)[:-1] + (", " if others else "")
        yield from ((f"{told}{json.dumps(name)}: {a}", f"{b}}}") for a, b in slots(inner, depth - 1))


def test_tools_take_extreme_values(client: TestClient) -> None:
    tools = rpc(client, "tools/list", "{}")["result"]["tools"]
    assert len(tools) > 20
    count = 0
    for tool in tools:
        schema = resolved(tool["inputSchema"], tool["inputSchema"].get("$defs", {}))
        for opening, closing in [one for one in slots(schema) if one != ("", "")][: 400 if IN_FULL else 40]:
            count += 1
            for value in share(TOOL_VALUES, count):
                arguments = f"{opening}{value}{closing}"
                rpc(client, "tools/call", '{"name": "%s", "arguments": %s}' % (tool["name"], arguments))
    for value in TOOL_VALUES:
        rpc(client, "tools/call", '{"name": %s, "arguments": %s}' % (value, value))
        rpc(client, "resources/read", '{"uri": %s}' % value)
        rpc(client, "prompts/get", '{"name": %s, "arguments": %s}' % (value, value))
        for method in (
            "tools/list",
            "resources/list",
            "resources/templates/list",
            "prompts/list",
            "ping",
            "initialize",
        ):
            rpc(client, method, '{"cursor": %s}' % value)


def test_tools_take_numbers_that_a_database_does_not(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/graph.db", mcp_profile="extended")
    with TestClient(create_app(settings), base_url="http://localhost", raise_server_exceptions=False) as client:
        for tool in rpc(client, "tools/list", "{}")["result"]["tools"]:
            schema = resolved(tool["inputSchema"], tool["inputSchema"].get("$defs", {}))
            for opening, closing in slots(schema):
                for value in ("9223372036854775807", "9223372036854775808", "-9223372036854775809"):
                    arguments = f"{opening}{value}{closing}"
                    if opening:
                        rpc(client, "tools/call", '{"name": "%s", "arguments": %s}' % (tool["name"], arguments))


def resolved(schema: Any, definitions: Mapping[str, Any], depth: int = 6) -> Any:
    """A schema with what it refers to in its place."""
    if isinstance(schema, list):
        return [resolved(one, definitions, depth) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return resolved(definitions[schema["$ref"].rpartition("/")[2]], definitions, depth - 1) if depth else {}
    return {key: resolved(one, definitions, depth) for key, one in schema.items() if key != "$defs"}


def test_a_resource_takes_extreme_addresses(client: TestClient) -> None:
    templates = rpc(client, "resources/templates/list", "{}")["result"]["resourceTemplates"]
    assert templates
    for template in templates:
        for text in (
            "",
            "a",
            "%00",
            "%ff",
            "..",
            "../..",
            "a" * 5_000,
            MANY_DIGITS,
            "é",
            "%C3%A9",
            "a b",
            "?x=1",
            "#",
            "{id}",
        ):
            uri = template["uriTemplate"].replace("{id}", text)
            rpc(client, "resources/read", json.dumps({"uri": uri}))


# ── REST ─────────────────────────────────────────────────────────────────────

BODIES: Mapping[str, Mapping[str, str]] = {
    "POST /programs": {"program": PROGRAM, "name": '"mine"', "system": "false"},
    "POST /programs/validate": {"program": PROGRAM},
    "POST /programs/execute": {
        **{"program": PROGRAM, "params": "{}", "view": '"GRAPH"', "program_id": "1", "at": '{"position": 1}'},
        "deck": '[{"program": %s}]' % PROGRAM,
    },
    "PUT /programs/{id}": {"program": PROGRAM, "name": '"other"'},
    "POST /graphql": {
        **{"query": '"{ __typename }"', "variables": "{}", "operationName": "null", "extensions": "{}"},
        **{"documentId": "null"},
    },
    "POST /graphql/{ontology}": {"query": '"{ __typename }"', "variables": "{}", "operationName": "null"},
    "POST /mcp": {"jsonrpc": '"2.0"', "id": "1", "method": '"ping"', "params": "{}"},
}
PARAMETERS = ("after", "limit", "search", "query", "variables", "operationName", "extensions", "documentId", "at")
TEXTS = (
    "", "0", "-1", "1", "9223372036854775807", "9223372036854775808", MANY_DIGITS[:5_000], "1.5", "1e400", "NaN", "null", "true", "[]", "{}", "a" * 5_000,
    "\x00", "é", "%ff", "../..", "'", '"', "{ __typename }",
)  # fmt: skip
HEADERS = (
    "accept", "accept-encoding", "accept-language", "content-type", "content-encoding", "if-none-match", "idempotency-key", "x-request-id", "origin",
    "last-event-id", "mcp-protocol-version", "mcp-session-id", "authorization", "range", "expect", "x-forwarded-for", "traceparent",
)  # fmt: skip
HEADER_TEXTS = (
    b"", b"0", b"-1", b"9" * 5_000, b"a" * 5_000, b"\xff\xfe", b"\xc3\xa9", b"*", b"*/*;q=nan", b"a/b;q=9999999999", b"text/event-stream", b'W/"', b",,,;;;==",
    b"Bearer", b"Bearer \xff", b"Basic Og==", b"00-" + b"f" * 32 + b"-" + b"f" * 16 + b"-01", b"bytes=0-", b"application/json; charset=utf-7",
)  # fmt: skip


def call(client: TestClient, method: str, path: str, body: str | None = None, **headers: Any) -> None:
    sent = {key: value for key, value in headers.items()}
    content = None if body is None else body.encode()
    told = {**({} if body is None else {"content-type": "application/json"}), **RPC, **sent}
    with client.stream(method, path, content=content, headers=told) as answer:
        text = answer.read()[:100_000].decode(errors="replace")
    shown = f"{method} {path[:200]} {(body or '')[:200]} {str(headers)[:200]} -> {answer.status_code} {text[:300]}"
    assert answer.status_code < 500 and '"INTERNAL"' not in text and '"code":-32603' not in text, shown


def routes(client: TestClient) -> list[tuple[str, str]]:
    found = []
    for route in client.app.routes:  # type: ignore[attr-defined]
        if isinstance(route, Route):
            found += [(method, route.path) for method in sorted(route.methods or {"GET", "POST"}) if method != "HEAD"]
    return found


def fill(path: str, text: str = "1") -> str:
    for name, usually in (("{id}", "1"), ("{ontology}", "default"), ("{name}", "x")):
        path = path.replace(name, text if text != "1" else usually)
    return path


def test_every_route_takes_extreme_values(client: TestClient) -> None:
    asked = routes(client)
    assert {f"{method} {path}" for method, path in asked if method in ("POST", "PUT")} == BODIES.keys()
    for number, (method, path) in enumerate(asked):
        usually = BODIES.get(f"{method} {path}")
        body = None if usually is None else "{%s}" % ", ".join(f'"{key}": {value}' for key, value in usually.items())
        if "{" in path:
            for text in TEXTS:
                call(client, method, fill(path, quote(text, safe="")), body)
        for place, name in enumerate(PARAMETERS):
            for text in share(TEXTS, number + place):
                call(client, method, f"{fill(path)}?{name}={quote(text, safe='')}", body)
        for place, name in enumerate(HEADERS):
            for value in share(HEADER_TEXTS, number + place):  # type: ignore[arg-type]
                call(client, method, fill(path), body, **{name: value})


def test_every_body_takes_extreme_values(client: TestClient) -> None:
    for number, (route, usually) in enumerate(BODIES.items()):
        method, _, path = route.partition(" ")
        for value in TOOL_VALUES:
            call(client, method, fill(path), value)
        for name in usually:
            for place, value in enumerate(TOOL_VALUES):
                if not IN_FULL and (number + place) % 3:
                    continue
                for others in (
                    {},
                    {key: one for key, one in usually.items() if key not in (name, "deck", "program_id")},
                ):
                    told = "".join(f', "{key}": {one}' for key, one in others.items())
                    call(client, method, fill(path), '{"%s": %s%s}' % (name, value, told))
