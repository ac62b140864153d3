"""Typed memory over MCP at the seed's scale, beside the reference memory server where both can do the same.

    python -m bench.ontology                              10,000 nodes and 20,000 connections on every embedded store
    python -m bench.ontology --nodes 500000 --store sqlite:///build/memory.db
    python -m bench.ontology --peer "npx -y @modelcontextprotocol/server-memory" --nodes 1000
    python -m bench.ontology --nodes 500000 --calls 3 --only-peer --peer "…"

Every figure is of calls through the official client, over standard input and output, in milliseconds: the median time a
caller waits, and the processor time the server spends on a call, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import psutil
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from ugs.api import Graph
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType
from ugs.system import System

UGS = str(Path(sys.executable).parent / "ugs")
PORTION = 2_000
WORDS = ("kitchen", "garden", "invoice", "plumber", "meeting", "budget", "report", "phone", "travel", "farmhouse")
Call = Callable[[], Awaitable[Any]]
Figures = dict[str, dict[str, float]]


class Watch:
    """Measures calls of the servers that this process has started."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.servers = psutil.Process().children(recursive=True)

    def spent(self) -> float:
        """Processor time of the servers so far, in seconds."""
        return sum(sum(server.cpu_times()[:2]) for server in self.servers if server.is_running())

    async def __call__(self, call: Call) -> dict[str, float]:
        """The usual time of a call, and what the server spends on it."""
        times, before = [], self.spent()
        for _ in range(self.calls):
            started = time.perf_counter()
            await call()
            times.append((time.perf_counter() - started) * 1_000)
        spent = (self.spent() - before) * 1_000 / self.calls
        return {"waited": round(statistics.median(times), 2), "processor": round(spent, 2)}


def record(number: int, chance: Random) -> dict[str, Any]:
    """One node of the memory."""
    text = f"# Number {number}\n\n" + " ".join(chance.choices(WORDS, k=40))
    status = {"status": "next" if number % 2 else "waiting", "context": chance.choice(["phone", "home", "office"])}
    return {
        "id": f"n{number}",
        "type": "Project" if number % 10 == 0 else "Action",
        "properties": status,
        "content": text,
    }


def tell(progress: str) -> None:
    """Say how far it is, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r  {progress:60}", end="", file=sys.stderr, flush=True)


async def fill(url: str, nodes: int) -> None:
    """The memory itself, put in through imports."""
    chance = Random(4)
    async with System.at_url(url) as system:
        types = [
            ConnectionType("NextAction", ("Project",), ("Action",)),
            ConnectionType("Near", ("Action",), ("Action",)),
        ]
        await Memory(system).create_ontology(["Project", "Action"], types)
        graph = Graph(system)
        for start in range(0, nodes, PORTION):
            tell(f"{start:,} of {nodes:,} nodes")
            numbers = range(start, min(start + PORTION, nodes))
            await graph.import_graph({"nodes": [record(number, chance) for number in numbers]})
        for start in range(0, 2 * nodes, PORTION):
            tell(f"{start:,} of {2 * nodes:,} connections")
            numbers = range(start, min(start + PORTION, 2 * nodes))
            ends = [(chance.randrange(nodes), chance.randrange(nodes)) for _ in numbers]
            edges = [{"from": f"n{a - a % 10}", "to": f"n{b}", "type": "NextAction"} for a, b in ends]
            await graph.import_graph({"edges": edges})


async def ours(url: str, nodes: int, calls: int) -> Figures:
    """Our own server on a filled store."""
    server = StdioServerParameters(command=UGS, args=["mcp", "--store", url], env=dict(os.environ))
    async with Client(server) as client:
        watch = Watch(calls)

        def tool(name: str, **arguments: Any) -> Call:
            return lambda: client.call_tool(name, arguments)

        some = f"n{nodes // 2 - nodes // 2 % 10}"
        return {
            "create_node": await watch(tool("create_node", type="Action", content="new", format="text")),
            "get_node": await watch(tool("get_node", node_id=some)),
            "get_connected_nodes": await watch(tool("get_connected_nodes", node_id=some, direction="both")),
            "query_nodes (type and two properties)": await watch(
                tool("query_nodes", type="Project", properties={"status": "waiting", "context": "phone"})
            ),
            "search_content (one hit)": await watch(tool("search_content", query=f"Number {nodes - 1}\n")),
            "search_content (limit 20)": await watch(tool("search_content", query="farmhouse", limit=20)),
        }


async def peer(command: str, nodes: int, calls: int) -> Figures:
    """The reference memory server: entities with observations in one JSON file."""
    program, *arguments = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MEMORY_FILE_PATH": f"{folder}/memory.json"}
        chance = Random(4)
        rows = [record(number, chance) for number in range(nodes)]
        ends = [(chance.randrange(nodes), chance.randrange(nodes)) for _ in range(2 * nodes)]
        lines = [
            {"type": "entity", "name": row["id"], "entityType": row["type"], "observations": [row["content"]]}
            for row in rows
        ]
        lines += [{"type": "relation", "from": f"n{a}", "to": f"n{b}", "relationType": "NextAction"} for a, b in ends]
        text = "\n".join(json.dumps(line) for line in lines)
        await asyncio.to_thread(Path(folder, "memory.json").write_text, text)
        async with Client(StdioServerParameters(command=program, args=arguments, env=environment)) as client:
            watch, made = Watch(calls), iter(range(10**9))

            async def create() -> None:
                entity = {"name": f"new{next(made)}", "entityType": "Action", "observations": ["new"]}
                await client.call_tool("create_entities", {"entities": [entity]})

            return {
                "create_node": await watch(create),
                "get_node": await watch(lambda: client.call_tool("open_nodes", {"names": [f"n{nodes // 2}"]})),
                "search_content (one hit)": await watch(
                    lambda: client.call_tool("search_nodes", {"query": f"Number {nodes - 1}\n"})
                ),
            }


async def main(options: argparse.Namespace) -> None:
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as folder:
        urls = [options.store] if options.store else [f"file:{folder}/data", f"sqlite:///{folder}/memory.db"]
        for url in [] if options.only_peer else urls:
            if not options.filled:
                await fill(url, options.nodes)
            found[url.partition(":")[0]] = await ours(url, options.nodes, options.calls)
    if options.peer:
        found["server-memory"] = await peer(options.peer, options.nodes, options.calls)
    print(json.dumps({"nodes": options.nodes, "connections": 2 * options.nodes, "milliseconds": found}, indent=2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--store", metavar="URL")
    parser.add_argument("--filled", action="store_true", help="the store holds the memory already")
    parser.add_argument("--only-peer", action="store_true", help="measure the other server alone")
    parser.add_argument("--peer", metavar="COMMAND", help="how to start the reference memory server")
    asyncio.run(main(parser.parse_args()))
