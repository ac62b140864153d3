"""The difference between two positions, and its reversal, through GraphQL."""

from __future__ import annotations

import pytest

from tests.schema.conftest import Ask
from ugs import System

CHANGES = """query($from: At!, $to: At, $filter: ChangeFilter, $first: Int, $after: String) {
  changes(from: $from, to: $to, filter: $filter, first: $first, after: $after) {
    nodes { elementId element kind fields before after } pageInfo { hasNextPage endCursor } fromPosition toPosition } }"""
UNDO = """mutation($input: UndoInput!, $preview: Boolean! = false, $key: String) {
  undo(input: $input, preview: $preview, idempotencyKey: $key) {
    done changes { elementId kind before after } conflicts { seq elementId message } events { seq type } } }"""


async def end_of(ask: Ask) -> int:
    return int((await ask("{ history(last: 1) { seq } }"))["data"]["history"][0]["seq"])


async def test_changes_are_listed_page_by_page(ask: Ask) -> None:
    start = await end_of(ask)
    await ask('mutation { addNode(input: {id: "n", type: "t", content: {format: "text", body: "x"}}) { node { id } } }')
    await ask('mutation { updateNode(input: {id: "bob", properties: {new: 1}}) { node { id } } }')
    await ask('mutation { deleteEdge(input: {id: "e1"}) { deletedId } }')

    first = (await ask(CHANGES, **{"from": {"position": start}, "first": 2}))["data"]["changes"]
    again = {"from": {"position": start}, "to": {"position": first["toPosition"]}, "first": 2}
    second = (await ask(CHANGES, **{**again, "after": first["pageInfo"]["endCursor"]}))["data"]["changes"]

    bob, edge = first["nodes"]
    assert (bob["elementId"], bob["kind"]) == ("bob", "CHANGED") and "properties" in bob["fields"]
    assert "new" not in bob["before"]["properties"] and bob["after"]["properties"]["new"] == 1
    assert (edge["elementId"], edge["element"], edge["kind"], edge["after"]) == ("e1", "EDGE", "REMOVED", None)
    assert first["pageInfo"]["hasNextPage"] and not second["pageInfo"]["hasNextPage"]
    (node,) = second["nodes"]
    assert (node["elementId"], node["kind"], node["before"]) == ("n", "ADDED", None)
    assert node["after"]["content"]["body"] == "x"
    assert (first["fromPosition"], first["toPosition"]) == (start, start + 3)

    only = {"kinds": ["ADDED"], "element": "NODE", "types": ["t"], "ids": ["n", "bob"]}
    found = await ask(CHANGES, **{"from": {"position": start}, "filter": only})
    assert [one["elementId"] for one in found["data"]["changes"]["nodes"]] == ["n"]


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"from": {"position": 999}}, "POSITION_NOT_FOUND"),
        ({"from": {"position": 2}, "to": {"position": 1}}, "INVALID_ARGUMENT"),
        ({"from": {"position": 0}, "first": -1}, "LIMIT_EXCEEDED"),
        ({"from": {"position": 0}, "first": 501}, "LIMIT_EXCEEDED"),
        ({"from": {"position": 0}, "after": "nonsense"}, "E005"),
        ({"from": {"position": -1}}, None),
        ({"from": {"instant": "2026-01-01T00:00:00"}}, None),
        ({"from": {}}, None),
    ],
)
async def test_a_range_that_is_none_has_a_code(ask: Ask, variables: dict[str, object], code: str | None) -> None:
    answer = await ask(CHANGES, **variables)

    found = answer["errors"][0]["extensions"]["code"]
    assert found == code if code else found != "INTERNAL"


async def test_an_undo_is_previewed_done_and_undone(ask: Ask, system: System) -> None:
    start = await end_of(ask)
    await ask('mutation { delete(input: {id: "alice"}) { deletedId } }')
    end, before = await end_of(ask), await system.digest()

    plan = (await ask(UNDO, **{"input": {"transaction": end}, "preview": True}))["data"]["undo"]
    assert not plan["done"] and plan["events"] == plan["conflicts"] == []
    assert "alice" in [change["elementId"] for change in plan["changes"] if change["kind"] == "ADDED"]
    assert await system.digest() == before

    given = {"input": {"range": {"after": start, "until": end}}, "key": "once"}
    done = (await ask(UNDO, **given))["data"]["undo"]
    repeated = (await ask(UNDO, **given))["data"]["undo"]
    assert done == repeated and done["done"] and done["events"]
    assert (await ask('{ graphNode(id: "alice") { id } }'))["data"]["graphNode"] == {"id": "alice"}

    await ask(UNDO, **{"input": {"events": [event["seq"] for event in done["events"]]}})
    assert (await ask('{ graphNode(id: "alice") { id } }'))["data"]["graphNode"] is None


async def test_an_undo_that_cannot_be_says_why_and_changes_nothing(ask: Ask, system: System) -> None:
    await ask('mutation { updateNode(input: {id: "bob", properties: {a: 1}}) { node { id } } }')
    position = await end_of(ask)
    await ask('mutation { updateNode(input: {id: "bob", properties: {a: 2}}) { node { id } } }')
    before = await system.digest()

    plan = (await ask(UNDO, **{"input": {"events": [position]}, "preview": True}))["data"]["undo"]
    refused = await ask(UNDO, **{"input": {"events": [position]}})

    assert [(one["seq"], one["elementId"]) for one in plan["conflicts"]] == [(position + 1, "bob")]
    error = refused["errors"][0]["extensions"]
    assert error["code"] == "UNDO_CONFLICT" and await system.digest() == before


@pytest.mark.parametrize(
    "given",
    [
        {"events": []},
        {},
        {"events": [1], "transaction": 1},
        {"events": [0]},
        {"transaction": 99},
        {"range": {"after": 3, "until": 1}},
        {"range": {"after": 99}},
    ],
)
async def test_a_selection_that_is_none_has_a_code(ask: Ask, given: dict[str, object]) -> None:
    answer = await ask(UNDO, **{"input": given})

    assert answer["errors"][0]["extensions"]["code"] != "INTERNAL"
