"""A40–A47 and A49: values made to be taken for something else. Stored and read back exactly, or refused."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.security.conftest import code_of
from ugs_gateway.observability.structured_logs import TextLines

ADD = "mutation ($input: AddNodeInput!) { addNode(input: $input) { node { id type properties } } }"
FIND = "query ($key: String!, $value: JSON!) { findByProperty(key: $key, value: $value) { nodes { id } } }"
NUMBERS = itertools.count()

TRICKY = [
    "'",
    '"',
    "' OR 1=1 --",
    "'; DROP TABLE nodes; --",
    "$1",
    ":name",
    "%",
    "_",
    "\\",
    "\\u0000",
    "`",
    "a`b",
    "\\u0060",
    "//",
    "/* */",
    "line\nbreak",
    "${x}",
    "{{x}}",
    "$where",
]


def asked(client: TestClient, query: str, **variables: Any) -> Any:
    return client.post("/graphql", json={"query": query, "variables": variables})


def added(client: TestClient, **input: Any) -> Any:
    return asked(client, ADD, input={"id": f"n{next(NUMBERS)}", **input})


@pytest.mark.parametrize("text", TRICKY)
def test_a40_a42_a43_tricky_text_is_only_text(client: TestClient, text: str) -> None:
    answer = added(client, type=text, properties={text: text})
    node = answer.json()["data"]["addNode"]["node"]
    assert (node["type"], node["properties"]) == (text, {text: text})
    found = asked(client, FIND, key=text, value=text).json()["data"]["findByProperty"]["nodes"]
    assert [item["id"] for item in found] == [node["id"]]
    for query in (
        "query ($x: String!) { search(query: $x) { edges { node { score } } } }",
        "query ($x: String!) { graphNodes(filter: {type: $x}) { nodes { id } } }",
        "query ($x: ID!) { graphNode(id: $x) { id } }",
    ):
        assert asked(client, query, x=text).status_code == 200


@pytest.mark.parametrize("id", [*TRICKY, "аlice", "cafe\u0301", "a\u200bb", "\u202eevil", "İ", "", "a" * 257])
def test_a40_a46_ids_follow_the_grammar(client: TestClient, id: str) -> None:
    assert code_of(asked(client, ADD, input={"id": id})) in ((None,) if id == "_" else ("E005",))


@pytest.mark.parametrize("key", ["a.b", 'a"b', "$", "[0]", "*", "$.a", "a[0]", "__proto__", "__class__", "constructor"])
def test_a41_a47_a_key_is_a_name_and_not_a_path(client: TestClient, key: str) -> None:
    mark = f"mark{next(NUMBERS)}"
    added(client, properties={"a": {"b": mark}, "0": mark})
    own = added(client, properties={key: mark}).json()["data"]["addNode"]["node"]["id"]
    found = asked(client, FIND, key=key, value=mark).json()["data"]["findByProperty"]["nodes"]
    assert [item["id"] for item in found] == [own]


@pytest.mark.parametrize("body", ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '{"\\u0000": 1}'])
def test_a44_what_some_store_cannot_keep_no_store_keeps(client: TestClient, body: str) -> None:
    text = f'{{"query": "{ADD}", "variables": {{"input": {{"id": "nul", "data": {body}}}}}}}'
    answer = client.post("/graphql", content=text.encode(), headers={"content-type": "application/json"})
    assert (answer.status_code, code_of(answer)) == (400, "E006")


@pytest.mark.parametrize("number", ["9223372036854775808", "1" + "0" * 30, "1e400", "-1e400", "NaN", "Infinity"])
def test_a45_numbers_beyond_64_bits_are_refused(client: TestClient, number: str) -> None:
    text = f'{{"query": "{ADD}", "variables": {{"input": {{"id": "big", "data": {number}}}}}}}'
    answer = client.post("/graphql", content=text.encode(), headers={"content-type": "application/json"})
    assert (answer.status_code, code_of(answer)) == (400, "E006")


def test_a45_whole_numbers_keep_every_digit_and_one_equals_one_point_zero(client: TestClient) -> None:
    node = added(client, properties={"big": 2**53 + 1, "one": 1.0}).json()["data"]["addNode"]["node"]
    assert node["properties"]["big"] == 2**53 + 1
    found = asked(client, FIND, key="one", value=1).json()["data"]["findByProperty"]["nodes"]
    assert {"id": node["id"]} in found


def test_a47_keys_have_limits(client: TestClient) -> None:
    assert code_of(added(client, properties={"k" * 257: 1})) == "E006"
    assert code_of(added(client, properties={f"k{n}": n for n in range(1001)})) == "LIMIT_EXCEEDED"


def test_a49_nothing_from_outside_begins_a_line_of_the_log() -> None:
    record = logging.LogRecord("ugs_gateway", logging.INFO, "", 0, "served", None, None)
    record.fields = {"path": "/a\r\n10:00:00 info forged \x1b[31mred"}
    line = TextLines().format(record)
    assert "\n" not in line and "\r" not in line and "\x1b" not in line
