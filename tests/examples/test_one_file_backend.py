"""examples/one_file_backend.py: found by its URL, right by the kit, and careful with the disk."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.examples.conftest import EXAMPLES, Run
from ugs.errors import StorageIOError, StoreLocked
from ugs.graph.api import Graph
from ugs.system import System


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("one_file_backend", EXAMPLES / "one_file_backend.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_kit_finds_nothing_wrong(run: Run) -> None:
    few = ["--histories", "10", "--examples", "10"]
    done = run(
        "pytest", "--pyargs", "ugs_conformance", "--backend", "dbm:{tmp}/kit", "-q", "-p", "no:cacheprovider", *few
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def test_a_conftest_may_say_where_stores_come_from(run: Run, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((EXAMPLES / "conftest_example.py").read_text())
    done = run("pytest", "--pyargs", "ugs_conformance.test_graph", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def test_every_command_works_on_it_by_its_url(run: Run) -> None:
    run("ugs", "load-demo", "--store", "dbm:graph")
    assert run("ugs", "stats", "--store", "dbm:graph").stdout == '{"nodes":8,"edges":7,"types":3,"properties":5}\n'
    assert json.loads(run("ugs", "verify", "--store", "dbm:graph").stdout)["ok"] is True
    copied = json.loads(run("ugs", "copy", "dbm:graph", "sqlite:///copy.db").stdout)
    assert copied["events"] == 15


async def test_what_was_stored_is_there_after_a_restart(example: ModuleType, tmp_path: Path) -> None:
    async with System(example.open_dbm(f"dbm:{tmp_path}/g")) as system:
        await Graph(system).load_demo()
        before = await system.digest()
    async with System(example.open_dbm(f"dbm:{tmp_path}/g")) as system:
        assert await system.digest() == before
        assert (await system.verify()).ok


async def test_a_commit_that_was_cut_short_is_done_when_the_file_is_opened(
    example: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a process that ends between writing down what it will do and doing it
    storage = example.open_dbm(f"dbm:{tmp_path}/g")
    async with System(storage) as system:
        await Graph(system).add_node("before")
        monkeypatch.setattr(storage, "_do", lambda changed: None)
        await Graph(system).add_node("after")
    # when it is opened again
    async with System(example.open_dbm(f"dbm:{tmp_path}/g")) as system:
        # then both nodes are there, and the log agrees
        assert [node.id for node in await Graph(system).list_nodes()] == ["after", "before"]
        assert (await system.verify()).ok


async def test_a_second_process_is_refused(example: ModuleType, tmp_path: Path) -> None:
    async with System(example.open_dbm(f"dbm:{tmp_path}/g")):
        with pytest.raises(StoreLocked):
            await System(example.open_dbm(f"dbm:{tmp_path}/g")).open()


@pytest.mark.parametrize("damage", [b"{", b"(((", b"'event/1', (0, 5)\n"])
async def test_a_damaged_file_is_told_in_words(example: ModuleType, tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "g.dir").write_bytes(damage)
    (tmp_path / "g.dat").write_bytes(b"xxxxx")
    with pytest.raises(StorageIOError, match="Cannot open"):
        await System(example.open_dbm(f"dbm:{tmp_path}/g")).open()


def test_the_page_shows_the_entry_point_that_the_tests_install() -> None:
    from tests.examples.conftest import ENTRY_POINTS

    page = (EXAMPLES.parent / "docs" / "writing-a-backend.md").read_text()
    assert 'dbm = "one_file_backend:open_dbm"' in page
    assert "one_file_backend:open_dbm" in ENTRY_POINTS
