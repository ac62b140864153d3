"""How little a command loads before it answers."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.main import main


def test_a_question_loads_only_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["load-demo"]) == 0
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
