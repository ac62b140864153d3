"""The command line: quick to start, clear about itself, JSON for programs, sentences for people."""

import asyncio
import io
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs.facts.api import Facts
from ugs.system import System
from ugs_gateway.cli.command_table import COMMANDS
from ugs_gateway.cli.main import main
from ugs_gateway.cli.output.exit_codes import EXIT_CODES
from ugs_gateway.cli.output.progress import Progress

HEAVY = ("strawberry", "sqlalchemy", "starlette", "uvicorn", "neo4j", "graphql", "ugs.system")


def test_help_lists_every_command_and_loads_nothing_heavy() -> None:
    script = (
        "import sys; from ugs_gateway.cli.main import main; main(['--help']);"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert all(f"  {entry.name} " in done.stdout for entry in COMMANDS)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("name", [entry.name for entry in COMMANDS])
def test_every_command_explains_itself_with_examples_and_exit_codes(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"  ugs {name}" in shown
    assert EXIT_CODES in shown


def test_an_unknown_command_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stat"]) == 2
    told = capsys.readouterr()
    assert "Did you mean stats?" in told.err
    assert json.loads(told.out)["error"]["code"] == "E005"


def test_the_store_may_come_from_the_environment_or_a_file(ugs: Ugs, tmp_path: Path) -> None:
    told = json.loads(ugs("info", UGS_STORE="sqlite:///a.db").out)
    assert told["settings"]["store"] == {"value": "sqlite:///a.db", "origin": "environment UGS_STORE"}
    (tmp_path / "ugs.toml").write_text('store = "memory:"')
    told = json.loads(ugs("info").out)
    assert told["settings"]["store"] == {"value": "memory:", "origin": "file ugs.toml"}


def test_info_shows_no_password(ugs: Ugs) -> None:
    done = ugs("info", "--store", "postgresql://me:s3cret@localhost/graph")
    assert done.code == 0
    assert "s3cret" not in done.out + done.err


def test_a_life_on_the_command_line(ugs: Ugs) -> None:
    store = ["--store", "file:./data"]
    assert ugs("load-demo", *store).out == '{"nodes":8,"edges":7,"events":15}\n'
    assert ugs("stats", *store).out == '{"nodes":8,"edges":7,"types":3,"properties":5}\n'
    assert ugs("stats", *store, "--at", "3").out.startswith('{"nodes":3,"edges":0')
    assert json.loads(ugs("snapshot", *store).out)["events"] == 15
    verified = json.loads(ugs("verify", *store).out)
    assert verified["ok"] is True
    assert json.loads(ugs("rebuild", *store).out) == {"events": 15, "digest": verified["stored"]}


def test_rebuild_makes_the_versions_of_rows(ugs: Ugs) -> None:
    ugs("load-demo", "--store", "sqlite:///a.db")
    made = ugs("rebuild", "--history", "--store", "sqlite:///a.db")
    assert made.code == 0 and json.loads(made.out)["events"] == 15 and "replaying: 15 of 15 events" in made.err
    doctor = json.loads(ugs("doctor", "--store", "sqlite:///a.db").out)
    assert {"check": "history", "ok": True, "found": "versions of rows answer for the past up to event 15"} in doctor[
        "checks"
    ]
    assert json.loads(ugs("verify", "--store", "sqlite:///a.db").out)["ok"] is True
    for store in ("file:d", "sqlite:///b.db?history=off"):
        ugs("load-demo", "--store", store)
        refused = ugs("rebuild", "--history", "--store", store)
        assert refused.code == 2 and json.loads(refused.out)["error"]["code"] == "E005", refused


def test_a_refusal_is_a_sentence_and_a_json_value(ugs: Ugs) -> None:
    ugs("load-demo", "--store", "file:d")
    again = ugs("load-demo", "--store", "file:d")
    assert again.code == 1
    assert json.loads(again.out)["error"]["code"] == "E001"
    assert again.err.startswith("ugs: E001 NodeExists: ")
    assert json.loads(ugs("load-demo", "--store", "file:d", "--force").out)["events"] == 0


def test_a_copy_is_proven_goes_on_where_it_stopped_and_refuses_another_history(ugs: Ugs) -> None:
    ugs("load-demo", "--store", "file:a")
    first = ugs("copy", "file:a", "sqlite:///b.db")
    assert first.code == 0
    assert "copying: 15 of 15 events" in first.err
    told = json.loads(first.out)
    assert (told["events"], told["copied"]) == (15, 15)
    assert told["digest"] == json.loads(ugs("verify", "--store", "sqlite:///b.db").out)["stored"]

    again = ugs("copy", "file:a", "sqlite:///b.db")
    assert json.loads(again.out)["copied"] == 0
    assert "going on after event 15" in again.err

    ugs("load-demo", "--store", "file:other")
    foreign = ugs("copy", "file:other", "sqlite:///b.db")
    assert foreign.code == 1
    assert json.loads(foreign.out)["error"]["code"] == "DIGEST_MISMATCH"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_bar_on_a_terminal() -> None:
    out = Terminal()
    progress = Progress("copying", out)
    progress(5, 10)
    progress(10, 10)
    progress.end()
    assert out.getvalue().endswith("\rcopying " + "█" * 30 + " 10 of 10 events \n")


def test_progress_is_plain_lines_elsewhere() -> None:
    out = io.StringIO()
    progress = Progress("copying", out)
    for done in range(1, 101):
        progress(done, 100)
    progress.end()
    assert out.getvalue().splitlines()[-1] == "copying: 100 of 100 events"
    assert "\r" not in out.getvalue()


def test_the_doctor_finds_and_repairs_what_differs_from_the_log(ugs: Ugs) -> None:
    store = ["--store", "sqlite:///g.db"]
    ugs("load-demo", *store)
    assert ugs("doctor", *store).value["healthy"] is True
    with closing(sqlite3.connect("g.db")) as database:
        database.execute("UPDATE nodes SET type = 'robot' WHERE id = 'alice'")
        database.commit()
    sick = ugs("doctor", *store)
    assert (sick.code, sick.value["checks"][-1]["found"]) == (1, "the state differs from what 15 events say")
    assert ugs("verify", *store).code == 1
    healed = ugs("doctor", "--repair", *store)
    assert (healed.code, healed.value["healthy"]) == (0, True)
    assert ugs("get", "alice", *store).value["type"] == "person"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3/cret@localhost:1/db",
        "postgresql://me:s3 cret@localhost:1/db",
        "postgresql://me:s3]cret@localhost:1/db",
        "neo4j://me:s3/cret@localhost:1",
        "neo4j://me:s3]c#ret@localhost:1",
        "sqlite://me:s3 cret@localhost",
        "file://me:s3/cr et@localhost",
        "me:s3/cret@localhost",
    ],
)
def test_no_command_shows_the_password_of_a_store(ugs: Ugs, url: str) -> None:
    for words in (["doctor"], ["info"], ["config", "show"], ["stats"], ["doctor", "--human"]):
        ran = ugs(*words, "--store", url)
        told = (ran.out + ran.err).replace("s3cret", "")
        assert "s3" not in told, words
        assert "ret@" not in told, words
        assert "INTERNAL" not in told, words


def test_the_doctor_says_where_a_log_is_damaged(ugs: Ugs) -> None:
    ugs("load-demo")
    log = Path("data/events.wal")
    log.write_bytes(log.read_bytes().replace(b'"bob"', b'"bot"', 1))
    sick = ugs("doctor", "--repair")
    assert sick.code == 1
    assert "E009" in sick.value["checks"][0]["found"]


def test_settings_are_shown_with_their_origin(ugs: Ugs) -> None:
    assert ugs("config", "show").value["port"] == {"value": 8000, "origin": "built in"}
    for words in (["config", "show"], ["config", "show", "--origin"]):
        told = ugs(*words, UGS_PORT="9000").value
        assert told["port"] == {"value": 9000, "origin": "environment UGS_PORT"}
        assert "built in" in ugs(*words, "--human").out
    assert ugs("config", "hide").code == 2


def test_plugins_are_listed(ugs: Ugs) -> None:
    assert {row["name"] for row in ugs("plugins").value if row["group"] == "ugs.actors"} >= {"task", "knowledge"}
    assert {"group": "ugs.backends", "name": "sqlite"}.items() <= next(
        row for row in ugs("plugins").value if row["name"] == "sqlite"
    ).items()


def test_a_shell_is_told_what_may_come_next(ugs: Ugs) -> None:
    assert ugs("complete", "--", "get", "a").out == ""
    assert not Path("data").exists()
    ugs("load-demo")
    assert ugs("complete", "--", "get", "al").out == "alice\n"
    assert ugs("complete", "--", "--human", "list", "pr").out == "project\n"
    assert ugs("complete", "--", "stats", "--st").out == "--store\n"
    assert ugs("complete", "--", "add-n").out == "add-node\n"
    assert ugs("complete", "--", "--store").out == "--store\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_good_for_their_shell(ugs: Ugs, shell: str) -> None:
    script = ugs("completion", shell).out
    assert "ugs complete --" in script
    if shutil.which(shell):
        Path("script").write_text(script)
        subprocess.run([shell, "-n", "script"], check=True)


ZSH = 'path=($PWD $path); compdef() { : }; compadd() { shift 3; print -rl -- "$@" }; words=(ugs get al); CURRENT=3;'


@pytest.mark.parametrize(
    ("shell", "options", "ask"),
    [
        (
            "bash",
            [],
            'PATH="$PWD:$PATH"; . ./_ugs; COMP_WORDS=(ugs get al); COMP_CWORD=2; _ugs; echo "${COMPREPLY[@]}"',
        ),
        ("zsh", ["-f"], f"{ZSH} source ./_ugs; _ugs"),
        ("zsh", ["-f"], f"{ZSH} fpath=($PWD $fpath); autoload -U _ugs; _ugs"),
        ("fish", ["--no-config"], 'set PATH $PWD $PATH; source _ugs; complete -C "ugs get al"'),
    ],
)
def test_a_shell_completes_with_its_script(ugs: Ugs, shell: str, options: list[str], ask: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    Path("ugs").write_text('#!/bin/sh\nshift 2\n[ "$*" = "get al" ] && printf "alice\\nalbert\\n"\n')
    Path("ugs").chmod(0o755)
    Path("_ugs").write_text(ugs("completion", shell).out)
    done = subprocess.run([shell, *options, "-c", ask], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == ["albert", "alice"]


def test_what_is_believed_about_a_subject(ugs: Ugs) -> None:
    async def learn() -> None:
        async with System.at_url("file:./data") as system:
            facts = Facts(system)
            note = await facts.add_note("she said so")
            await facts.add_fact(
                "Alice",
                "lives in",
                value="Bern",
                notes=[note.note_id],
                valid_from="2020-01-01T00:00:00Z",
                valid_to="2021-01-01T00:00:00Z",
            )
            await facts.add_fact(
                "Alice", "knows", object="Bob", notes=[note.note_id], valid_from="2020-06-01T00:00:00Z"
            )

    asyncio.run(learn())
    assert [(fact["predicate"], fact["object"]) for fact in ugs("facts", "Alice").value] == [("knows", "Bob")]
    then = ugs("facts", "Alice", "--as-of", "2020-03-01T00:00:00Z").value
    assert [(fact["object"], fact["valid_to"]) for fact in then] == [("Bern", "2021-01-01T00:00:00Z")]
    assert len(ugs("facts", "alice", "--all").value) == 2
    assert ugs("facts", "Alice", "--as-of", "yesterday").value["error"]["code"] == "E005"
    assert ugs("facts", "Nobody").code == 1


def test_a_mistake_of_ours_is_told_and_where_it_is_only_to_those_who_want_it(
    ugs: Ugs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(options: object) -> int:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("ugs_gateway.cli.commands.plugins.run", broken)
    monkeypatch.setattr("ugs_gateway.cli.commands.health.run", broken)
    hidden = ugs("plugins")
    assert (hidden.code, hidden.value["error"]["code"]) == (70, "INTERNAL")
    assert "Traceback" not in hidden.err
    assert "Traceback" in ugs("health").err


def test_the_page_tells_every_command_as_it_is() -> None:
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text("utf-8")
    for entry in COMMANDS:
        assert f"| `{entry.usage}` |" in page if entry.is_operation else f"`{entry.name}" in page
    for line in EXIT_CODES.splitlines()[1:]:
        code, _, meaning = line.strip().partition(" ")
        assert f"| {code} | {meaning.strip()} |" in page
