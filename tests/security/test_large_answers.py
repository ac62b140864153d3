"""Large answers, queries and programs do not block the event loop: what grows with them happens in a thread or stops.

Which thread did the work is recorded, not how long it took, so that a busy machine changes nothing.
"""

from __future__ import annotations

import gc
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from ugs import large_json
from ugs.cypher import api as cypher_api
from ugs.cypher import execution
from ugs.cypher.analysis import queries
from ugs.errors import DeadlineExceeded, LimitExceeded
from ugs.graph.api import Graph
from ugs.programs import large_programs
from ugs.programs.execution import graph_mapper
from ugs.programs.text import cursor, parser, printer
from ugs.programs.validation import query_safety, validator
from ugs.support.budget import current_budget, request_budget
from ugs.system import System
from ugs_gateway.app import create_app
from ugs_gateway.http import content_negotiation
from ugs_gateway.settings import Settings
from ugs_schema.generated import schema as generated

COMPUTING = "ugs-compute"
ROWS = 'WITH [x IN range(1, 100) | "abcdefghij"] AS l UNWIND range(1, 800) AS x RETURN l'
LONG_QUERY = "MATCH (n) WHERE n.x IN [" + ", ".join(map(str, range(900))) + "] RETURN n"
PROGRAM = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": LONG_QUERY}}] * 3}
TEXT = f"+ {LONG_QUERY};\n" * 3
RPC = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}

Watch = Callable[[Any, str], list[str]]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    settings = Settings(store="memory:", mcp_profile="extended")
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        client.portal.call(Graph(client.app.state.system).load_demo)  # type: ignore[attr-defined, call-arg, union-attr]
        yield client


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Records the names of the threads that run a function of a module."""

    def watching(module: Any, name: str) -> list[str]:
        threads: list[str] = []
        original = getattr(module, name)

        def recorded(*args: Any, **kwargs: Any) -> Any:
            threads.append(threading.current_thread().name)
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, recorded)
        return threads

    return watching


def ask(client: TestClient, query: str, **variables: Any) -> Any:
    answer = client.post("/graphql", json={"query": query, "variables": variables})
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


def call(client: TestClient, tool: str, **arguments: Any) -> Any:
    params = {"name": tool, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return client.post("/mcp", json=body, headers=RPC).json()["result"]


def are_all(threads: list[str], beginning: str) -> bool:
    return bool(threads) and all(name.startswith(beginning) for name in threads)


@pytest.mark.parametrize("headers", [{}, {"x-twice": "1", "accept": "application/json, text/html"}])
def test_large_answers_are_compressed_in_a_thread(client: TestClient, watch: Watch, headers: dict[str, str]) -> None:
    threads = watch(content_negotiation, "compress")
    query = "query($q: String!) { cypher(query: $q, limit: 10000) { rows } }"
    body = {"query": query, "variables": {"q": ROWS}}
    for _ in range(2):  # the second time by the fast path
        with client.stream("POST", "/graphql", json=body, headers={**headers, "accept-encoding": "gzip"}) as answer:
            assert answer.headers["content-encoding"] == "gzip"
            assert len(json.loads(gzip.decompress(b"".join(answer.iter_raw())))["data"]["cypher"]["rows"]) == 800
    assert are_all(threads, "ugs-gzip")


def test_the_graph_of_a_large_result_is_drawn_in_a_thread(client: TestClient, watch: Watch) -> None:
    threads = watch(graph_mapper, "distinct")
    found = ask(client, "query($q: String!) { cypher(query: $q) { graph { nodes { conceptId } } } }", q=ROWS)
    assert found["data"]["cypher"]["graph"]["nodes"] == []
    query = "MATCH (n) WITH collect(n) AS l, [x IN range(1, 40000) | 1] AS m RETURN l, m"
    program = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": query}}]}
    ran = ask(client, "query($p: JSON!) { executeProgram(program: $p) { result { nodes { conceptId } } } }", p=program)
    assert len(ran["data"]["executeProgram"]["result"]["nodes"]) == 8
    assert are_all(threads, COMPUTING) and len(threads) == 2


def test_one_large_row_is_encoded_in_pieces_in_a_thread(client: TestClient, watch: Watch) -> None:
    threads = watch(large_json, "_encode")
    query = "query($q: String!) { cypher(query: $q) { rows } }"
    found = ask(client, query, q="RETURN [x IN range(1, 60000) | [x]] AS l, 7 AS n")["data"]["cypher"]["rows"]
    assert found == [[[[number] for number in range(1, 60_001)], 7]]
    assert are_all(threads, COMPUTING) and len(threads) > 20


def test_encoded_rows_count_as_often_as_they_are_answered(client: TestClient) -> None:
    row = "RETURN [x IN range(1, 1200) | '" + "x" * 10_000 + "'] AS l"
    once = ask(client, "query($q: String!) { cypher(query: $q) { rows } }", q=row)
    assert len(once["data"]["cypher"]["rows"][0][0]) == 1_200
    for query in (
        "query($q: String!) { cypher(query: $q) { a: rows b: rows c: rows } }",
        "query($q: String!) { a: cypher(query: $q) { rows } b: cypher(query: $q) { rows } c: cypher(query: $q) { rows } }",
    ):
        found = ask(client, query, q=row)
        assert found["errors"][0]["extensions"]["code"] == "ANSWER_TOO_LARGE" and not found.get("data")
    found = ask(client, query, q=row.replace("1200", "4000"))
    assert found["errors"][0]["extensions"]["code"] == "ANSWER_TOO_LARGE"


def test_large_answers_over_mcp_are_rendered_in_a_thread(client: TestClient, watch: Watch) -> None:
    threads = watch(cypher_api, "as_json")
    found = call(client, "cypher", query=ROWS, limit=10_000)
    assert len(found["structuredContent"]["rows"]) == 800 and are_all(threads, COMPUTING)


def test_long_queries_are_parsed_and_planned_in_a_thread(client: TestClient, watch: Watch) -> None:
    parsed, planned = watch(execution, "parse"), watch(execution, "plan_query")
    for number, text in enumerate((LONG_QUERY, "/*" + "x" * 3_000 + "*/ RETURN 1 AS x", "RETURN " + "[" * 5_000)):
        ask(client, "query($q: String!) { cypher(query: $q) { rows } }", q=f"{text} // {number}")
        call(client, "cypher", query=f"{text} // mcp {number}")
    assert are_all(parsed, COMPUTING) and are_all(planned, COMPUTING)


@pytest.mark.parametrize("door", ["validate", "execute", "parse", "save", "rest", "rest execute", "mcp"])
def test_large_programs_are_read_in_a_thread(client: TestClient, watch: Watch, door: str) -> None:
    parsed, checked = watch(large_programs, "parse_text"), watch(large_programs, "decode_and_validate")
    valid = watch(large_programs, "parse_valid")
    if door == "validate":
        assert ask(client, "query($t: String!) { validateProgram(dsl: $t) { valid } }", t=TEXT)["data"]
    elif door == "execute":
        assert ask(client, "query($t: String!) { executeProgram(dsl: $t) { log { op } } }", t=TEXT)["data"]
    elif door == "parse":
        assert ask(client, "query($t: String!) { parseProgram(dsl: $t) }", t=TEXT)["data"]
    elif door == "save":
        mutation = "mutation($p: JSON!) { saveProgram(input: {program: $p}) { program { id } } }"
        assert ask(client, mutation, p=PROGRAM)["data"]["saveProgram"]["program"]
    elif door == "rest":
        assert client.post("/programs/validate", json={"program": PROGRAM}).json()["valid"]
    elif door == "rest execute":
        assert client.post("/programs/execute", json={"program": PROGRAM}).status_code == 200
    else:
        assert not call(client, "program", action="execute", text=TEXT)["isError"]
    assert are_all(parsed + checked + valid, COMPUTING)


BLOCKS = [{"blockType": "search", "params": {"query": f"a word of some length {number}"}} for number in range(99)]
EXPLORATION = {"statements": [{"op": "+", "cypher": "MATCH (n) RETURN n"}] * 1_000}
CONVERSIONS = {
    "printProgram": ("query($v: JSON!) { printProgram(program: $v) }", PROGRAM, "print_text"),
    "compileBlocks": ("query($v: JSON!) { compileBlocks(blocks: $v) }", BLOCKS * 2, "compile_blocks"),
    "programBlocks": ("query($v: JSON!) { programBlocks(program: $v) }", PROGRAM, "blocks_of"),
    "migrateExploration": ("query($v: JSON!) { migrateExploration(exploration: $v) }", EXPLORATION, "from_exploration"),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_large_programs_are_converted_in_a_thread(client: TestClient, watch: Watch, name: str) -> None:
    query, value, work = CONVERSIONS[name]
    threads = watch(large_programs, work)
    ask(client, query, v=value)
    assert are_all(threads, COMPUTING) and len(threads) == 1


def test_large_stored_programs_are_printed_in_a_thread(client: TestClient, watch: Watch) -> None:
    mutation = "mutation($p: JSON!) { saveProgram(input: {program: $p}) { program { programId } } }"
    id = ask(client, mutation, p=PROGRAM)["data"]["saveProgram"]["program"]["programId"]
    threads = watch(large_programs, "print_text")
    found = ask(client, "query($id: Int!) { program(id: $id) { dsl } }", id=id)["data"]["program"]["dsl"]
    assert found.count(LONG_QUERY) == 3
    assert call(client, "program", action="get", program_id=id)["structuredContent"]["text"]
    assert are_all(threads, COMPUTING) and len(threads) == 2


async def test_work_on_programs_ends_at_the_deadline_of_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []

    def check(text: str, *more: Any) -> Any:
        checked.append(text)
        while time.monotonic() <= current_budget().deadline:
            time.sleep(0.001)
        return query_safety.check_query(text, *more)

    monkeypatch.setattr(validator, "check_query", check)
    monkeypatch.setattr(printer, "check_query", check)
    program = {"version": 1, "statements": [statement(LONG_QUERY + f" // {n}") | {"label": "x"} for n in range(5)]}
    program["statements"] = [{**one, "operation": {**one["operation"], "limit": 3}} for one in program["statements"]]  # type: ignore[attr-defined]
    for work in (large_programs.decode_and_validate_off_loop, large_programs.print_off_loop):
        checked.clear()
        with pytest.raises(DeadlineExceeded), request_budget(0.01):
            await work(program)
        assert len(checked) <= 1


def test_the_text_of_a_program_is_bounded(client: TestClient) -> None:
    validate = "query($t: String!) { validateProgram(dsl: $t) { valid errors { message } } }"
    for text, words in (
        ("+ MATCH (n) RETURN n\n" * (parser.MAX_STATEMENTS + 1), "at most 1000 statements"),
        ("IF empty THEN {\n+ MATCH (n) RETURN n;\n} " * (parser.MAX_STATEMENTS + 1), "at most 1000 statements"),
        ("-" * (cursor.MAX_TEXT_CHARS + 1), f"longer than {cursor.MAX_TEXT_CHARS}"),
    ):
        found = ask(client, validate, t=text)["data"]["validateProgram"]
        assert not found["valid"] and words in found["errors"][0]["message"]
    parsed = ask(client, "query($t: String!) { parseProgram(dsl: $t) }", t=text)
    assert parsed["errors"][0]["extensions"]["code"] == "PROGRAM_TEXT"


def test_only_so_many_statements_of_a_program_are_checked(client: TestClient, watch: Watch) -> None:
    checked = watch(validator, "check_query")
    program = {"version": 1, "statements": [statement(f"MATCH (n) RETURN n{n}") for n in range(5_000)]}
    found = client.post("/programs/validate", json={"program": program}).json()
    assert "V006" in {error["rule_id"] for error in found["errors"]} and len(checked) <= 100


def statement(query: str) -> dict[str, Any]:
    return {"op": "+", "operation": {"type": "cypher", "query": query}}


def test_a_query_that_is_too_long_is_refused_unread(client: TestClient, watch: Watch) -> None:
    read, stripped = watch(query_safety, "tokenize"), watch(query_safety, "strip_comments")
    program = {"version": 1, "statements": [statement("{" * 900_000)]}
    found = client.post("/programs/validate", json={"program": program}).json()
    assert [error["rule_id"] for error in found["errors"]] == ["V031"] and read == stripped == []


async def test_stars_stand_for_a_bounded_number_of_columns() -> None:
    columns = ", ".join(f"{number} AS a{number}" for number in range(600))
    async with System.at_url("memory:") as system:
        query = f"WITH {columns} {'WITH * ' * 900} RETURN 1 AS x"
        with pytest.raises(Exception, match=f"more than {queries.MAX_STARRED} columns"):
            await cypher_api.ask(system, query)
        assert (await cypher_api.ask(system, f"WITH {columns} {'WITH * ' * 10} RETURN a7")).rows == [(7,)]


@pytest.mark.parametrize(
    "query",
    [
        "OPTIONAL MATCH (n) " * 800 + "RETURN 1 AS x",
        "MATCH (n) " + "".join(f"OPTIONAL MATCH (m{number}) WHERE id(m{number}) = 'n1' " for number in range(250))
        + "RETURN count(*) AS x",
        "MATCH (n) " + "".join(f"MATCH (m{number}) WHERE id(m{number}) = 'n1' " for number in range(250)) + "RETURN count(*) AS x",
    ],
)  # fmt: skip
async def test_the_rows_of_long_pipelines_count_as_memory(query: str) -> None:
    """Each of very many operators held a portion of very wide rows: a gibibyte in all."""
    async with System.at_url("memory:") as system:
        await Graph(system).import_graph({"nodes": [{"id": f"n{number}"} for number in range(3_000)]})
        with pytest.raises(LimitExceeded, match="bytes of memory"), request_budget(60):
            await cypher_api.ask(system, query)


async def test_a_very_long_chain_is_not_sent_to_the_store_as_one_question() -> None:
    async with System.at_url("memory:") as system:
        for length, operator in ((5, "StoreMatch"), (200, "NodeScan")):
            chain = "MATCH " + "-->".join(f"(a{number})" for number in range(length)) + " RETURN a0"
            found = await cypher_api.ask(system, f"EXPLAIN {chain}")
            assert found.plan[0].operator == operator, found.plan[0]
            assert (await cypher_api.ask(system, chain)).rows == []


def test_the_text_of_a_generated_schema_is_printed_once_and_in_a_thread(client: TestClient, watch: Watch) -> None:
    threads = watch(generated, "print_schema")
    made = 'mutation { createOntology(input: {name: "printed", nodeTypes: ["Memo"]}) { ontology { name } } }'
    ask(client, made)
    found = [client.get("/graphql/printed/schema.graphql").text for _ in range(2)]
    assert found[0] == found[1] and "type Memo" in found[0]
    assert are_all(threads, COMPUTING) and len(threads) == 1


def test_a_refused_query_leaves_nothing_large_behind(client: TestClient) -> None:
    query = "query($q: String!) { cypher(query: $q) { rows } }"
    refused = "WITH [[x IN range(1, 3000) | [x]]] AS l RETURN size(l) + [x IN l | x + 'a' / 2] AS n"
    assert ask(client, query, q=refused)["errors"]
    gc.collect()
    gc.disable()
    try:
        assert ask(client, query, q=refused)["errors"]
        assert gc.collect() < 2_500, "the query has made 3,000 lists"
    finally:
        gc.enable()
