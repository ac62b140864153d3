"""Every argument of every query field with extreme values, and cursors forged with every kind of value.

The schema says which arguments there are, so a new field is here without anybody's help. INTERNAL is a failure.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    build_schema,
    get_named_type,
    is_leaf_type,
)
from starlette.testclient import TestClient

from tests.gateway.fuzz_stores import IN_FULL, STORES, url_of
from ugs.graph.api import Graph
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings
from ugs_schema import build_schema as build_own_schema

SHARE = 6
SCHEMA = build_schema(build_own_schema().as_str())
QUERY = SCHEMA.query_type
assert QUERY is not None
MANY_DIGITS = "9" * 10_000
LITERALS = [
    "0", "-1", "1", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", MANY_DIGITS, "-" + MANY_DIGITS,
    "1.5", "1e308", "1e400", "1e" + MANY_DIGITS, '""', '"a"', '"%s"' % ("a" * 20_000), '"\\u0000"', '"@(a:%s)"' % MANY_DIGITS, '"NaN"',
    "true", "null", "[]", "[1]", '["a", null]', "{}", "{a: 1}", "SOME_NAME", "[[[[[[1]]]]]]", '"%s"' % MANY_DIGITS,
]  # fmt: skip
JSON_VALUES = [
    "0", "-1", "2147483648", "9223372036854775808", MANY_DIGITS, "-" + MANY_DIGITS, "1.5", "1e308", "1e400", '""', '"a"', '"\\u0000"', '"\\ud800"',
    '"@(a:%s)"' % MANY_DIGITS, "true", "null", "[]", "[null]", "{}", '{"a": 1}', '"%s"' % MANY_DIGITS, "[[[[[[1]]]]]]", '"0001-01-01T00:00:00Z"',
    '"9999-12-31T23:59:59.999999+14:00"', '"%s"' % ("a" * 20_000),
]  # fmt: skip
FORGED: list[Any] = [
    0,
    -1,
    1.5,
    2**63 - 1,
    2**63,
    1e308,
    True,
    None,
    "",
    "a",
    "a" * 3000,
    "\x00",
    [],
    [1],
    {},
    {"a": 1},
]


@pytest.fixture(scope="module", params=STORES)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    store = url_of(request.param, tmp_path_factory.mktemp("fuzz_arguments"))
    options = Settings(
        store=store, request_seconds=120, max_tokens=20_000, max_cost=1_000_000, max_document_chars=1 << 20
    )
    with TestClient(create_app(options), base_url="http://localhost", raise_server_exceptions=False) as client:
        system = client.app.state.system  # type: ignore[attr-defined]
        client.portal.call(Graph(system).load_demo)  # type: ignore[union-attr]
        yield client


def send(client: TestClient, query: str, variables: str = "{}") -> dict[str, Any]:
    """The answer, which is never our fault."""
    body = '{"query": %s, "variables": %s}' % (json.dumps(query), variables)
    answer = client.post("/graphql", content=body, headers={"content-type": "application/json"})
    shown = f"{query[:300]} {variables[:200]} -> {answer.status_code} {answer.text[:300]}"
    assert answer.status_code < 500, shown
    found: dict[str, Any] = answer.json()
    for error in found.get("errors", ()):
        assert error["extensions"]["code"] != "INTERNAL", shown
    return found


def usual(kind: Any) -> str:
    """A value that an argument takes, as GraphQL writes it."""
    if isinstance(kind, GraphQLNonNull):
        return usual(kind.of_type)
    if isinstance(kind, GraphQLList):
        return f"[{usual(kind.of_type)}]"
    if isinstance(kind, GraphQLEnumType):
        return next(iter(kind.values))
    if isinstance(kind, GraphQLInputObjectType):
        needed = {name: field for name, field in kind.fields.items() if isinstance(field.type, GraphQLNonNull)}
        return "{%s}" % ", ".join(f"{name}: {usual(field.type)}" for name, field in needed.items())
    assert isinstance(kind, GraphQLScalarType)
    known = {
        "Int": "1",
        "Float": "1.5",
        "Boolean": "true",
        "DateTime": '"2026-01-01T00:00:00Z"',
        "Position": "1",
        "Millis": "1",
    }
    return known.get(kind.name, '"alice"')


def selection(kind: Any, depth: int = 2) -> str:
    """Some leaves of a type."""
    kind = get_named_type(kind)
    if is_leaf_type(kind):
        return ""
    if not isinstance(kind, GraphQLObjectType):
        return "{ __typename }"
    chosen = ["__typename"]
    for name, field in kind.fields.items():
        if any(isinstance(argument.type, GraphQLNonNull) for argument in field.args.values()):
            continue
        if is_leaf_type(get_named_type(field.type)):
            chosen.append(name)
        elif depth and name in ("edges", "node", "nodes", "pageInfo"):
            chosen.append(name + selection(field.type, depth - 1))
    return "{ %s }" % " ".join(chosen[:12])


def calls(field: str, argument: str) -> tuple[str, str]:
    """The call of a field before and behind the value of one argument."""
    found = QUERY.fields[field]  # type: ignore[union-attr]
    others = [
        f"{name}: {usual(one.type)}"
        for name, one in found.args.items()
        if name != argument and isinstance(one.type, GraphQLNonNull)
    ]
    return f"{field}({' '.join(others)} {argument}: ", f") {selection(found.type)}"


def places(kind: Any, depth: int = 3) -> list[tuple[str, str, Any]]:
    """Where inside a value of a type scalars stand: what comes before, what behind, and of which type each is."""
    if isinstance(kind, GraphQLNonNull):
        return places(kind.of_type, depth)
    if isinstance(kind, GraphQLList):
        return [("", "", kind)] + [(f"[{a}", f"{b}]", leaf) for a, b, leaf in places(kind.of_type, depth)]
    if not isinstance(kind, GraphQLInputObjectType) or not depth:
        return [("", "", kind)]
    found: list[tuple[str, str, Any]] = []
    for name, field in kind.fields.items():
        others = ", ".join(
            f"{other}: {usual(one.type)}"
            for other, one in kind.fields.items()
            if other != name and isinstance(one.type, GraphQLNonNull)
        )
        found += [(f"{{{others} {name}: {a}", f"{b}}}", leaf) for a, b, leaf in places(field.type, depth - 1)]
    return found


ARGUMENTS = [(field, argument) for field, one in QUERY.fields.items() for argument in one.args]


@pytest.mark.parametrize(("field", "argument"), ARGUMENTS)
def test_every_argument_takes_extreme_values(client: TestClient, field: str, argument: str) -> None:
    found: GraphQLArgument = QUERY.fields[field].args[argument]  # type: ignore[union-attr]
    before, behind = calls(field, argument)
    # In every run each argument gets a share of the values, and each value goes to many arguments.
    first = ARGUMENTS.index((field, argument))
    for number, (opening, closing, _) in enumerate(places(found.type)[: 40 if IN_FULL else 4]):
        for literal in LITERALS[0 if IN_FULL else (first + number) % SHARE :: 1 if IN_FULL else SHARE]:
            send(client, f"{{ {before}{opening}{literal}{closing}{behind} }}")
    for value in JSON_VALUES[0 if IN_FULL else first % SHARE :: 1 if IN_FULL else SHARE]:
        send(client, f"query Q($v: {found.type}) {{ {before}$v{behind} }}", '{"v": %s}' % value)


def forged_cursors(shape: str) -> list[str]:
    """Cursors like this one, with other values in it."""
    if "." in shape:
        head, *parts = shape.split(".")
        return [".".join([head, *([str(value)] * len(parts))]) for value in FORGED] + [head, head + ".", head + "..."]
    body = json.loads(base64.urlsafe_b64decode(shape + "=" * (-len(shape) % 4)))
    made: list[Any] = [[body[0], *([value] * (len(body) - 1))] for value in FORGED]
    made += [[body[0]], [body[0], *body[1:], 1], [], [None], {}, 5, "x", None]
    for place in range(1, len(body)):
        made += [[*body[:place], value, *body[place + 1 :]] for value in FORGED]
    return [base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in made]


PAGED = [(field, one) for field, one in QUERY.fields.items() if "after" in one.args]


@pytest.mark.parametrize("field", [field for field, _ in PAGED])
def test_forged_cursors_are_refused(client: TestClient, field: str) -> None:
    one = QUERY.fields[field]  # type: ignore[union-attr]
    needed = [f"{name}: {usual(arg.type)}" for name, arg in one.args.items() if isinstance(arg.type, GraphQLNonNull)]
    shapes = {"a", "LQ.1", base64.urlsafe_b64encode(b'["id","a"]').decode()}
    for orders in orders_of(one):
        page = f"{field}({' '.join([*needed, orders])} first: 1) {{ pageInfo {{ endCursor }} }}"
        found = send(client, f"{{ {page} }}")
        cursor = ((found.get("data") or {}).get(field) or {}).get("pageInfo", {}).get("endCursor")
        known = forged_cursors(cursor) if cursor else []
        known = known if IN_FULL or orders == "" else known[::5]
        for forged in [*known, *shapes]:
            arguments = " ".join([*needed, orders, f"first: 2 after: {json.dumps(forged)}"])
            send(client, f"{{ {field}({arguments}) {{ pageInfo {{ endCursor }} }} }}")
            if "before" in one.args:
                arguments = " ".join([*needed, orders, f"last: 2 before: {json.dumps(forged)}"])
                send(client, f"{{ {field}({arguments}) {{ pageInfo {{ endCursor }} }} }}")


def orders_of(field: Any) -> list[str]:
    """No order, and every order that the field knows by a name."""
    argument = field.args.get("orderBy")
    if argument is None:
        return [""]
    inner = get_named_type(argument.type)
    if isinstance(inner, GraphQLEnumType):
        return ["", *(f"orderBy: {name}" for name in inner.values)]
    if not isinstance(inner, GraphQLInputObjectType):
        return [""]
    enums = [(name, get_named_type(one.type)) for name, one in inner.fields.items()]
    choices = [(name, kind) for name, kind in enums if isinstance(kind, GraphQLEnumType)]
    return ["", *(f"orderBy: {{{name}: {value}}}" for name, kind in choices for value in kind.values)]
