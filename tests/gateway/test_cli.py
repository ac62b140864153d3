"""The command line: quick to start, clear about itself, JSON for programs, sentences for people."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.main import COMMANDS, EXIT_CODES, main
from gateway.cli.progress import Progress
from tests.gateway.processes import ugs

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
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"  ugs {name}" in shown
    assert EXIT_CODES in shown


def test_an_unknown_command_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stat"]) == 2
    assert "Did you mean stats?" in capsys.readouterr().err


def test_the_store_may_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    told = json.loads(ugs(tmp_path, "info", UGS_STORE="sqlite:///a.db").stdout)
    assert told["settings"]["store"] == {"value": "sqlite:///a.db", "origin": "environment UGS_STORE"}
    (tmp_path / "ugs.toml").write_text('store = "memory:"')
    told = json.loads(ugs(tmp_path, "info").stdout)
    assert told["settings"]["store"] == {"value": "memory:", "origin": "file ugs.toml"}


def test_info_shows_no_password(tmp_path: Path) -> None:
    done = ugs(tmp_path, "info", "--store", "postgresql://me:s3cret@localhost/graph")
    assert done.returncode == 0
    assert "s3cret" not in done.stdout + done.stderr


def test_a_life_on_the_command_line(tmp_path: Path) -> None:
    store = ["--store", "file:./data"]
    assert ugs(tmp_path, "load-demo", *store).stdout == '{"nodes":8,"edges":7,"events":15}\n'
    assert ugs(tmp_path, "stats", *store).stdout == '{"nodes":8,"edges":7,"types":3,"properties":5}\n'
    assert ugs(tmp_path, "stats", *store, "--at", "3").stdout.startswith('{"nodes":3,"edges":0')
    assert json.loads(ugs(tmp_path, "snapshot", *store).stdout)["events"] == 15
    verified = json.loads(ugs(tmp_path, "verify", *store).stdout)
    assert verified["ok"] is True
    assert json.loads(ugs(tmp_path, "rebuild", *store).stdout) == {"events": 15, "digest": verified["stored"]}


def test_a_refusal_is_a_sentence_and_a_json_value(tmp_path: Path) -> None:
    ugs(tmp_path, "load-demo", "--store", "file:d")
    again = ugs(tmp_path, "load-demo", "--store", "file:d")
    assert again.returncode == 1
    assert json.loads(again.stdout)["error"]["code"] == "E001"
    assert again.stderr.startswith("ugs: E001 NodeExists: ")
    assert json.loads(ugs(tmp_path, "load-demo", "--store", "file:d", "--force").stdout)["events"] == 0


def test_a_copy_is_proven_goes_on_where_it_stopped_and_refuses_another_history(tmp_path: Path) -> None:
    ugs(tmp_path, "load-demo", "--store", "file:a")
    first = ugs(tmp_path, "copy", "file:a", "sqlite:///b.db")
    assert first.returncode == 0
    assert "copying: 15 of 15 events" in first.stderr
    told = json.loads(first.stdout)
    assert (told["events"], told["copied"]) == (15, 15)
    assert told["digest"] == json.loads(ugs(tmp_path, "verify", "--store", "sqlite:///b.db").stdout)["stored"]

    again = ugs(tmp_path, "copy", "file:a", "sqlite:///b.db")
    assert json.loads(again.stdout)["copied"] == 0
    assert "going on after event 15" in again.stderr

    ugs(tmp_path, "load-demo", "--store", "file:other")
    foreign = ugs(tmp_path, "copy", "file:other", "sqlite:///b.db")
    assert foreign.returncode == 1
    assert json.loads(foreign.stdout)["error"]["code"] == "DIGEST_MISMATCH"


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
