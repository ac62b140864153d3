"""A glance answers what an open store answers, to the letter, and leaves everything doubtful to it."""

import asyncio
import fcntl
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.passing import GlimpsePort, at_once, edge_record, node_record
from gateway.cli.ports.local import LocalPort, records_of
from gateway.cli.quick import quick_answer
from tests.cli.conftest import Ugs
from ugs.api import Graph
from ugs.errors import UgsError
from ugs.glances import glance_at
from ugs.graph.glimpse import Glimpse
from ugs.graph.model import EDGES, NODES
from ugs.system import System

STORE = "file:./data"
WORDS = (["stats"], ["properties"], ["roots"], ["list", "a"], ["list", "*"], ["get", "n1"], ["get", "e1", "--all"])
VALUES = (1, 2.5, -0.0, 1e300, 2**63 - 1, None, True, "ü\u2028", "@(n2)", [1, {"z": 1, "a": []}], {"y": 1, "b": 2})


async def wander(graph: Graph, dice: random.Random) -> None:
    """Do something, whatever it is."""
    node, edge = f"n{dice.randrange(6)}", f"e{dice.randrange(6)}"
    properties = {dice.choice("pqrs"): dice.choice(VALUES) for _ in range(dice.randrange(3))}
    type = dice.choice(["a", "b", None])
    ends = dice.sample([f"n{number}" for number in range(6)], 2)
    deeds: list[Callable[[], Any]] = [
        lambda: graph.add_node(node, type, properties, data=dice.choice(VALUES)),
        lambda: graph.add_edge(edge, *ends, type, dice.choice([1, 2.5, 3.0, 2**60]), properties),
        lambda: graph.update(node, properties=properties, remove=["p"], type=type),
        lambda: graph.update(edge, properties=properties, weight=dice.choice([1, 0.5])),
        lambda: graph.delete(dice.choice([node, edge])),
        lambda: graph.set_edge_counter(dice.randrange(90)),
        lambda: graph.import_graph({"nodes": [{"id": "n9"}], "edges": []}, "replace"),
        graph.system.snapshot,
    ]
    with suppress(UgsError):  # refused: also something that happens
        await dice.choices(deeds, [9, 9, 5, 5, 3, 1, 2, 1])[0]()


@pytest.mark.parametrize("seed", range(8))
def test_a_glance_sees_what_an_open_store_sees(ugs: Ugs, seed: int) -> None:
    dice = random.Random(seed)

    async def live() -> tuple[list[Any], list[Any]]:
        async with System.at_url(STORE) as system:
            for _ in range(40):
                await wander(Graph(system), dice)
            async with system.session() as session:
                return records_of(await session.fetch(NODES)), records_of(await session.fetch(EDGES))

    nodes, edges = asyncio.run(live())
    seen = glance_at(STORE)
    assert seen is not None
    graph = Glimpse(seen)
    assert sorted(map(node_record, graph.nodes.values()), key=lambda row: row["id"]) == nodes
    assert sorted(map(edge_record, graph.edges.values()), key=lambda row: row["id"]) == edges
    for words in WORDS:
        for flag in ("--agent", "--human"):
            quick = quick_answer([*words, flag], {})
            assert quick is not None or words == ["list", "a"]
            assert quick is None or ugs(*words, flag).out == quick + "\n"


def test_the_voice_is_chosen_by_the_graph_too(demo: Ugs) -> None:
    human = quick_answer(["stats", "--human"], {})
    assert human is not None and human.startswith("📊")
    assert quick_answer(["stats"], {"UGS_ACTOR": "human"}) == human
    demo("add-node", "_system_config", "config", "default_actor=human")
    human = quick_answer(["stats", "--human"], {})
    assert quick_answer(["stats"], {}) == human == quick_answer(["stats"], {"UGS_ACTOR": "agent"})
    demo("add-node", "_user_prefs", "config", "actor=agent")
    assert quick_answer(["stats"], {"UGS_ACTOR": "human"}) == demo("stats", UGS_ACTOR="human").out.rstrip("\n")


def test_a_store_is_named_as_always(demo: Ugs, tmp_path: Path) -> None:
    answer = quick_answer(["stats"], {})
    assert answer == '{"nodes":8,"edges":7,"types":3,"properties":5}'
    here = f"file:{tmp_path}/data"
    for words, environ in (
        (["--store", STORE, "stats"], {}),
        (["stats", f"--store={here}"], {}),
        (["stats", "--data-dir", "data", "--agent"], {"UGS_STORE": "file:elsewhere"}),
        (["stats"], {"UGS_STORE": "memory:data", "UGS_TOKEN": "x", "HOME": "/"}),
    ):
        assert quick_answer(words, environ) == answer


@pytest.mark.parametrize(
    ("words", "environ"),
    [
        (["stats", "--at", "3"], {}),
        (["stats", "--url", "http://127.0.0.1:1/"], {}),
        (["stats", "--store", STORE, "--data-dir", "data"], {}),
        (["stats", "--store"], {}),
        (["stats", "--store", "file:./data?native=off"], {}),
        (["stats", "--store", "file:///data"], {}),
        (["stats", "--store", "sqlite:///x.db"], {}),
        (["stats", "--store", "nobody:here"], {}),
        (["stats", "--store", "data"], {}),
        (["stats", "too", "much"], {}),
        (["stats", "--help"], {}),
        (["--", "stats"], {}),
        (["get"], {}),
        (["list", "user:*"], {}),
        (["list", ""], {}),
        (["delete", "alice"], {}),
        ([], {}),
        (["stats"], {"UGS_URL": "http://127.0.0.1:1/"}),
        (["stats"], {"UGS_CONFIG": "other.toml"}),
        (["stats"], {"UGS_PORT": "9000"}),
        (["stats"], {"UGS_STORE": "file:./nowhere"}),
        (["stats"], {"UGS_STORE": ""}),
    ],
)
def test_whatever_is_not_plain_goes_the_ordinary_way(demo: Ugs, words: list[str], environ: dict[str, str]) -> None:
    assert quick_answer(words, environ) is None


def test_a_settings_file_goes_the_ordinary_way(demo: Ugs, tmp_path: Path) -> None:
    (tmp_path / "ugs.toml").write_text('store = "file:./data"\n')
    assert quick_answer(["stats"], {}) is None


def cut_off(folder: Path) -> None:
    log = folder / "events.wal"
    log.write_bytes(log.read_bytes()[:-5])


def incomplete_batch(folder: Path) -> None:
    log = folder / "events.wal"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))


def one_bit(folder: Path) -> None:
    log = folder / "events.wal"
    log.write_bytes(log.read_bytes().replace(b"Alice", b"Alicf", 1))


def two_lines_swapped(folder: Path) -> None:
    log = folder / "events.wal"
    first, second, *others = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([second, first, *others]))


def from_elsewhere(folder: Path) -> None:
    (folder / "events.wal").write_text('{"id":"x","timestamp":1,"type":"NodeAdded","data":{"id":"a"}}\n')


def repair_under_way(folder: Path) -> None:
    (folder / "events.wal.repair").write_bytes(b"0\n")


def no_log(folder: Path) -> None:
    (folder / "events.wal").unlink()


def foreign_snapshot(folder: Path) -> None:
    (folder / "snapshot.json").write_text('{"timestamp":1,"eventCount":0,"nodes":[],"edges":[],"stats":{}}')


def no_json(folder: Path) -> None:
    (folder / "snapshot.json").write_text("[" * 100_000)


def large(folder: Path) -> None:
    with (folder / "events.wal").open("ab") as log:
        log.truncate(3 << 20)


@pytest.mark.parametrize(
    "happen",
    [
        *(cut_off, incomplete_batch, one_bit, two_lines_swapped, from_elsewhere, repair_under_way, no_log),
        *(foreign_snapshot, no_json, large),
    ],
)
def test_a_doubtful_folder_goes_the_ordinary_way(demo: Ugs, tmp_path: Path, happen: Callable[[Path], None]) -> None:
    happen(tmp_path / "data")
    assert quick_answer(["stats"], {}) is None


@pytest.mark.parametrize(
    "damage", [(b'"alice"', b'"alicf"'), (b'"lastSeq":15', b'"lastSeq":14'), (b"sha256", b"sha255")]
)
def test_a_doubtful_snapshot_goes_the_ordinary_way(demo: Ugs, tmp_path: Path, damage: tuple[bytes, bytes]) -> None:
    demo("snapshot")
    demo("add-node", "later")
    assert quick_answer(["stats"], {}) == demo("stats").out.rstrip("\n")
    snapshot = tmp_path / "data" / "snapshot.json"
    assert damage[0] in snapshot.read_bytes()
    snapshot.write_bytes(snapshot.read_bytes().replace(*damage, 1))
    assert quick_answer(["stats"], {}) is None


def test_a_snapshot_of_another_log_goes_the_ordinary_way(demo: Ugs, tmp_path: Path) -> None:
    demo("snapshot")
    demo("load-demo", "--data-dir", "other")
    os.replace(tmp_path / "data" / "snapshot.json", tmp_path / "other" / "snapshot.json")
    assert quick_answer(["stats", "--data-dir", "other"], {}) is None


def test_events_of_other_features_go_the_ordinary_way(demo: Ugs, tmp_path: Path) -> None:
    program = '{"version":1,"statements":[{"op":"+","operation":{"type":"cypher","query":"MATCH (p) RETURN p"}}]}'
    assert demo("program", "save", "-", stdin=program).code == 0
    assert quick_answer(["stats"], {}) is None
    assert demo("stats").value["nodes"] == 8


def test_nobody_looks_while_somebody_may_write(demo: Ugs, tmp_path: Path) -> None:
    with (tmp_path / "data" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert quick_answer(["stats"], {}) is not None  # another one who only looks
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert quick_answer(["stats"], {}) is None


def test_a_question_that_would_wait_is_not_answered_at_once() -> None:
    async def waits() -> Any:
        await asyncio.sleep(1)

    with pytest.raises((ValueError, RuntimeError)):
        at_once(waits())


def test_the_port_of_a_glance_answers_like_the_port_of_a_store() -> None:
    methods = {name for name in vars(GlimpsePort) if not name.startswith("_")}
    assert methods <= set(dir(LocalPort))


HEAVY = (
    *("json", "re", "enum", "typing", "collections", "functools", "contextlib", "dataclasses", "inspect", "pathlib"),
    *("asyncio", "logging", "ssl", "socket", "importlib.metadata", "argparse", "datetime", "hashlib"),
    *("msgspec", "orjson", "rich", "sqlalchemy", "neo4j", "strawberry", "starlette", "numpy"),
    *("ugs.errors", "ugs.values", "ugs.features", "ugs.storage", "gateway.settings", "gateway.cli.main"),
)


def test_counting_loads_next_to_nothing(demo: Ugs) -> None:
    script = (
        "import sys; before = set(sys.modules); heavy = sys.argv[1:]; sys.argv = ['ugs', 'stats'];"
        "from gateway.cli.entry import main; code = main();"
        "print([name for name in heavy if name in set(sys.modules) - before], file=sys.stderr); sys.exit(code)"
    )
    words = [sys.executable, "-c", script, *HEAVY]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("UGS_")}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environ)
    assert done.stderr == "[]\n"
    assert done.stdout == '{"nodes":8,"edges":7,"types":3,"properties":5}\n'
