"""Scripts and lines inside: one command a line, errors name theirs, flags and bare JSON work, `exit` ends it."""

import json

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs_gateway.cli.input.tokenizer import split_line


def told(out: str) -> list[object]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize(
    "open_end", ['name="Alice', "name='x", 'tags:=["a",', "--data {", "name=x\\", 'tags:={"a": "b']
)
def test_an_open_end_swallows_nothing_and_the_error_names_its_line(open_end: str, demo: Ugs) -> None:
    script = f"# a comment\nadd-node before\n\nadd-node broken {open_end}\nadd-node after\nstats\n"
    done = demo(stdin=script)
    answers = told(done.out)
    assert len(answers) == 4
    assert answers[1]["error"]["line"] == 4 and answers[1]["error"]["code"] == "E005"  # type: ignore[index]
    assert "ugs: line 4: E005" in done.err and done.code == 2
    assert answers[2]["id"] == "after" and answers[3]["nodes"] == 10  # type: ignore[index]


def test_every_error_of_a_script_names_its_line(demo: Ugs) -> None:
    done = demo(stdin="stats\ndelete nobody\nbogus\n")
    assert [answer.get("error", {}).get("line") for answer in told(done.out)] == [None, 2, 3]  # type: ignore[attr-defined]
    assert done.code == 1
    assert "line 2: NodeNotFound" in demo("--human", stdin="stats\ndelete nobody\n").err
    assert "line" not in demo("delete", "nobody").value["error"]


def test_flags_work_on_lines_inside(demo: Ugs) -> None:
    done = demo(
        stdin="stats --at 3\nstats --human\n--human get alice\nstats\nget alice --at 2 --agent\nhistory --at 1\n"
    )
    assert done.out.startswith('{"nodes":3,')
    assert "📊 Graph Statistics" in done.out and "🔵 alice (person)" in done.out
    assert '\n{"nodes":8,' in done.out and '\n{"id":"alice"' in done.out
    assert "--at means nothing to history" in done.err
    assert "belongs where ugs is started" in demo(stdin="stats --store memory:").err


def test_a_stored_wish_for_a_voice_holds_from_the_next_line_on(ugs: Ugs) -> None:
    done = ugs(stdin="add-node _user_prefs prefs actor=human\nstats\nstats --agent\nstats\n")
    assert done.out.startswith('{"id":"_user_prefs"') and done.out.count("📊") == 2
    assert '\n{"nodes":1' in done.out


@pytest.mark.parametrize("word", ["exit", "quit"])
def test_exit_quit_and_help_are_commands_everywhere(word: str, ugs: Ugs) -> None:
    assert (ugs(word).code, ugs(word).out) == (0, "")
    assert f"usage: ugs {word}" in ugs("help", word, "--human").out
    assert f"usage: ugs {word}" in ugs(word, "--help").out
    assert word in ugs("help").value["commands"] and "help" in ugs("help").value["commands"]
    assert f"  {word} " in ugs("help", "--human").out
    done = ugs(stdin=f"add-node a\n  {word}  \nadd-node b\n")
    assert (done.code, len(told(done.out))) == (0, 1)
    inside = ugs(stdin=f"help {word}\n{word} --help\nhelp help\n{word} now\n")
    assert [("error" in answer) for answer in told(inside.out)] == [False, False, False, True]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('send a m {"x": "y z"}', ["send", "a", "m", '{"x": "y z"}']),
        ('add-node a --data {"k": [1, 2]} t', ["add-node", "a", "--data", '{"k": [1, 2]}', "t"]),
        ('add-node a --data=["x y"]', ["add-node", "a", '--data=["x y"]']),
        ('add-node a --data "x y"', ["add-node", "a", "--data", '"x y"']),
        ("""add-node a --data '{"a": 1}'""", ["add-node", "a", "--data", '{"a": 1}']),
        ('find-by-property tags ["a", "b"]', ["find-by-property", "tags", '["a", "b"]']),
        ('add-node a name="x y" k:={"a": "}"}', ["add-node", "a", "name=x y", 'k:={"a": "}"}']),
    ],
)
def test_json_stands_bare_wherever_it_is_taken(line: str, words: list[str]) -> None:
    assert split_line(line) == words


def test_bare_json_is_done(demo: Ugs) -> None:
    lines = ('add-node x t tags:=["a", "b"] --data {"k": "v w"}', 'find-by-property tags ["a", "b"]')
    done = demo(stdin="\n".join([*lines, 'send alice update {"properties": {"role": "chief of staff"}}', "get alice"]))
    answers = told(done.out)
    assert done.code == 0 and answers[0]["data"] == {"k": "v w"}  # type: ignore[index]
    assert [node["id"] for node in answers[1]] == ["x"]  # type: ignore[attr-defined]
    assert answers[3]["properties"]["role"] == "chief of staff"  # type: ignore[index]
