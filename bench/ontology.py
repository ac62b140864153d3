"""Typed memory over MCP at the seed's scale and beyond it, beside the reference memory server.

    python -m bench.ontology                                   10,000 nodes and 20,000 connections everywhere
    python -m bench.ontology --nodes 500k --stores memory,sqlite --minutes 10
    python -m bench.ontology --nodes 500k --stores "" --calls 3

Every figure is of calls through the official client, over standard input and output, in milliseconds: the median and
the longest time a caller waits, and the processor time that server and database spend on a call, which other work on
the machine hardly changes. Data stays in `build/bench/data`; loading that `--minutes` cut off goes on in the next run.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import psutil
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from msgspec import Struct

from bench.features import BUILD, parser
from bench.graphql.peer_packages import Missing, ensure_node
from bench.memories import OutOfTime, Patience, load, write_peer_file
from bench.noise import Stopwatch
from bench.results import parse_size
from bench.stores import STORES

UGS = str(Path(sys.executable).parent / "ugs")
PEER = "@modelcontextprotocol/server-memory"
PEERS = Path(__file__).parent / "peers" / "memory.json"
LONGEST_SECONDS = 2.0
"""What the seed allows a question."""
FILES = "files"
"""The memory of a base path: a store in files, and the registry and content as files for people beside it."""
ACTION = {"type": "Action", "content": "new", "format": "text"}
Call = Callable[[], Awaitable[Any]]
Work = dict[str, Call]


class Figure(Struct, frozen=True):
    """What a kind of call costs, in milliseconds."""

    side: str
    nodes: int
    work: str
    calls: int
    waited: float
    longest: float
    processor: float
    foreign: float
    """Cores that were busy with other people's work meanwhile."""


class Watch:
    """Measures calls of the servers that this process has started, and of the database behind them."""

    def __init__(self, side: str, nodes: int, calls: int, database: Sequence[int] = ()) -> None:
        self.side, self.nodes, self.calls = side, nodes, calls
        self.servers = [child.pid for child in psutil.Process().children()] + list(database)

    async def measure(self, work: str, call: Call) -> Figure:
        """The usual time of a call, the longest, and what the servers spend on it."""
        await call()
        watch, times = Stopwatch(self.servers), []
        for _ in range(self.calls):
            started = time.perf_counter()
            await call()
            times.append((time.perf_counter() - started) * 1_000)
        spent = watch.read()
        found = (statistics.median(times), max(times), spent.server * 1_000 / self.calls, spent.foreign)
        figure = Figure(self.side, self.nodes, work, self.calls, *(round(number, 2) for number in found))
        print(format_figure(figure), flush=True)
        return figure

    async def all(self, works: Work) -> list[Figure]:
        return [await self.measure(work, call) for work, call in works.items()]


def format_figure(figure: Figure) -> str:
    return (
        f"{figure.side:<14}{figure.nodes:>8,} nodes  {figure.work:<42}{figure.waited:>10,.1f} ms, at most "
        f"{figure.longest:>9,.1f}, processor {figure.processor:>9,.1f}   foreign {figure.foreign:.2f}"
    )


def our_work(client: Client, nodes: int) -> Work:
    """The calls that are measured on our own server."""

    def tool(name: str, **arguments: Any) -> Call:
        return lambda: call_or_stop(client, name, arguments)

    some = f"n{nodes // 2 - nodes // 2 % 10}"
    pair = {"from_node_id": some, "to_node_id": "n1"}
    return {
        "create_node": tool("create_node", **ACTION),
        "create_connection": tool("create_connection", type="NextAction", **pair),
        "update_node": tool("update_node", node_id=some, properties={"seen": True}),
        "get_node": tool("get_node", node_id=some),
        "get_node_content": tool("get_node_content", node_id=some),
        "get_connected_nodes": tool("get_connected_nodes", node_id=some, direction="both"),
        "query_connections, from a node": tool("query_connections", from_node_id=some),
        "query_nodes, type and two properties": tool(
            "query_nodes", type="Project", properties={"status": "waiting", "context": "phone"}
        ),
        "query_nodes, nine tenths of all": tool("query_nodes", type="Action"),
        "query_connections, all": tool("query_connections", type="NextAction"),
        "search_content, one hit": tool("search_content", query=f"Number {nodes - 1}\n"),
        "search_content, no hit": tool("search_content", query="bathroom"),
        "search_content, limit 20": tool("search_content", query="farmhouse", limit=20),
        "search_content, nearly all": tool("search_content", query="farmhouse"),
    }


async def call_or_stop(client: Client, tool: str, arguments: dict[str, Any]) -> None:
    """A call whose refusal ends the comparison."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise SystemExit(f"{tool}: {result.content}")


async def ours(side: str, url: str, nodes: int, calls: int, mirror: Path | None = None) -> list[Figure]:
    """Our own server on a filled store."""
    files = [] if mirror is None else ["--mirror", str(mirror)]
    server = StdioServerParameters(command=UGS, args=["mcp", "--store", url, *files], env=dict(os.environ))
    database = STORES[side].process_ids() if side in STORES else ()
    async with Client(server, read_timeout_seconds=600) as client:
        return await Watch(side, nodes, calls, database).all(our_work(client, nodes))


def ensure_peer(folder: Path) -> list[str]:
    """How the reference memory server is started; it comes from its registry when it is first wanted."""
    place = folder / "memory-peer"
    wanted, node = place / "package.json", ensure_node(folder)
    if not (place / "node_modules").is_dir() or wanted.read_bytes() != PEERS.read_bytes():
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(PEERS, wanted)
        try:
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(place)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Missing(f"{PEER} cannot be installed: {error}") from error
    return [node, "--max-old-space-size=8192", str(place / "node_modules" / PEER / "dist" / "index.js")]


def peer_work(client: Client, nodes: int) -> Work:
    """The same calls of the reference server, where it has them."""
    made = iter(range(10**9))

    async def create() -> None:
        entity = {"name": f"new{next(made)}", "entityType": "Action", "observations": ["new"]}
        await call_or_stop(client, "create_entities", {"entities": [entity]})

    async def connect() -> None:
        relation = {"from": f"n{next(made)}", "to": "n1", "relationType": "NextAction"}
        await call_or_stop(client, "create_relations", {"relations": [relation]})

    return {
        "create_node": create,
        "create_connection": connect,
        "get_node": lambda: call_or_stop(client, "open_nodes", {"names": [f"n{nodes // 2}"]}),
        "search_content, one hit": lambda: call_or_stop(client, "search_nodes", {"query": f"Number {nodes - 1}\n"}),
        "search_content, no hit": lambda: call_or_stop(client, "search_nodes", {"query": "bathroom"}),
    }


async def measure_reference(folder: Path, nodes: int, calls: int) -> list[Figure]:
    """The reference memory server: entities with observations in one file."""
    program, *arguments = ensure_peer(folder)
    file = folder / f"server-memory-{nodes}.jsonl"
    await asyncio.to_thread(write_peer_file, file, nodes)
    environment = {**os.environ, "MEMORY_FILE_PATH": str(file)}
    server = StdioServerParameters(command=program, args=arguments, env=environment)
    try:
        async with Client(server, read_timeout_seconds=600) as client:
            return await Watch("server-memory", nodes, calls).all(peer_work(client, nodes))
    finally:
        file.unlink()


async def run(options: Any) -> list[Figure]:
    folder, nodes, found = options.output.parent.absolute() / "data", options.nodes, []
    folder.mkdir(parents=True, exist_ok=True)
    patience = Patience(options.minutes)
    for store in filter(None, options.stores.split(",")):
        url = await load(store, folder, nodes, patience)
        mirror = folder / f"files-{nodes}" if store == FILES else None
        found += await ours(store, url, nodes, options.calls, mirror)
    if not options.no_peer:
        found += await measure_reference(folder, nodes, options.peer_calls or options.calls)
    return found


def merge_figures(file: Path, figures: list[Figure]) -> list[Figure]:
    """The figures of earlier runs, with those of this one in their place."""
    known = msgspec.json.decode(file.read_bytes(), type=list[Figure]) if file.exists() else []
    new = {(figure.side, figure.nodes) for figure in figures}
    return [figure for figure in known if (figure.side, figure.nodes) not in new] + figures


def find_too_slow(figures: list[Figure]) -> list[Figure]:
    """Our own calls that usually take longer than the seed allows."""
    return [one for one in figures if one.side != "server-memory" and one.waited > LONGEST_SECONDS * 1_000]


def main(arguments: list[str] | None = None) -> int:
    options = parser("ontology", "typed memory over MCP, beside the reference memory server")
    options.set_defaults(stores=",".join([FILES, *STORES]), output=BUILD / "ontology.json")
    options.add_argument("--nodes", type=parse_size, default=10_000, help="how many; twice as many connections")
    options.add_argument("--calls", type=int, default=20)
    options.add_argument("--peer-calls", type=int, help="calls of the reference server, where others are too many")
    options.add_argument("--minutes", type=float, help="loading stops after so long, and goes on in the next run")
    options.add_argument("--no-peer", action="store_true", help="leave the reference server out")
    asked = options.parse_args(arguments)
    try:
        figures = asyncio.run(run(asked))
    except OutOfTime as reached:
        print(f"not yet loaded: {reached}; the next run goes on from here")
        return 75
    asked.output.write_bytes(
        msgspec.json.format(msgspec.json.encode(merge_figures(asked.output, figures)), indent=2) + b"\n"
    )
    for figure in find_too_slow(figures):
        print(f"longer than the seed allows: {format_figure(figure)}")
    return 1 if find_too_slow(figures) else 0


if __name__ == "__main__":
    sys.exit(main())
