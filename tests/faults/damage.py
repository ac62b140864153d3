"""Damaged files and what a start makes of them.

A sample store is written once, with the digest of the state after every command. A damaged copy must open to exactly
one of these states, the one that the damage allows, or refuse with a code; anything else would be silently wrong.
"""

from __future__ import annotations

import asyncio
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from tests.faults.children import FORKS
from tests.faults.stores import with_options
from ugs.clock import FixedClock
from ugs.errors import UgsError
from ugs.graph.api import Graph
from ugs.graph.commands import AddEdge, AddNode, Delete, Update
from ugs.system import System

WAL, SNAPSHOT = "events.wal", "snapshot.json"
NOON = 1_769_020_454_093
PORTION = 200
MEMORY = Path("/dev/shm")
"""Where it exists, thousands of small files are written without waiting for a disk."""
KNOWN = ("E008", "E009")
Files = dict[str, bytes]


class Sample(Struct, frozen=True):
    """The files of a healthy store, and all states it went through."""

    files: Files
    ends: tuple[int, ...]
    """The size of the log after each command, in bytes, beginning with none."""
    digests: tuple[str, ...]
    """The state after each command, beginning with the empty one."""

    @property
    def wal(self) -> bytes:
        return self.files[WAL]

    @property
    def final(self) -> str:
        return self.digests[-1]

    def state_at(self, size: int) -> str:
        """The state when the log holds this many bytes; the last newline does not count."""
        return self.digests[bisect_right(self.ends, size + 1) - 1]


class Found(Struct, frozen=True):
    """What a start made of the files."""

    digest: str = ""
    code: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()
    position: int = 0

    @property
    def verdict(self) -> str:
        return self.code or "opened"


def url_of(folder: Path, **options: str | int) -> str:
    return with_options(f"file:{folder}", **{"snapshot_every": 0, "fsync": "off", **options})


async def make_sample(folder: Path, commands: int, snapshot_after: int | None = None, now: int = NOON) -> Sample:
    """Write a store with commands of every kind."""
    ends, digests = [], []
    async with System.at_url(url_of(folder), FixedClock(now)) as system:
        for number in range(commands + 1):
            if number:
                await do_something(Graph(system), number)
            if number == snapshot_after:
                await system.snapshot()
            ends.append((folder / WAL).stat().st_size if number else 0)
            digests.append(await system.digest())
    names = [WAL] if snapshot_after is None else [WAL, SNAPSHOT]
    return Sample({name: (folder / name).read_bytes() for name in names}, tuple(ends), tuple(digests))


async def do_something(graph: Graph, number: int) -> None:
    """A command, another kind each time: single events and batches, with retry keys and without."""
    before = f"n{number - number % 6}"
    match number % 6:
        case 0:
            await graph.add_node(f"n{number}", "kind", {"text": "ä", "n": number}, data=[1, None], key=f"k{number}")
        case 1:
            await graph.add_node(f"n{number}")
        case 2:
            leaf = AddNode(id="$leaf", type="leaf")
            await graph.batch([leaf, AddEdge(source="$leaf", target=f"n{number - 1}")], key=f"k{number}")
        case 3:
            await graph.add_edge(None, f"n{number - 2}", "nobody", weight=2.5)
        case 4:
            await graph.do(Update(id=f"n{number - 3}", properties={"seen": True}))
        case _ if number > 6:
            await graph.do(Delete(id=before if number % 12 == 5 else f"n{number - 4}"))
        case _:
            await graph.add_node(f"n{number}", properties={"@": "@(n1)"})


def lay(files: Files, folder: Path) -> Path:
    """A folder that holds exactly these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


async def start(folder: Path, **options: str | int) -> Found:
    """Open the folder and say what is there; only coded errors are expected."""
    system = System.at_url(url_of(folder, **options))
    try:
        await system.open()
    except UgsError as error:
        return Found(code=error.code, message=str(error), warnings=tuple(system.storage.warnings))
    except Exception as error:
        return Found(code="traceback", message=repr(error))
    try:
        async with system.session() as session:
            position = (await session.head()).position
        return Found(await system.digest(), warnings=tuple(system.storage.warnings), position=position)
    finally:
        await system.close()


Damage = tuple[str, Any]
"""The name of a damage and its parameter, small enough to be sent to another process."""


def damaged(files: Files, name: str, damage: Damage) -> Files:
    """The files with one of them cut at a byte, or with one bit turned round."""
    content = files[name]
    kind, place = damage
    if kind == "cut":
        return {**files, name: content[:place]}
    byte, bit = divmod(place, 8)
    turned = bytes([content[byte] ^ (1 << bit)])
    return {**files, name: content[:byte] + turned + content[byte + 1 :]}


def try_all(files: Files, name: str, damages: Sequence[Damage], folder: Path, workers: int = 2) -> list[Found]:
    """Start on every damaged copy, shared among processes in small portions, so that giving up is quick."""
    portions = [damages[start : start + PORTION] for start in range(0, len(damages), PORTION)]
    pool = ProcessPoolExecutor(workers, mp_context=FORKS)
    try:
        work = partial(_try_some, files, name, folder)
        return [found for portion in pool.map(work, portions) for found in portion]
    finally:
        pool.shutdown(cancel_futures=True)


def _try_some(files: Files, name: str, folder: Path, damages: Iterable[Damage]) -> list[Found]:
    async def run(own: Path) -> list[Found]:
        return [await start(lay(damaged(files, name, damage), own)) for damage in damages]

    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else folder) as own:
        return asyncio.run(run(Path(own) / "data"))


def silently_wrong(found: Sequence[Found], right: Callable[[int], str]) -> list[int]:
    """Which starts succeeded on a state that is not the right one."""
    return [index for index, each in enumerate(found) if not each.code and each.digest != right(index)]


def verdicts(found: Sequence[Found]) -> Counter[str]:
    return Counter(each.verdict for each in found)


def unknown(found: Sequence[Found]) -> list[Found]:
    """Starts that failed otherwise than by a corruption code."""
    return [each for each in found if each.code and each.code not in KNOWN]
