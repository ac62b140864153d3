"""The memory store opened again, from its log and from its snapshot, and how much memory it then takes."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.child import Seen
from bench.sampler import Tell
from bench.stores import files_folder, load_events
from bench.targets import Verdict, check_at_least, check_at_most
from ugs.connect import storage_for
from ugs.feature_registry import CATALOG

MILLION = 1_000_000


class Recovery(Struct, frozen=True):
    """What reopening a store of a size costs."""

    size: int
    from_log: Seen
    from_snapshot: Seen
    nodes_only: Seen

    @property
    def replay_rate(self) -> float:
        """Events per second when the log is read from its beginning."""
        return self.from_log.events / self.from_log.fair_seconds

    @property
    def node_bytes(self) -> float:
        seen = self.nodes_only
        return (seen.graph_bytes - seen.base_bytes) / seen.nodes

    @property
    def edge_bytes(self) -> float:
        """What the edges add to a store that has the nodes."""
        whole, nodes = self.from_snapshot, self.nodes_only
        return (whole.graph_bytes - whole.base_bytes - (nodes.graph_bytes - nodes.base_bytes)) / whole.edges


async def measure_in_child(url: str, seconds: float) -> Seen:
    """Look at a store from a fresh process."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.child", url, str(seconds), stdout=asyncio.subprocess.PIPE
    )
    told, _ = await child.communicate()
    if child.returncode:
        raise RuntimeError(f"the measuring process ended with {child.returncode}")
    return msgspec.json.decode(told, type=Seen)


async def measure_recovery(folder: Path, size: int, service: float, tell: Tell) -> Recovery:
    """Reopen copies of the files of a size, which must be loaded already; one of them serves for a while."""
    whole = copy_of(folder, files_folder(folder, size))
    tell(f"opening {size:,} nodes from the snapshot")
    from_snapshot = await measure_in_child(f"file:{whole}?snapshot_every=0", service)
    whole = copy_of(folder, files_folder(folder, size))
    for snapshot in whole.glob("*snapshot*"):
        snapshot.unlink()
    tell(f"opening {size:,} nodes from the log")
    from_log = await measure_in_child(f"file:{whole}?snapshot_every=0", 0.0)
    tell(f"opening {size:,} nodes without edges")
    nodes_only = await measure_in_child(f"file:{await nodes_only_files(folder, size)}?snapshot_every=0", 0.0)
    shutil.rmtree(whole)
    return Recovery(size, from_log, from_snapshot, nodes_only)


def copy_of(folder: Path, files: Path) -> Path:
    """A copy to open and write into."""
    copy = folder / "scratch-recovery"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(files, copy, ignore=shutil.ignore_patterns("*lock*"))
    return copy


async def nodes_only_files(folder: Path, size: int) -> Path:
    """A store that has the nodes and no edges."""
    files = folder / f"nodes-only-{size}"
    storage = storage_for(f"file:{files}?snapshot_every=0")
    await storage.open(CATALOG)
    try:
        async with storage.session() as session:
            done = (await session.head()).position
        if done != size:
            await storage.wipe()
            await load_events(storage, size, with_edges=False)
    finally:
        await storage.close()
    return files


def verdicts(recovery: Recovery) -> list[Verdict]:
    """The targets that reopening decides."""
    seen, size = recovery.from_snapshot, f"{recovery.size:,} nodes"
    to_a_million = seen.fair_seconds * MILLION / seen.events
    scaled = [] if seen.events == MILLION else [f"scaled from {seen.events:,}"]
    busy = [] if seen.quiet else ["CPU time"]
    how = f" ({', '.join(scaled + busy)})" if scaled or busy else ""
    return [
        check_at_least(f"{size}: replay, events/s", recovery.replay_rate, 200_000),
        check_at_most(f"{size}: open a million events from the snapshot{how}, s", to_a_million, 5.0),
        check_at_most(f"{size}: bytes per node", recovery.node_bytes, 700, "{:.0f}".format),
        check_at_most(f"{size}: bytes per edge", recovery.edge_bytes, 300, "{:.0f}".format),
        check_at_most(f"{size}: longest collector pause, ms", seen.longest_pause * 1000, 50, "{:.1f}".format),
    ]
