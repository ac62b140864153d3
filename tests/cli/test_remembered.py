"""Answers that cannot have changed are given at once, and no others."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.cli import entry
from gateway.cli.remembered import memory_for
from tests.cli.conftest import Ran

Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the program from its very beginning, with an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("UGS_ACTOR", "UGS_STORE", "UGS_URL", "UGS_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["ugs", *words])
        code = entry.main()
        return Ran(code, *capfd.readouterr())

    return run


def forbid_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*rest: object) -> int:
        raise AssertionError("the whole program was started")

    monkeypatch.setattr("gateway.cli.main.main", fail)


def test_the_same_question_is_answered_without_opening_the_store(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("load-demo")
    first = run("stats").out
    listed = run("list", "person", "--store", "file:./data").out
    forbid_opening(monkeypatch)
    assert run("stats") == Ran(0, first, "")
    assert run("list", "person", "--store", "file:./data").out == listed
    with pytest.raises(AssertionError, match="whole program"):
        run("hubs")


def test_a_log_that_has_grown_is_asked_anew(run: Run) -> None:
    run("load-demo")
    assert run("stats").value["nodes"] == 8
    run("add-node", "new")
    assert run("stats").value["nodes"] == 9
    run("delete", "new")
    assert run("stats").value["nodes"] == 8


def test_another_voice_or_another_place_is_another_question(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("load-demo")
    agent = run("stats").out
    assert run("stats", "--human").out != agent
    assert run("stats", "--store", "file:other").value["nodes"] == 0
    monkeypatch.setenv("UGS_ACTOR", "human")
    assert run("stats").out.startswith("📊")
    assert run("stats").out.startswith("📊")
    Path("ugs.toml").write_text('store = "memory:"')
    assert run("stats", "--agent").value["nodes"] == 0


@pytest.mark.parametrize(
    "words",
    ["add-node a", "cypher x", "facts x", "watch", "verify", "stats --url http://x", "stats --config c", "get -- a", "help stats", "add-node stats", "--store file:x add-node stats", "delete get",
     "stats --store sqlite:///x", "stats --store memory:", "stats --store file:x?fsync=off", "", "stats --human"],
)  # fmt: skip
def test_what_is_no_plain_question_is_not_remembered(words: str) -> None:
    assert memory_for(words.split(), {}) is None


def test_options_may_stand_before_the_question() -> None:
    assert memory_for(["--agent", "--store", "file:x", "--at=3", "stats"], {}) is not None
    assert memory_for(["--store"], {}) is None


def test_refusals_and_long_answers_are_not_remembered(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add-node", "long", "t", f"text={'x' * 70_000}")
    run("get", "long")
    run("traverse", "nobody")
    forbid_opening(monkeypatch)
    for words in (["get", "long"], ["traverse", "nobody"]):
        with pytest.raises(AssertionError, match="whole program"):
            run(*words)


def test_a_broken_cache_costs_nothing(run: Run, tmp_path: Path) -> None:
    run("load-demo")
    run("stats")
    for kept in (tmp_path / "cache" / "ugs").iterdir():
        kept.write_bytes(b"rubbish")
    assert run("stats").value["nodes"] == 8
    (tmp_path / "file").write_text("")
    assert memory_for(["stats"], {"XDG_CACHE_HOME": str(tmp_path / "file")}).keep("x") is None  # type: ignore[union-attr, func-returns-value]


def test_a_remembered_answer_loads_nearly_nothing(run: Run) -> None:
    run("load-demo")
    run("stats")
    script = "import sys; from gateway.cli.entry import main; sys.argv = ['ugs', 'stats']; main(); print(len(sys.modules), file=sys.stderr)"
    alone = subprocess.run(
        [sys.executable, "-c", "import sys; print(len(sys.modules))"], capture_output=True, text=True, check=True
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["nodes"] == 8
    assert int(done.stderr) - int(alone.stdout) < 12


def test_a_question_asked_anew_loads_only_what_it_needs(run: Run) -> None:
    run("load-demo")
    script = (
        "import sys; from gateway.cli.main import main; main(['stats']);"
        "print([name for name in sys.argv[1:] if name in sys.modules], file=sys.stderr)"
    )
    heavy = [
        "ugs.cypher.answering",
        "rich",
        "prompt_toolkit",
        "strawberry",
        "starlette",
        "sqlalchemy",
        "neo4j",
        "numpy",
        "argparse",
    ]
    done = subprocess.run([sys.executable, "-c", script, *heavy], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
