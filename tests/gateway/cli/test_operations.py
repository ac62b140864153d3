"""Every operation of the seed, by its exact syntax (§6, §12.3, Appendix A)."""

import json
import shlex
from pathlib import Path

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs.errors import UgsError
from ugs_conformance.support.pytest_plugin import clause
from ugs_gateway.cli.command_table import COMMANDS, NAMES
from ugs_gateway.cli.input.property_arguments import parse_properties
from ugs_gateway.cli.input.tokenizer import split_line

DATA = Path(__file__).parents[3] / "conformance" / "ugs_conformance" / "data"
CATALOGUE = json.loads((DATA / "ugs_commands.json").read_text("utf-8"))
SYNTAX = json.loads((DATA / "ugs_property_syntax.json").read_text("utf-8"))["cases"]


@clause("UGS-222", "UGS-231")
@pytest.mark.parametrize("listed", CATALOGUE["operations"], ids=lambda listed: listed["op"])
def test_every_operation_of_the_seed_is_there_with_its_syntax(listed: dict[str, str]) -> None:
    if listed["op"] in ("help", "exit"):
        return
    syntax = listed["syntax"].partition(" |")[0]
    usage = next(entry.usage for entry in COMMANDS if entry.name == listed["op"])
    assert usage.startswith(syntax)


@clause("UGS-231", "UGS-222")
def test_the_grammar_accepts_every_production(demo: Ugs) -> None:
    lines = [
        "add-node a",
        "add-node b thing",
        "add-node project:c thing k=v n:=1 +list=x -gone",
        "add-edge x1 a b",
        "add-edge x2 a b knows",
        "add-edge x3 a b knows 2.5",
        "add-edge x4 a b 3",
        "get a",
        "update a k=v",
        "update x1 k=v",
        "search login",
        "list person",
        "find-by-property status pending",
        "neighbors bob",
        "neighbors bob incoming",
        "traverse alice",
        "traverse alice --depth 1 --direction both",
        "path alice auth_proj",
        "stats",
        "hubs",
        "hubs 2",
        "roots",
        "properties",
        "history",
        "history 3",
        "scopes",
        "snapshot",
        "delete x4",
        "help",
        "help get",
    ]
    script = demo(stdin="\n".join([*lines, "exit", "bogus"]))
    assert (script.code, script.err) == (0, "")
    assert len([json.loads(line) for line in script.out.splitlines()]) == len(lines)


@clause("UGS-90", "UGS-92", "UGS-233")
@pytest.mark.parametrize("case", SYNTAX, ids=lambda case: case["token"])
def test_a_property_word_does_what_the_seed_says(ugs: Ugs, case: dict[str, object]) -> None:
    ugs("add-node", "n", "t", *(f"{key}:={json.dumps(value)}" for key, value in case["before"].items()))  # type: ignore[attr-defined]
    done = ugs("update", "n", str(case["token"]))
    if "error" in case:
        assert (done.code, done.value["error"]["code"]) == (2, case["error"])
    else:
        assert done.value["properties"] == case["after"]


@clause("UGS-171")
def test_the_scope_script_of_the_seed_runs(ugs: Ugs) -> None:
    script = ugs(stdin="\n".join(CATALOGUE["scope_script"]))
    assert script.code == 0
    assert script.err == "warning: W001 endpoint missing: user:alice\n"
    profile, task, experiment, edge, user, project = map(json.loads, script.out.splitlines())
    assert profile["properties"] == {"name": "Alice"}
    assert experiment["properties"] == {"value": "123"}
    assert (edge["from"], edge["to"], edge["type"]) == ("project:task_1", "user:alice", "assigned_to")
    assert (user, project) == ([profile], [task])


def test_the_first_word_without_equals_is_the_type(ugs: Ugs) -> None:
    assert ugs("add-node", "a", "k=v", "person").value["type"] == "person"
    assert ugs("add-node", "b", "name=x").value["type"] is None
    assert ugs("add-node", "c", "person", "again").value["error"]["code"] == "E005"
    assert ugs("get", "c").value is None


def test_a_lone_number_is_the_weight_and_a_bad_weight_is_refused(ugs: Ugs) -> None:
    assert ugs("add-edge", "e1", "a", "b", "-2").value["weight"] == -2
    assert ugs("add-edge", "e2", "a", "b", "t", "k=v").value["weight"] == 1
    assert ugs("add-edge", "e3", "a", "b", "t", "heavy").value["error"]["code"] == "E005"


def test_appending_on_a_new_node_makes_a_list_and_removing_nothing(ugs: Ugs) -> None:
    made = ugs("add-node", "a", "t", "+tags=x", "-none")
    assert made.value["properties"] == {"tags": ["x"]}
    assert ugs("update", "a", "+tags=y", "+tags=z").value["properties"] == {"tags": ["x", "y", "z"]}
    assert ugs("add-node", "b", "tags=x", "+tags:=1", "+tags=y").value["properties"] == {"tags": ["x", 1, "y"]}


def test_a_minus_sign_alone_is_no_key() -> None:
    with pytest.raises(UgsError):
        parse_properties(["-"])


def test_missing_things_are_null_or_refused(demo: Ugs) -> None:
    assert demo("get", "nobody").out == "null\n"
    assert demo("path", "alice", "nobody").out == "null\n"
    assert demo("delete", "nobody").value["error"]["code"] == "E002"
    assert demo("update", "nobody", "k=v").value["error"]["code"] == "E002"
    assert demo("traverse", "nobody").value["error"]["code"] == "E002"


def test_values_are_found_as_text_and_as_json(ugs: Ugs) -> None:
    ugs("add-node", "a", "t", "n=1")
    ugs("add-node", "b", "t", "n:=1")
    ugs("add-node", "c", "t", "n:=true")
    assert [node["id"] for node in ugs("find-by-property", "n", "1").value] == ["a", "b"]
    assert [node["id"] for node in ugs("find-by-property", "n", "true").value] == ["c"]


def test_defaults_come_from_the_graph_itself(demo: Ugs) -> None:
    assert len(demo("hubs").value) == 8
    demo("add-node", "_system_config", "config", "hubs_limit:=1", "traverse_depth=1", "history_limit:=2")
    assert [hub["id"] for hub in demo("hubs").value] == ["bob"]
    assert [node["id"] for node in demo("traverse", "alice").value] == ["alice", "task_1", "bob"]
    assert len(demo("history").value) == 2


def test_what_was_can_be_seen_again(demo: Ugs) -> None:
    demo("update", "alice", "role=boss")
    assert demo("get", "alice", "--at", "15").value["properties"]["role"] == "engineer"
    assert demo("resolve", "@(alice:1)").value["properties"]["role"] == "engineer"
    assert [state["version"] for state in demo("versions", "alice").value] == [1, 2]
    assert demo("get", "alice", "--at", "99").value["error"]["code"] == "POSITION_NOT_FOUND"
    assert demo("stats", "--at", "2999-01-01T00:00:00Z").value["nodes"] == 8
    assert demo("stats", "--at", "1000-01-01T00:00:00Z").value["nodes"] == 0
    for nowhere in ("-1", "1.5", "", "nonsense", "2026-01-01", "2026-01-01T00:00:00", "99999999999999999999"):
        assert demo("stats", f"--at={nowhere}").value["error"]["code"] == "E005"
    assert demo("diff", "9", "3").value["error"]["code"] == "INVALID_ARGUMENT"
    assert demo("diff", "9", "2026-01-01T00:00:00").value["error"]["code"] == "E005"


def test_clearing_a_scope_leaves_the_others(demo: Ugs) -> None:
    demo("add-node", "scratch:a")
    demo("add-edge", "e9", "scratch:a", "alice")
    assert demo("clear-scope", "scratch").value == {"scope": "scratch", "nodes": ["scratch:a"], "edges": ["e9"]}
    assert demo("clear-scope", "default").value["error"]["code"] == "E005"
    assert demo("stats").value["nodes"] == 8


def test_a_query_takes_parameters_and_standard_input(demo: Ugs) -> None:
    ask = "MATCH (p:person) WHERE p.name = $name RETURN p.role AS role"
    assert demo("cypher", ask, "name=Bob Smith").value == {"columns": ["role"], "rows": [["manager"]]}
    assert demo("cypher", "-", "name=Bob Smith", stdin=ask).value["rows"] == [["manager"]]
    assert demo("cypher", "RETURN 0.0/0.0 AS x").value["rows"] == [["NaN"]]


def test_a_query_shows_points_and_warns_of_its_remarks(demo: Ugs) -> None:
    place = {"@point": {"longitude": 12, "latitude": 56.5}}
    asked = demo("cypher", "MATCH (a), (b) RETURN DISTINCT $p AS p, $p.latitude AS y", f"p:={json.dumps(place)}")
    assert asked.value["rows"] == [[{"type": "Point", "coordinates": [12.0, 56.5], "crs": "wgs-84"}, 56.5]]
    assert "cartesian product (line 1, column 1)" in asked.err


def test_watching_begins_where_it_is_told(demo: Ugs) -> None:
    seen = demo("watch", "--after", "13", "--count", "2")
    assert [json.loads(line)["seq"] for line in seen.out.splitlines()] == [14, 15]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("add-node a t name=\"Alice B\" k='x y'", ["add-node", "a", "t", "name=Alice B", "k=x y"]),
        ('a k:=["x y", {"z": "} ]"}] end', ["a", 'k:=["x y", {"z": "} ]"}]', "end"]),
        ('a k:="quoted text" b', ["a", 'k:="quoted text"', "b"]),
        (r"a b\ c", ["a", "b c"]),
        ("a 'it''s'", ["a", "its"]),
        ("a \\\n b", ["a", "b"]),
        ("", []),
    ],
)
def test_a_line_is_split_like_in_a_shell_but_json_keeps_its_quotes(line: str, words: list[str]) -> None:
    assert split_line(line) == words


def test_words_too_few_or_too_many_show_the_usage(ugs: Ugs) -> None:
    ugs("add-node", "a")
    for words in (
        *(
            ["get"],
            ["get", "a", "b"],
            ["hubs", "x"],
            ["hubs", "-1"],
            ["traverse", "a", "--depth"],
            ["get", "a", "--odd"],
        ),
        *(["add-node", "x", "t", "u"], ["neighbors", "a", "up"], ["traverse", "a", "--depth", "x"], ["exit", "now"]),
        *(
            ["add-node", "x", "-5"],
            ["add-node", "x", "+5"],
            ["history", "many"],
            ["list", "odd:*"],
            ["facts", "a", "--as-of", "x"],
        ),
        *(
            ["search", "x", "--limit", "-1"],
            ["add-edge", "e", "a", "b", "t", "heavy"],
            ["delete", "9"],
            ["help", "a", "b"],
        ),
        *(
            ["watch", "--count", "x"],
            ["key", "dance"],
            ["program", "dance"],
            ["clear-scope", "odd"],
            ["import", "x.odd"],
        ),
    ):
        done = ugs(*words)
        assert (done.code, done.value["error"]["code"]) == (2, "E005"), words
        assert ugs(stdin=shlex.join(words)).code == 2, words


def test_no_two_commands_share_a_name() -> None:
    assert len(set(NAMES)) == len(NAMES)
