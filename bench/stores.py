"""The stores that are compared: where each keeps the graph of a size, and how it gets there.

Data that outlives a run (files, SQLite) is kept in `build/bench/data`; a test server starts empty, so it is loaded
anew. Loading is replay in bulk, which is measured on the way; one that was broken off goes on where it stopped.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct

from bench import data
from bench.contenders import Side
from bench.sampler import Tell
from tests.servers import url_of
from tests.servers.state import find_shared
from ugs.connect import storage_for
from ugs.events import Head
from ugs.feature_registry import CATALOG
from ugs.log.replay import replay_into
from ugs.storage import Storage

FORMAT = 1


class Store(Struct, frozen=True):
    """One of our stores."""

    name: str
    url: Callable[[Path, int], str]
    """Where the graph of a size lives."""
    rivals: Callable[[str, int], Awaitable[list[Side]]]
    """Who does the same work without us, given our URL and the size."""
    server: str | None = None
    largest: int = 1_000_000
    """The size beyond which it is left out, unless sizes are named."""
    largest_quick: int = 100_000
    """The same for a quick run."""
    scratch: Callable[[Path, int], str] | None = None
    """Makes a copy to write into; without it the data itself is written to, at the end."""

    def process_ids(self) -> tuple[int, ...]:
        """The server's process, where it is one of ours."""
        shared = find_shared(self.server) if self.server else None
        pid = shared.server.pid if shared else None
        return () if pid is None else (pid,)


class Load(Struct, frozen=True):
    """How a store got its data."""

    events: int
    seconds: float
    crc: str

    @property
    def rate(self) -> float:
        return self.events / self.seconds


NOTHING = Load(0, 0.0, "")


class Loads:
    """What was loaded when, kept beside the data."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / f"loads-v{FORMAT}.json"
        self._known: dict[str, Load] = {}
        if self._file.exists():
            self._known = msgspec.json.decode(self._file.read_bytes(), type=dict[str, Load])

    def find(self, store: str, size: int) -> Load | None:
        return self._known.get(f"{store}-{size}")

    def keep(self, store: str, size: int, load: Load) -> None:
        self._known[f"{store}-{size}"] = load
        self._file.write_bytes(msgspec.json.encode(self._known))


async def ensure_loaded(store: Store, url: str, size: int, loads: Loads, tell: Tell) -> Load:
    """Bring the graph to where the URL leads, unless it is there already."""
    known, storage = loads.find(store.name, size) or NOTHING, storage_for(url)
    await storage.open(CATALOG)
    try:
        async with storage.session() as session:
            head = await session.head()
        if (head.position, head.crc) != (known.events, known.crc):
            known = Load(head.position, known.seconds, head.crc) if _is_ours(size, head) else NOTHING
        if known.events == data.event_count(size):
            return known
        if head.position and known is NOTHING:
            await storage.wipe()

        def done(load: Load) -> None:
            loads.keep(store.name, size, load)
            tell(f"loading {store.name} {size:,}: {load.events:,} events")

        return await load_events(storage, size, done, before=known)
    finally:
        await storage.close()


def _is_ours(size: int, head: Head) -> bool:
    """Whether a log is the beginning of the graph's."""
    last = next(islice(data.events(size), head.position - 1, None), None) if head.position else None
    return last is not None and last.crc == head.crc


async def load_events(
    storage: Storage,
    size: int,
    tell: Callable[[Load], None] = lambda done: None,
    with_edges: bool = True,
    before: Load = NOTHING,
) -> Load:
    """Replay the graph's log into a store, behind what is there; the time of inventing the events is not counted."""
    done, seconds, crc = before.events, before.seconds, before.crc
    for chunk in data.chunks(islice(data.events(size, with_edges), done, None)):
        start = time.perf_counter()
        async with storage.session(write=True) as session:
            await replay_into(session, CATALOG, chunk)
        seconds += time.perf_counter() - start
        done += len(chunk)
        crc = chunk[-1].crc or ""
        tell(Load(done, seconds, crc))
    if "snapshot" in storage.capabilities.native:
        await storage.snapshot()
    return Load(done, seconds, crc)


# ── where they live ──────────────────────────────────────────────────────────


def files_folder(folder: Path, size: int) -> Path:
    return folder / f"files-{size}"


def file_url(folder: Path, size: int) -> str:
    return f"file:{files_folder(folder, size)}?snapshot_every=0"


def scratch_files(folder: Path, size: int) -> str:
    copy = folder / "scratch-files"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(files_folder(folder, size), copy, ignore=shutil.ignore_patterns("*lock*"))
    return f"file:{copy}"


def sqlite_file(folder: Path, size: int) -> Path:
    return folder / f"sqlite-{size}.db"


def sqlite_url(folder: Path, size: int) -> str:
    return f"sqlite:///{sqlite_file(folder, size).absolute()}"


def scratch_sqlite(folder: Path, size: int) -> str:
    copy = folder / "scratch.db"
    for leftover in folder.glob("scratch.db*"):
        leftover.unlink()
    shutil.copy(sqlite_file(folder, size), copy)
    return f"sqlite:///{copy.absolute()}"


def postgresql_url(folder: Path, size: int) -> str:
    return f"{url_of('postgresql').partition('?')[0]}?schema=bench_{size}"


def neo4j_url(folder: Path, size: int) -> str:
    return f"{url_of('neo4j').partition('?')[0]}?namespace=bench{size}&deadline=600"


# ── who they are compared with ───────────────────────────────────────────────


async def python_structures(url: str, size: int) -> list[Side]:
    from bench.contenders.by_hand import LookUps
    from bench.contenders.networkx_contender import NetworkX
    from bench.contenders.rustworkx_contender import RustworkX

    look_ups = LookUps(data.nodes(size))
    return [NetworkX(size, look_ups), RustworkX(size, look_ups)]


async def raw_sqlite(url: str, size: int) -> list[Side]:
    from bench.contenders.aiosqlite_contender import open_aiosqlite

    return [await open_aiosqlite(url)]


async def raw_postgresql(url: str, size: int) -> list[Side]:
    from bench.contenders.asyncpg_contender import open_asyncpg

    return [await open_asyncpg(url)]


async def raw_neo4j(url: str, size: int) -> list[Side]:
    from bench.contenders.neo4j_contender import open_neo4j

    return [await open_neo4j(url)]


STORES = {
    store.name: store
    for store in (
        Store("memory", file_url, python_structures, scratch=scratch_files),
        Store("sqlite", sqlite_url, raw_sqlite, scratch=scratch_sqlite),
        Store("postgresql", postgresql_url, raw_postgresql, server="postgresql"),
        Store("neo4j", neo4j_url, raw_neo4j, server="neo4j", largest=100_000, largest_quick=10_000),
    )
}
