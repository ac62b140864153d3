"""Reading the graph through GraphQL."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.schema.conftest import Ask
from ugs import System
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

PAGE = """
query($after: String, $before: String, $first: Int, $last: Int) {
  graphNodes(first: $first, after: $after, last: $last, before: $before) {
    nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}"""


async def test_a_node_comes_with_its_edges_and_their_other_ends(ask: Ask) -> None:
    answer = await ask(
        """{ graphNode(id: "alice") { id type label degree
             outgoing { totalCount edges { node { id type toNode { id label } } } } } }"""
    )
    assert answer == {
        "data": {
            "graphNode": {
                "id": "alice",
                "type": "person",
                "label": "Alice Johnson",
                "degree": 2,
                "outgoing": {
                    "totalCount": 2,
                    "edges": [
                        {
                            "node": {
                                "id": "e1",
                                "type": "assigned_to",
                                "toNode": {"id": "task_1", "label": "Implement login"},
                            }
                        },
                        {"node": {"id": "e5", "type": "reports_to", "toNode": {"id": "bob", "label": "Bob Smith"}}},
                    ],
                },
            }
        }
    }


async def test_aliases_of_one_field_keep_their_own_arguments(ask: Ask) -> None:
    answer = await ask(
        """{ graphNode(id: "bob") { all: incoming { nodes { id } }
             one: incoming(first: 1) { nodes { id } pageInfo { hasNextPage } }
             none: incoming(type: "blocks") { nodes { id } } } }"""
    )
    assert answer["data"]["graphNode"] == {
        "all": {"nodes": [{"id": "e5"}, {"id": "e6"}]},
        "one": {"nodes": [{"id": "e5"}], "pageInfo": {"hasNextPage": True}},
        "none": {"nodes": []},
    }


async def test_paging_forward_and_backward_meets_every_node_once(ask: Ask) -> None:
    whole = [node["id"] for node in (await ask(PAGE))["data"]["graphNodes"]["nodes"]]
    forward, after = [], None
    while True:
        page = (await ask(PAGE, first=3, after=after))["data"]["graphNodes"]
        forward += [node["id"] for node in page["nodes"]]
        assert page["totalCount"] == 8
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    backward: list[str] = []
    before = None
    while True:
        page = (await ask(PAGE, last=3, before=before))["data"]["graphNodes"]
        backward = [node["id"] for node in page["nodes"]] + backward
        if not page["pageInfo"]["hasPreviousPage"]:
            break
        before = page["pageInfo"]["startCursor"]
    assert forward == backward == whole == sorted(whole)


async def test_a_cursor_survives_inserts_around_it(ask: Ask) -> None:
    first = (await ask(PAGE, first=2))["data"]["graphNodes"]
    await ask(
        'mutation { a: addNode(input: {id: "aaa"}) { node { id } } b: addNode(input: {id: "azz"}) { node { id } } }'
    )
    following = (await ask(PAGE, first=2, after=first["pageInfo"]["endCursor"]))["data"]["graphNodes"]
    assert [node["id"] for node in first["nodes"]] == ["alice", "api_proj"]
    assert [node["id"] for node in following["nodes"]] == ["auth_proj", "azz"]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ('{type: "person"}', ["alice", "bob", "charlie"]),
        ('{types: ["person", "project"], scope: DEFAULT}', ["alice", "api_proj", "auth_proj", "bob", "charlie"]),
        ('{properties: [{key: "status", value: "pending"}]}', ["task_2", "task_3"]),
        ('{properties: [{key: "status", op: NE, value: "pending"}], type: "task"}', ["task_1"]),
        ('{properties: [{key: "role", op: IN, value: ["manager", "designer"]}]}', ["bob", "charlie"]),
        ('{properties: [{key: "title", op: CONTAINS, value: "API"}]}', ["task_2"]),
        ('{properties: [{key: "name", op: STARTS_WITH, value: "A"}]}', ["alice", "api_proj", "auth_proj"]),
        ('{properties: [{key: "role", op: EXISTS, value: false}], type: "person"}', []),
        ('{match: {status: "pending", priority: "high"}}', ["task_3"]),
        ('{text: "api"}', ["api_proj", "task_2"]),
        ('{or: [{ids: ["bob"]}, {type: "project"}]}', ["api_proj", "auth_proj", "bob"]),
        ('{and: [{type: "task"}, {not: {match: {priority: "high"}}}]}', ["task_2"]),
        ("{type: null}", []),
        ("{or: []}", []),
        ("{scope: USER}", []),
    ],
)
async def test_filters_choose_nodes(ask: Ask, filter: str, expected: list[str]) -> None:
    answer = await ask("{ graphNodes(filter: %s) { nodes { id } totalCount } }" % filter)
    assert answer["data"]["graphNodes"] == {"nodes": [{"id": id} for id in expected], "totalCount": len(expected)}


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ('{touching: "bob"}', ["e2", "e5", "e6"]),
        ('{from: "task_2"}', ["e4", "e7"]),
        ('{to: "bob", type: "reports_to"}', ["e5", "e6"]),
        ("{dangling: true}", []),
        ("{minWeight: 2}", []),
        ('{maxWeight: 1, types: ["blocks"]}', ["e7"]),
    ],
)
async def test_filters_choose_edges(ask: Ask, filter: str, expected: list[str]) -> None:
    answer = await ask("{ graphEdges(filter: %s) { nodes { id } } }" % filter)
    assert answer["data"]["graphEdges"]["nodes"] == [{"id": id} for id in expected]


async def test_orders_go_both_ways(ask: Ask) -> None:
    answer = await ask(
        """{ graphNodes(orderBy: [{field: TYPE, direction: DESC}, {field: ID}], first: 4) { nodes { id } } }"""
    )
    assert [node["id"] for node in answer["data"]["graphNodes"]["nodes"]] == ["task_1", "task_2", "task_3", "api_proj"]


BY_DEGREE = """
query($after: String, $before: String, $first: Int, $last: Int, $order: [NodeOrder!], $at: At, $filter: NodeFilter) {
  graphNodes(orderBy: $order, first: $first, after: $after, last: $last, before: $before, at: $at, filter: $filter) {
    edges { cursor node { id degree } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}"""
BUSIEST = [{"field": "DEGREE", "direction": "DESC"}]


def degrees(page: dict[str, Any]) -> list[tuple[str, int]]:
    return [(edge["node"]["id"], edge["node"]["degree"]) for edge in page["edges"]]


async def test_nodes_by_degree_in_pages_both_ways(ask: Ask) -> None:
    pages, after = [], None
    for _ in range(3):
        pages.append((await ask(BY_DEGREE, order=BUSIEST, first=3, after=after))["data"]["graphNodes"])
        after = pages[-1]["pageInfo"]["endCursor"]
    back = await ask(BY_DEGREE, order=BUSIEST, last=3, before=pages[1]["pageInfo"]["startCursor"])

    assert [degrees(page) for page in pages] == [
        [("bob", 3), ("task_1", 3), ("task_2", 3)],
        [("alice", 2), ("api_proj", 1), ("auth_proj", 1)],
        [("charlie", 1), ("task_3", 0)],
    ]
    assert [page["pageInfo"]["hasNextPage"] for page in pages] == [True, True, False]
    assert degrees(back["data"]["graphNodes"]) == degrees(pages[0])
    assert back["data"]["graphNodes"]["edges"] == pages[0]["edges"]


async def test_nodes_by_degree_with_other_keys_filters_and_the_past(ask: Ask) -> None:
    by_type = [{"field": "TYPE"}, {"field": "DEGREE"}, {"field": "ID", "direction": "DESC"}]

    mixed = await ask(BY_DEGREE, order=by_type, filter={"type": "task"})
    past = await ask(BY_DEGREE, order=BUSIEST, first=1, at={"position": 9})

    assert degrees(mixed["data"]["graphNodes"]) == [("task_3", 0), ("task_2", 3), ("task_1", 3)]
    assert degrees(past["data"]["graphNodes"]) == [("alice", 1)]


async def test_a_cursor_by_degree_is_a_place_in_that_order_only(ask: Ask) -> None:
    page = (await ask(BY_DEGREE, order=BUSIEST, first=2))["data"]["graphNodes"]

    answer = await ask(BY_DEGREE, order=[{"field": "DEGREE"}], first=2, after=page["pageInfo"]["endCursor"])

    assert answer["errors"][0]["extensions"]["code"] == "E005"


async def test_search_path_traverse_hubs_and_neighbours(ask: Ask) -> None:
    answer = await ask(
        """{ search(query: "api", first: 1) { totalCount edges { node { node { id outgoing { totalCount } } } }
                pageInfo { hasNextPage } }
             path(from: "charlie", to: "auth_proj") { totalWeight nodes { id } edges { id } }
             none: path(from: "task_3", to: "alice") { totalWeight }
             traverse(id: "alice", depth: 1) { depth node { id degree } via { id } }
             hubs(limit: 2) { node { id } degree inDegree outDegree }
             neighbors(id: "bob", direction: INCOMING) { id outgoing { totalCount } } }"""
    )
    data = answer["data"]
    assert data["search"]["edges"] == [{"node": {"node": {"id": "api_proj", "outgoing": {"totalCount": 0}}}}]
    assert data["search"]["totalCount"] == 2
    assert data["search"]["pageInfo"] == {"hasNextPage": True}
    assert [node["id"] for node in data["path"]["nodes"]] == ["charlie", "bob", "task_2", "task_1", "auth_proj"]
    assert data["none"] is None
    assert data["traverse"] == [
        {"depth": 0, "node": {"id": "alice", "degree": 2}, "via": None},
        {"depth": 1, "node": {"id": "task_1", "degree": 3}, "via": {"id": "e1"}},
        {"depth": 1, "node": {"id": "bob", "degree": 3}, "via": {"id": "e5"}},
    ]
    assert data["hubs"][0] == {"node": {"id": "bob"}, "degree": 3, "inDegree": 2, "outDegree": 1}
    assert [node["id"] for node in data["neighbors"]] == ["alice", "charlie"]


async def test_every_read_can_be_asked_of_the_past(ask: Ask) -> None:
    await ask('mutation { deleteNode(input: {id: "bob"}) { deletedId deletedEdgeIds } }')
    answer = await ask(
        """{ now: stats { nodes edges events } then: stats(at: {position: 15}) { nodes edges events }
             graphNode(id: "bob", at: {position: 15}) { id degree outgoing { nodes { id } } }
             graphNodes(at: {position: 2}) { nodes { id } }
             hubs(limit: 1, at: {position: 15}) { node { id } }
             resolve(address: "@(bob)", at: {position: 15}) { resolved } }"""
    )
    assert answer["data"] == {
        "now": {"nodes": 7, "edges": 4, "events": 19},
        "then": {"nodes": 8, "edges": 7, "events": 15},
        "graphNode": {"id": "bob", "degree": 3, "outgoing": {"nodes": [{"id": "e2"}]}},
        "graphNodes": {"nodes": [{"id": "alice"}, {"id": "bob"}]},
        "hubs": [{"node": {"id": "bob"}}],
        "resolve": {"resolved": True},
    }


async def test_anything_is_found_by_its_global_id(ask: Ask) -> None:
    event = (await ask("{ history(last: 1) { id } }"))["data"]["history"][0]["id"]
    answer = await ask(
        """query($event: ID!) { nodes(ids: ["alice", "e1", "nobody", $event]) { __typename id }
             element(id: "e1") { ... on GraphEdge { from to } } }""",
        event=event,
    )
    assert answer["data"]["nodes"] == [
        {"__typename": "GraphNode", "id": "alice"},
        {"__typename": "GraphEdge", "id": "e1"},
        None,
        {"__typename": "Event", "id": event},
    ]
    assert answer["data"]["element"] == {"from": "alice", "to": "task_1"}


async def test_many_addresses_are_resolved_like_one(ask: Ask) -> None:
    await ask('mutation { updateNode(input: {id: "bob", properties: {role: "boss"}}) { node { id } } }')
    addresses = ["@(bob)", "@(bob:1)", "@(bob:2)", "@(bob:9)", "@(e1)", "@(nobody)", "no address", "@(bob)"]
    many = await ask(
        "query($a: [String!]!) { resolveAll(addresses: $a) { address resolved version value } }", a=addresses
    )
    one = "query($a: String!) { resolve(address: $a) { address resolved version value } }"
    assert many["data"]["resolveAll"] == [(await ask(one, a=address))["data"]["resolve"] for address in addresses]
    assert [found["version"] for found in many["data"]["resolveAll"]] == [2, 1, 2, None, 1, None, None, 2]


async def test_references_lead_both_ways(ask: Ask) -> None:
    await ask(
        'mutation { updateNode(input: {id: "alice", properties: {boss: "@(bob)", gone: "@(zed)"}}) { node { id } } }'
    )
    answer = await ask(
        """{ graphNode(id: "alice") { properties(resolveDepth: 1) references { address path resolved
                target { ... on GraphNode { id outgoing { totalCount } } } } }
             bob: graphNode(id: "bob") { referencedBy { ... on GraphNode { id } } } }"""
    )
    alice = answer["data"]["graphNode"]
    assert alice["properties"]["boss"]["id"] == "bob"
    assert alice["properties"]["gone"] == "@(zed)"
    assert alice["references"] == [
        {
            "address": "@(bob)",
            "path": "properties.boss",
            "resolved": True,
            "target": {"id": "bob", "outgoing": {"totalCount": 1}},
        },
        {"address": "@(zed)", "path": "properties.gone", "resolved": False, "target": None},
    ]
    assert answer["data"]["bob"]["referencedBy"] == [{"id": "alice"}]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{ graphNodes(first: 501) { nodes { id } } }", "LIMIT_EXCEEDED"),
        ("{ graphNodes(first: -1) { nodes { id } } }", "E005"),
        ('{ graphNodes(after: "nonsense") { nodes { id } } }', "E005"),
        ("{ graphNodes(first: 1, last: 1) { nodes { id } } }", "E005"),
        ('{ graphNodes(before: "x") { nodes { id } } }', "E005"),
        ("{ graphNodes(orderBy: [{field: ID}, {field: ID}]) { nodes { id } } }", "E005"),
        ('{ traverse(id: "nobody") { depth } }', "E002"),
        ('{ traverse(id: "alice", depth: -1) { depth } }', "E005"),
        ("{ stats(at: {position: 999}) { nodes } }", "POSITION_NOT_FOUND"),
        ('{ graphNodes(filter: {properties: [{key: "a", op: IN, value: 1}]}) { nodes { id } } }', "E005"),
        ('{ graphNode(id: "alice") { properties(resolveDepth: 6) } }', "E005"),
        ("{ hubs(limit: 501) { degree } }", "LIMIT_EXCEEDED"),
    ],
)
async def test_bad_arguments_are_refused_in_code(ask: Ask, query: str, code: str) -> None:
    answer = await ask(query)
    assert [error["extensions"]["code"] for error in answer["errors"]] == [code]


@pytest.mark.parametrize(
    ("at", "code"),
    [
        ({"position": -1}, "E005"),
        ({"position": 16}, "POSITION_NOT_FOUND"),
        ({"position": 2**63 - 1}, "POSITION_NOT_FOUND"),
        ({"position": 2**63}, "E005"),
        ({"position": 1.5}, "E005"),
        ({"position": "3"}, "E005"),
        ({"position": True}, "E005"),
        ({"position": None}, "E005"),
        ({}, "E005"),
        ({"position": 1, "instant": "2026-01-01T00:00:00Z"}, "E005"),
        ({"instant": "2026-01-01T00:00:00"}, "E005"),
        ({"instant": "2026-01-01"}, "E005"),
        ({"instant": "10000-01-01T00:00:00Z"}, "E005"),
        ({"instant": "2026-01-01T00:00:00+99:00"}, "E005"),
        ({"instant": "nonsense"}, "E005"),
        ({"instant": 3}, "E005"),
        ({"instant": "0001-01-01T00:00:00Z"}, None),
        ({"instant": "9999-12-31T23:59:59Z"}, None),
    ],
)
async def test_places_in_time_that_are_none_have_a_code(ask: Ask, at: dict[str, object], code: str | None) -> None:
    """In variables and in the text, for a plan and for a resolver."""
    inside = ", ".join(f"{name}: {msgspec.json.encode(value).decode()}" for name, value in at.items())
    for field in ("graphNodes(at: {}) {{ totalCount }}", "stats(at: {}) {{ nodes }}", "roots(at: {}) {{ totalCount }}"):
        asked = [
            await ask(f"query($at: At) {{ {field.format('$at')} }}", at=at),
            await ask(f"{{ {field.format('{' + inside + '}')} }}"),
        ]
        for answer in asked:
            codes = {error["extensions"]["code"] for error in answer.get("errors", ())}
            assert len(codes) == (code is not None) and "INTERNAL" not in codes, answer
            # What GraphQL's own validation refuses has its code.
            assert codes <= {code, "GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"}, answer


async def test_places_in_time_are_answered_by_compiled_plans(
    ask: Ask, operations: OperationExecutor, system: System
) -> None:
    """Several places in one request, literals and variables; and errors have the path of their field."""
    await ask('mutation { updateNode(input: {id: "bob", properties: {name: "Robert"}}) { node { id } } }')
    query = """query($at: At) { now: graphNode(id: "bob") { label } same: graphNode(id: "bob", at: $at) { label }
        then: graphNode(id: "bob", at: {position: 15}) { label } list: graphNodes(at: {position: 1}) { totalCount } }"""
    prepared = operations.prepare(query)
    assert operations.plans(prepared, prepared.operations[0], {}) is None, "an explanation shows plans of now only"
    assert isinstance(await operations.answer(prepared, RequestContext(system)), bytes)

    for at, label in ((None, "Robert"), ({"position": 15}, "bob"), ({"position": 1}, None)):
        data = (await ask(query, at=at))["data"]
        assert data["now"] == {"label": "Robert"} and data["then"]["label"] != "Robert"
        assert data["list"] == {"totalCount": 1}
        assert data["same"] == ({"label": label} if at is None else data["then"] if label else None)

    refused = await ask('query($at: At) { graphNode(id: "bob", at: $at) { id } }', at={"position": 99})
    assert refused["errors"][0]["extensions"]["code"] == "POSITION_NOT_FOUND"
    assert refused["errors"][0]["path"] == ["graphNode"]
