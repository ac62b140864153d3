"""The command line called as a person would call it, in this process, because starting one costs a second."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ugs_gateway.cli.main import main


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The one JSON value of agent mode."""
        assert self.out.count("\n") == 1, self
        return json.loads(self.out)


Ugs = Callable[..., Ran]


@pytest.fixture
def ugs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ugs:
    """Runs `ugs` with words in an empty folder; `stdin` is what it reads, other names are its environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("UGS_ACTOR", "UGS_STORE", "UGS_URL", "UGS_TOKEN", "UGS_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str, stdin: str = "", **environ: str) -> Ran:
        with monkeypatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            capsys.readouterr()
            code = main(words)
            told = capsys.readouterr()
        return Ran(code, told.out, told.err)

    return run


@pytest.fixture
def demo(ugs: Ugs) -> Ugs:
    """The same on the demonstration graph."""
    assert ugs("load-demo").code == 0
    return ugs
