"""Other engines that answer openCypher inside Python: ladybug, which Kuzu became, and grand-cypher over networkx.

They come from the package registry when a comparison first runs, into a folder of their own, so that nothing else here
depends on them. Whoever cannot be had does not take part.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

import networkx
from msgspec import Struct

from bench import data
from bench.cypher_contenders import Asking
from bench.sampler import Tell

PLACE = Path(__file__).resolve().parent.parent / "build" / "bench" / "python"
CSV = PLACE.parent / "csv"


class Peer(Struct, frozen=True):
    """An engine: what to install, what to import, and the largest graph on which waiting for it makes sense."""

    requirement: str
    module: str
    largest: int
    open: Callable[[Any, int], Asking]


def open_peers(size: int, names: Iterable[str], tell: Tell) -> list[Asking]:
    """All of these that can be had for a graph of this size, with the same nodes and relationships."""
    opened = []
    for name in names:
        peer = PEERS.get(name)
        if peer is not None and size <= peer.largest:
            tell(f"filling {name}")
            module = import_engine(peer, tell)
            opened += [] if module is None else [peer.open(module, size)]
    return opened


def import_engine(peer: Peer, tell: Tell) -> Any:
    """The engine's module, installed when it is not there yet; None where that is impossible."""
    if str(PLACE) not in sys.path:
        sys.path.append(str(PLACE))
    try:
        return import_module(peer.module)
    except ImportError:
        tell(f"installing {peer.requirement}")
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(PLACE), peer.requirement]
    failed = subprocess.run(install, capture_output=True, text=True)
    if failed.returncode:
        print(f"not compared with {peer.requirement}: {failed.stderr.strip()[-200:]}", file=sys.stderr)
        return None
    invalidate_caches()  # the folder may not have been there when the module was first looked for
    return import_module(peer.module)


# ── ladybug ──────────────────────────────────────────────────────────────────


def open_ladybug(ladybug: Any, size: int) -> Asking:
    """In memory, with a table of nodes and one for each type of relationship."""
    connection = ladybug.Connection(ladybug.Database(":memory:"))
    CSV.mkdir(parents=True, exist_ok=True)
    _fill(connection, size, CSV)

    async def rows(text: str, params: dict[str, str]) -> Iterable[Any]:
        found = connection.execute(text, {"id": params["id"]} if "$id" in text else {})
        return found.get_all()  # type: ignore[no-any-return]

    return Asking("ladybug", lambda question: question.ladybug, rows)


def _fill(connection: Any, size: int, folder: Path) -> None:
    connection.execute("CREATE NODE TABLE N(id STRING PRIMARY KEY, type STRING, name STRING, score DOUBLE)")
    nodes = folder / "nodes.csv"
    lines = (f"{n.id},{n.type},{n.properties['name']},{n.properties['score']}" for n in data.nodes(size))
    _write(nodes, lines)
    connection.execute(f"COPY N FROM '{nodes}'")
    files = {type: (folder / f"{type}.csv").open("w", encoding="utf-8") for type in data.EDGE_TYPES}
    for edge in data.edges(size):
        files[edge.type].write(f"{edge.source},{edge.target}\n")
    for type, file in files.items():
        file.close()
        connection.execute(f"CREATE REL TABLE {type}(FROM N TO N)")
        connection.execute(f"COPY {type} FROM '{file.name}'")


def _write(file: Path, lines: Iterable[str]) -> None:
    with file.open("w", encoding="utf-8") as opened:
        opened.writelines(f"{line}\n" for line in lines)


# ── grand-cypher ─────────────────────────────────────────────────────────────


def open_grand_cypher(grandcypher: Any, size: int) -> Asking:
    """Over a graph of networkx, which has no index: it looks at every node to find the first."""
    graph: Any = networkx.MultiDiGraph()
    for node in data.nodes(size):
        properties = {"name": node.properties["name"], "score": node.properties["score"]}
        graph.add_node(node.id, id=node.id, __labels__={node.type}, **properties)
    for edge in data.edges(size):
        graph.add_edge(edge.source, edge.target, __labels__={edge.type})

    async def rows(text: str, params: dict[str, str]) -> Iterable[Any]:
        found = grandcypher.GrandCypher(graph).run(text.replace("$id", f'"{params["id"]}"'))
        return zip(*found.values(), strict=True)

    return Asking("grand-cypher", lambda question: question.grand, rows)


PEERS = {
    "ladybug": Peer("ladybug>=0.22,<0.23", "ladybug", 1_000_000, open_ladybug),
    "grand-cypher": Peer("grand-cypher>=1.2,<2", "grandcypher", 10_000, open_grand_cypher),
}
