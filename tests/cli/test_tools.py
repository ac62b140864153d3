"""The command line: quick to start, clear about itself, JSON for programs, sentences for people."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.commands import COMMANDS
from gateway.cli.exits import EXIT_CODES
from gateway.cli.main import main
from gateway.cli.progress import Progress
from tests.cli.conftest import Ugs

HEAVY = ("strawberry", "sqlalchemy", "starlette", "uvicorn", "neo4j", "graphql", "ugs.system")


def test_help_lists_every_command_and_loads_nothing_heavy() -> None:
    script = (
        "import sys; from gateway.cli.main import main; main(['--help']);"
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
