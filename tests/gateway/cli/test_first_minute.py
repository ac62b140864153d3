"""What somebody meets in the first minute: nothing is made by reading, hints fit, documented options work."""

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs.errors import NodeExists, all_errors
from ugs_gateway.cli.command_table import COMMANDS, find_command
from ugs_gateway.cli.input.arguments import parse_usage
from ugs_gateway.cli.main import parse_invocation
from ugs_gateway.cli.output.formatters import formatter_for
from ugs_gateway.cli.output.streams import Output


@pytest.mark.parametrize(
    "words",
    [
        *(["stats"], ["get", "a"], ["list", "*"], ["search", "x"], ["history"], ["verify"], ["export"], ["snapshot"]),
        *(["delete", "a"], ["update", "a", "k=v"], ["key", "list"], ["program", "list"], ["doctor"], ["rebuild"]),
        *(["mirror", "out"], ["cypher", "RETURN 1"], ["watch", "--count", "1"], ["hubs"], ["resolve", "@(a)"]),
    ],
)
@pytest.mark.parametrize("store", ["--data-dir=typo", "--store=sqlite:///typo.db"])
def test_reading_never_makes_a_store(words: list[str], store: str, ugs: Ugs) -> None:
    done = ugs(*words, store)
    assert done.code == (1 if words == ["doctor"] else 3), done
    assert "There is no store yet" in done.out
    assert list(Path().iterdir()) == []


def test_a_copy_of_nothing_is_refused(ugs: Ugs) -> None:
    done = ugs("copy", "file:./typo", "file:./other")
    assert (done.code, done.value["error"]["code"]) == (3, "E007")
    assert list(Path().iterdir()) == []


def test_a_new_store_is_made_by_what_adds_to_it(ugs: Ugs) -> None:
    assert ugs("add-node", "a", "--data-dir", "new").code == 0
    assert ugs("stats", "--data-dir", "new").value["nodes"] == 1


@pytest.mark.parametrize(
    ("name", "text", "ok"),
    [
        ("x.json", '{"foo": 1}', False),
        ("x.json", '{"nodes": [], "edges": []}', True),
        ("x.graphml", "<html><body/></html>", False),
        ("x.graphml", "<graphml><graph/></graphml>", True),
        ("x.cypher", "// nothing\n", True),
        ("x.ndjson", "", True),
    ],
)
def test_a_file_with_nothing_that_is_known_is_refused(name: str, text: str, ok: bool, ugs: Ugs) -> None:
    Path(name).write_text(text)
    done = ugs("import", name)
    assert done.code == (0 if ok else 1), done


def test_hints_fit_the_command(demo: Ugs) -> None:
    again = demo("load-demo")
    assert "--force" in again.value["error"]["hint"] and "--force" in again.err
    demo("export", "g.json")
    assert "--on-conflict" in demo("import", "g.json").value["error"]["hint"]
    assert demo("delete", "alise").value["error"]["hint"] == "Did you mean alice?"
    asked = demo("get", "alise")
    assert asked.value is None and "Did you mean alice?" in asked.err and demo("get", "zzz").err == ""
    assert demo("neighbors", "task1").value["error"]["hint"] == "Did you mean task_1?"
    assert "name=Alice" in demo("add-node", "x", "name:=Alice").value["error"]["message"]
    assert (
        demo("stats", "--store", "http://localhost:8000").value["error"]["hint"].startswith("Did you mean --url http:")
    )
    assert "sqlite:///graph.db" in demo("stats", "--store", "graph.db").value["error"]["hint"]
    assert "file:./data" in demo("stats", "--store", "./data").value["error"]["hint"]
    assert demo("info", "--store", "postgres://me@localhost/graph?sslmode=require").code == 0


def test_at_a_terminal_help_and_errors_are_for_people_once(ugs: Ugs, monkeypatch: pytest.MonkeyPatch) -> None:
    speech = Output(formatter_for("agent"))
    said: list[str] = []
    monkeypatch.setattr("ugs_gateway.cli.output.streams.say", said.append)
    monkeypatch.setattr("ugs_gateway.cli.output.streams.write_out", said.append)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert speech.failed(NodeExists("a"), 1) == 1
    assert len(said) == 1 and said[0].startswith("❌ NodeExists (E001)")
    assert speech.help("").startswith("usage: ugs")
    headings = [line for line in speech.help("").splitlines() if line.endswith(":")]
    assert len(headings) == len(set(headings)) > 5


def examples() -> Iterator[str]:
    for entry in COMMANDS:
        yield from (example for example in entry.examples if "<" not in example and "watch" not in example)


@pytest.mark.parametrize(
    "example", [example for example in examples() if example.startswith(("send", "help", "update"))]
)
def test_examples_of_help_work_on_the_demonstration_graph(example: str, demo: Ugs) -> None:
    words = shlex.split(example)
    assert demo(*words).code == 0, example


def test_help_on_modes_shows_what_works(demo: Ugs) -> None:
    text = demo("help", "modes").value["text"]
    start = text.index("(add-node _user_prefs")
    assert demo(*shlex.split(text[start + 1 : text.index(")", start)])).code == 0
    assert demo("stats").out.startswith("📊")


@pytest.mark.parametrize("entry", [entry for entry in COMMANDS if entry.usage], ids=lambda entry: entry.name)
def test_every_documented_option_reaches_its_command(entry: object) -> None:
    """Written with a space and with a sign, before and behind the words; no flag of the output swallows a value."""
    name = entry.name  # type: ignore[attr-defined]
    usage = parse_usage(entry.usage)  # type: ignore[attr-defined]
    for option, value in usage.options.items():
        given = [f"--{option}"] if value is None else [f"--{option}", "a1"]
        typed = parse_invocation([name, "word", *given, "more"])
        assert (typed.command, typed.flag) == (name, None)
        assert typed.words == ["word", *given, "more"], option
    typed = parse_invocation([name, "--human", "word"])
    assert (typed.flag, typed.words) == ("human", ["word"])


def test_an_option_that_a_command_does_not_know_is_named(ugs: Ugs) -> None:
    """Its value stays with it, and is not taken for a word of the command."""
    for words in (["token", "create", "--user", "u"], ["plugins"], ["config", "show"]):
        told = ugs("--url=http://127.0.0.1:1", *words)
        assert told.code == 2 and "--url=http://127.0.0.1:1" in told.err, told
        assert ugs("--url", "http://127.0.0.1:1", *words).err == told.err


def test_agents_of_keys_and_tokens_are_named(ugs: Ugs) -> None:
    for words in (["--agent", "a1"], ["--agent=a1"]):
        assert ugs("key", "add", f"k{len(words)}", *words, "--role", "writer").value["agent"] == "a1"
        assert ugs("--agent", "token", "create", "--user", "u", *words, "--file", "t.jsonl").code == 0
    kept = [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]
    assert [token["agent"] for token in kept] == ["a1", "a1"]
    assert ugs("key", "list", "--agent").code == 0 and ugs("--human", "key", "list").out.startswith("╭")


TOOL_OPTIONS = {
    "doctor": ["--repair"],
    "rebuild": [],
    "info": [],
    "config": ["show", "--origin"],
}


@pytest.mark.parametrize("name", TOOL_OPTIONS)
@pytest.mark.parametrize("place", [["--store", "file:./data"], ["--backend", "file:./data"], ["--data-dir", "data"]])
def test_tools_take_a_store_in_every_documented_way(name: str, place: list[str], demo: Ugs) -> None:
    assert demo(name, *TOOL_OPTIONS[name], *place).code == 0
    assert demo(name, *TOOL_OPTIONS[name], *place, "--data-dir", "x", "--store", "y").code == 2


def test_serve_takes_a_folder() -> None:
    from argparse import ArgumentParser

    from ugs_gateway.cli.commands.serve import arguments

    parser = ArgumentParser()
    arguments(parser)
    assert parser.parse_args(["--data-dir", "d"]).store == "file:d"


def test_the_doctor_acknowledges_damage_under_a_snapshot(demo: Ugs) -> None:
    assert demo("snapshot").code == 0
    wal = Path("data/events.wal")
    wal.write_bytes(wal.read_bytes().replace(b"Bob Smith", b"Bob Smits", 1))
    read = demo("stats")
    assert read.code == 0 and "E009 events.wal line 2 (byte " in read.err
    assert demo("add-node", "x").value["error"]["code"] == "E009"
    assert demo("doctor").code == 1
    assert demo("doctor", "--acknowledge").code == 0
    assert demo("add-node", "x").code == 0


def test_answers_are_whole(ugs: Ugs) -> None:
    script = "\n".join(f"add-node n{number} t word=same" for number in range(620))
    script += "\n" + "\n".join(f"add-edge e{number} n{number} n{number + 1}" for number in range(150))
    assert ugs(stdin=script).code == 0
    assert len(ugs("search", "same").value) == 620
    assert len(ugs("search", "same", "--limit", "550").value) == 550
    assert len(ugs("history", "570").value) == 570
    assert len(ugs("hubs", "520").value) == 520
    assert len(ugs("traverse", "n0", "--depth", "149").value) == 150


def test_a_validation_is_readable(ugs: Ugs) -> None:
    Path("p.json").write_text('{"version": 1, "statements": []}')
    done = ugs("--human", "program", "validate", "p.json", "--store", "memory:")
    assert done.code == 1 and done.out.startswith("❌ The program is not valid: ")
    assert "\n  ❌ [V" in done.out and "{" not in done.out


def test_every_code_has_one_name() -> None:
    names: dict[str, set[str]] = {}
    for error in all_errors():
        names.setdefault(error.code, set()).add(error.name)
    assert {code: found for code, found in names.items() if len(found) > 1} == {}
    assert names["E007"] == {"IOError"} and find_command("exit") is not None


@pytest.mark.parametrize("words", [["import", "none.json"], ["ingest", "none.ndjson"]])
def test_a_file_that_is_not_there_makes_no_store(words: list[str], ugs: Ugs) -> None:
    assert ugs(*words).value["error"]["code"] == "E007"
    assert list(Path().iterdir()) == []


FAILING = [
    ("import", "bad.json"),
    ("import", "late.ndjson"),
    ("import", "bad.log", "--format", "log"),
    ("import", "unlike.json", "--on-conflict", "sometimes"),
    ("ingest", "bad.ndjson"),
    ("add-node", "?"),
    ("add-node", "a", "T", "x:=oops"),
    ("key", "add", "--role", "nobody"),
    ("program", "save", "bad.log"),
]


@pytest.mark.parametrize("store", ["file:new", "sqlite:///new.db"])
@pytest.mark.parametrize("words", FAILING, ids=lambda words: "-".join(words[:2]))
def test_a_command_that_fails_leaves_no_new_store(words: Sequence[str], store: str, ugs: Ugs) -> None:
    Path("bad.json").write_text('{"nodes": [{"id": 3}]}')
    Path("late.ndjson").write_text('{"kind": "node", "id": "a"}\n not JSON\n')
    Path("bad.ndjson").write_text('{"note": 3}\n')
    Path("bad.log").write_text("hello\n")
    before = sorted(Path().iterdir())
    done = ugs(*words, "--store", store)
    assert done.code and done.value["error"]["code"]
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("store", ["file:kept", "sqlite:///kept/store.db"])
def test_a_command_that_fails_keeps_what_was_there(store: str, ugs: Ugs) -> None:
    Path("kept").mkdir()
    assert ugs("add-node", "?", "--store", store).code == 2
    assert [path.name for path in Path().iterdir()] == ["kept"] and list(Path("kept").iterdir()) == []
    assert ugs("add-node", "a", "--store", store).code == 0
    assert ugs("add-node", "a", "--store", store).code == 1
    assert ugs("get", "a", "--store", store).value["id"] == "a"


def test_a_first_batch_that_was_imported_stays(ugs: Ugs) -> None:
    lines = [json.dumps({"kind": "node", "id": f"n{number}"}) for number in range(450)]
    Path("g.ndjson").write_text("\n".join([*lines, "not JSON"]))
    assert ugs("import", "g.ndjson", "--store", "file:new").code == 1
    assert ugs("stats", "--store", "file:new").value["nodes"] == 400


def test_json_that_is_none_on_the_command_line_is_a_usage_error(demo: Ugs) -> None:
    for words in (["add-node", "x", "v:=Alice"], ["add-node", "x", "--data", "{"], ["send", "task_1", "get", "{"]):
        done = demo(*words)
        assert (done.code, done.value["error"]["code"]) == (2, "E006"), words


def test_a_way_from_an_unknown_node_names_a_near_one(demo: Ugs) -> None:
    asked = demo("path", "alise", "bob")
    assert asked.value is None and "Did you mean alice?" in asked.err
    assert demo("path", "api_proj", "alice").err == ""


def test_the_flag_for_json_holds_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("ugs_gateway.cli.output.streams.say", said.append)
    monkeypatch.setattr("ugs_gateway.cli.output.streams.write_out", said.append)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    speech = Output.without_graph("agent")
    assert speech.failed(NodeExists("a"), 1) == 1
    assert [json.loads(text)["error"]["code"] for text in said] == ["E001"]
    assert json.loads(speech.help("hubs"))["topic"] == "hubs"
