"""The code blocks that claim to run, run, and print what the page says."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, PROJECT, Block, blocks
from tests.gateway.processes import serving

BIN = Path(sys.executable).parent
PORT = re.compile(r"\b8000\b")

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


class Reader:
    """Somebody who follows a page from top to bottom in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = "8000"

    def follow(self, page: list[Block], servers: ExitStack) -> Iterator[tuple[str, str]]:
        """Do what the page says; gives what was printed beside what the page promises."""
        printed = ""
        for block in page:
            if block.role == "serve":
                options = block.text.split()[2:]
                gateway = servers.enter_context(serving(self.folder, *without_port(options)))
                self.port = gateway.url.rpartition(":")[2]
            elif block.role == "run":
                printed = self.run(block)
            elif block.role == "out":
                yield printed, block.text

    def run(self, block: Block) -> str:
        text = PORT.sub(self.port, block.text)
        command = ["bash", "-ec", text] if block.language == "sh" else [sys.executable, "-c", text]
        environ = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "no_proxy": "127.0.0.1"}
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def without_port(options: list[str]) -> list[str]:
    return [word for word in options if word not in ("--port", "8000")]


def agrees(printed: str, promised: str) -> bool:
    """Whether the output is what the page shows; `…` stands for anything."""
    pattern = re.escape(promised.strip()).replace("…", ".*")
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


RUNNING = [path for path in PAGES if any(block.role for block in blocks(path.read_text("utf-8")))]


@needs_curl
@pytest.mark.parametrize("path", RUNNING, ids=lambda path: path.name)
def test_what_a_page_claims_to_run_runs(path: Path, tmp_path: Path) -> None:
    with ExitStack() as servers:
        for printed, promised in Reader(tmp_path).follow(blocks(path.read_text("utf-8")), servers):
            assert agrees(printed, promised), f"{path.name} promises\n{promised}\nbut got\n{printed}"


@needs_curl
def test_the_first_query_of_the_readme_has_the_answer_it_shows(tmp_path: Path) -> None:
    page = blocks((PROJECT / "README.md").read_text("utf-8"))
    ask = next(block for block in page if "curl" in block.text)
    promised = next(block for block in page if block.language == "json")
    reader = Reader(tmp_path)
    reader.run(Block("sh", "run", "ugs load-demo"))
    with serving(tmp_path) as gateway:
        reader.port = gateway.url.rpartition(":")[2]
        assert agrees(reader.run(ask), promised.text)


def test_the_readme_names_targets_that_exist() -> None:
    targets = set(re.findall(r"^make (\w+)", (PROJECT / "README.md").read_text("utf-8"), re.MULTILINE))
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    assert targets
    assert {target for target in targets if f"\n{target}:" not in makefile} == set()
