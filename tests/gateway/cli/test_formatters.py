"""The two voices, and which of them speaks (seed §11)."""

import inspect
import json
from pathlib import Path

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs.errors import NodeExists
from ugs_conformance.support.pytest_plugin import clause
from ugs_gateway.cli.output.formatters import OutputActor, formatter_for, terminal
from ugs_gateway.cli.output.formatters.terminal import clean
from ugs_gateway.cli.output.mode import MODES, choose_mode

DATA = Path(__file__).parents[3] / "conformance" / "ugs_conformance" / "data"
SELECTION = json.loads((DATA / "ugs_mode_selection.json").read_text("utf-8"))
STATS = {"nodes": 68, "edges": 45, "types": 5, "properties": 12}
NODE = {"id": "a", "type": "t", "properties": {"k": "v"}, "data": None, "created": 0, "modified": 0}
EDGE = {"id": "e", "from": "a", "to": "b", "type": "t", "weight": 1, "properties": {}, "created": 0}


@clause("UGS-5", "UGS-158", "UGS-159", "UGS-160", "UGS-161", "UGS-162", "UGS-225")
@pytest.mark.parametrize("case", SELECTION["cases"], ids=str)
def test_the_mode_is_chosen_by_the_five_steps(ugs: Ugs, case: dict[str, str | None]) -> None:
    if case["user_prefs"]:
        ugs("add-node", "_user_prefs", "prefs", f"actor={case['user_prefs']}")
    if case["system_config"]:
        ugs("add-node", "_system_config", "config", f"default_actor={case['system_config']}")
    environ = {"UGS_ACTOR": case["env"]} if case["env"] else {}
    flag = [case["flag"]] if case["flag"] else []
    told = ugs("stats", *flag, **environ).out
    assert ("agent" if told.startswith("{") else "human") == case["expect"]


def test_a_mode_nobody_knows_counts_as_none() -> None:
    assert choose_mode(None, {"actor": "robot"}, {"default_actor": 7}, {"UGS_ACTOR": "human"}) == "human"
    assert choose_mode(None, {"actor": ["human"]}, {}, {}) == "agent"


@clause("UGS-163", "UGS-156")
def test_stats_for_agents_are_exactly_the_seeds() -> None:
    assert formatter_for("agent").format_stats(STATS) == '{"nodes":68,"edges":45,"types":5,"properties":12}'


@clause("UGS-164", "UGS-157")
def test_stats_for_people_are_exactly_the_seeds() -> None:
    assert formatter_for("human").format_stats(STATS).splitlines() == [
        "📊 Graph Statistics",
        "━" * 18,
        "  Nodes: 68",
        "  Edges: 45",
        "  Types: 5",
        "  Properties: 12",
    ]


@clause("UGS-165")
@pytest.mark.parametrize("mode", MODES)
def test_a_voice_has_the_seven_forms_of_the_interface(mode: str) -> None:
    voice = formatter_for(mode)
    said = [
        voice.format_success({"ok": True}),
        voice.format_error(NodeExists("a")),
        voice.format_node(NODE),
        voice.format_edge(EDGE),
        voice.format_list([NODE]),
        voice.format_stats(STATS),
        voice.format_help("get"),
    ]
    assert all(isinstance(text, str) and text for text in said)
    if mode == "agent":
        assert [json.loads(text) for text in said][1]["error"]["code"] == "E001"
    names = ("data", "error", "node", "edge", "items", "stats", "topic")
    forms = ("success", "error", "node", "edge", "list", "stats", "help")
    for form, name in zip(forms, names, strict=True):
        assert list(inspect.signature(getattr(OutputActor, f"format_{form}")).parameters) == ["self", name]


EVERYTHING = [
    "stats", "hubs", "roots", "properties", "scopes", "history 3", "versions alice", "snapshot", "verify", "get alice",
    "get e1", "get nobody", "search login", "list person", "list 'user:*'", "find-by-property role manager",
    "neighbors bob", "traverse alice --direction both", "path alice auth_proj", "path task_3 alice", "resolve '@(alice)'",
    "resolve '@(x)'", "help", "help stats", "add-node n1 t", "add-edge x1 n1 alice", "update n1 k=v", "delete n1",
    "clear-scope scratch", "cypher 'MATCH (n) RETURN n.name, n LIMIT 2'", "cypher 'EXPLAIN MATCH (n) RETURN n'",
    "watch --after 0 --count 1", "bogus", "get", "delete nobody", "update alice k:={",
]  # fmt: skip


@clause("UGS-223", "UGS-156")
def test_everything_an_agent_hears_is_one_json_value_a_command(demo: Ugs) -> None:
    told = demo("--agent", stdin="\n".join(EVERYTHING))
    values = [json.loads(line) for line in told.out.splitlines()]
    assert len(values) == len(EVERYTHING)


@clause("UGS-224", "UGS-157")
def test_everything_a_person_hears_is_readable(demo: Ugs) -> None:
    told = demo("--human", stdin="\n".join(EVERYTHING))
    shown = told.out + told.err
    assert not any(line.startswith(("{", "[")) for line in told.out.splitlines())
    for words in (
        "🔵 alice (person)",
        "🔗 e1: alice ──assigned_to──▶ task_1",
        "🧭 alice",
        "∅ There is no path",
        "3 nodes",
    ):
        assert words in shown
    for words in (": NodeNotFound (E002)", "💡 `search <word>`", "🗑️  Deleted n1, and 1 edge: x1", "usage: ugs stats"):
        assert words in shown


@clause("UGS-113")
def test_help_knows_every_command_and_topics(ugs: Ugs) -> None:
    overview = ugs("help").value
    assert {"add-node", "exit-codes"} <= {*overview["commands"], *overview["topics"]}
    assert overview["commands"]["path"]["usage"] == "path <from> <to>"
    assert "_user_prefs" in ugs("help", "modes", "--human").out
    assert ugs("help", "serv").code == 2
    assert "Did you mean serve?" in ugs("help", "serv").err


@clause("UGS-114", "UGS-60", "UGS-1")
@pytest.mark.parametrize("word", ["exit", "quit"])
def test_exit_and_quit_leave_the_interactive_mode(ugs: Ugs, word: str) -> None:
    assert ugs(stdin=f"stats\n{word}\nstats\n").out.count("\n") == 1
    # the store is closed on the way out: the next process opens it, and finds what was done
    left = ugs(stdin=f"add-node a t x=1\n{word}\nadd-node b\n")
    assert (left.code, left.err) == (0, "")
    assert json.loads(ugs("get", "a").out)["properties"] == {"x": "1"}
    assert [event["type"] for event in json.loads(ugs("history").out)] == ["NodeAdded"]


def test_a_voice_can_change_in_the_middle(ugs: Ugs) -> None:
    told = ugs(stdin="add-node _user_prefs prefs actor=human\nstats\nupdate _user_prefs -actor\nstats\n").out
    assert told.startswith('{"id":"_user_prefs"')
    assert "📊 Graph Statistics" in told
    assert told.endswith('"properties":0}\n')


def test_text_from_the_graph_cannot_command_the_terminal(ugs: Ugs) -> None:
    ugs("add-node", "a", "t", 'x:="\\u001b[31mred\\u202e"')
    assert "\x1b" not in ugs("get", "a", "--human").out
    assert clean("\x1b]0;x\x07") == "\\x1b]0;x\\x07"


def test_colours_only_where_they_are_wanted(demo: Ugs) -> None:
    assert "\x1b" not in demo("list", "person", "--human").out


def test_people_hear_a_no_as_a_no(demo: Ugs, tmp_path: Path) -> None:
    assert demo("send", "task_1", "bogus", "--human").out.startswith("❌ Unknown message type: bogus")
    assert demo("doctor", "--human").out.startswith("✅ opens: files in data")
    assert "settings" not in demo("info", "--human").out
    query = {"type": "cypher", "query": "MATCH (p:person) RETURN p"}
    (tmp_path / "p.json").write_text(json.dumps({"version": 1, "statements": [{"op": "+", "operation": query}]}))
    assert "3 nodes, 0 links" in demo("program", "run", "p.json", "--human").out
    (tmp_path / "p.json").write_text('{"version":2,"statements":[]}')
    assert demo("program", "validate", "p.json", "--human").out.startswith("❌ The program is not valid")


class Screen:
    """A standard output that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_no_color_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal.sys, "stdout", Screen())
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "36m" in terminal.table(["id"], [["alice"]])
    monkeypatch.setenv("NO_COLOR", "1")
    assert "36m" not in terminal.table(["id"], [["alice"]])


def test_a_long_or_dangerous_cell_is_shortened_and_written_out() -> None:
    told = terminal.table(["id"], [["x" * 100], ["\x1b[31m[bold]"]])
    assert "x" * 59 + "…" in told
    assert "\\x1b[31m[bold]" in told
