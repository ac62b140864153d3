"""The typed memory that is measured: invented, the same every time, and brought into every store by replay.

Imports fill files first; the other stores get the log of those files. Both go on where they were when the time given to
them was up, so that a large memory can be loaded in pieces.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from bench.stores import neo4j_url, postgresql_url
from ugs.connect import storage_for
from ugs.feature_registry import CATALOG
from ugs.graph.api import Graph
from ugs.log.replay import copy_log, position_of
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType
from ugs.system import System

PORTION_SIZE = 5_000
WORDS = ("kitchen", "garden", "invoice", "plumber", "meeting", "budget", "report", "phone", "travel", "farmhouse")
CONTEXTS = ("phone", "home", "office")
TYPES = [ConnectionType("NextAction", ("Project",), ("Action",)), ConnectionType("Near", ("Action",), ("Action",))]
LINKS = 2
"""Connections for each node."""


class OutOfTime(Exception):
    """The time for loading is up; the next run goes on from here."""


class Patience:
    """Until when loading may go on."""

    def __init__(self, minutes: float | None) -> None:
        self._until = None if minutes is None else time.monotonic() + minutes * 60

    def check(self, progress: str) -> None:
        """Say how far it is, on a terminal only, and stop when the time is up."""
        if sys.stderr.isatty():
            print(f"\r  {progress:60}", end="", file=sys.stderr, flush=True)
        if self._until is not None and time.monotonic() > self._until:
            raise OutOfTime(progress)


def node_records(numbers: range) -> list[dict[str, Any]]:
    """Nodes with content; every tenth is a project."""
    chance = Random(numbers.start)
    return [_node(number, chance) for number in numbers]


def _node(number: int, chance: Random) -> dict[str, Any]:
    text = f"# Number {number}\n\n" + " ".join(chance.choices(WORDS, k=40))
    status = {"status": "next" if number % 2 else "waiting", "context": chance.choice(CONTEXTS)}
    type = "Project" if number % 10 == 0 else "Action"
    return {"id": f"n{number}", "type": type, "properties": status, "content": text}


def edge_records(numbers: range, nodes: int) -> list[dict[str, str]]:
    """Connections from projects to anything."""
    chance = Random(-1 - numbers.start)
    ends = [(chance.randrange(nodes), chance.randrange(nodes)) for _ in numbers]
    return [{"from": f"n{a - a % 10}", "to": f"n{b}", "type": "NextAction"} for a, b in ends]


def portions(first: int, end: int) -> Iterator[range]:
    for start in range(first, end, PORTION_SIZE):
        yield range(start, min(start + PORTION_SIZE, end))


def event_count(nodes: int) -> int:
    """How long the log of such a memory is: its ontology, its nodes, its connections."""
    return 1 + nodes * (1 + LINKS)


def place_of(store: str, folder: Path, nodes: int) -> str:
    """Where a store keeps the memory of a size."""
    if store == "postgresql":
        return postgresql_url(folder, nodes).replace("schema=bench_", "schema=memory_")
    if store == "neo4j":
        return neo4j_url(folder, nodes).replace("namespace=bench", "namespace=memory")
    return f"sqlite:///{folder}/memory-{nodes}.db" if store == "sqlite" else f"file:{folder}/memory-{nodes}"


async def load(store: str, folder: Path, nodes: int, patience: Patience) -> str:
    """Bring the memory into a store unless it is there; answers where it is."""
    started, url, files = time.perf_counter(), place_of(store, folder, nodes), place_of("memory", folder, nodes)
    if url == files:
        await fill(url, nodes, patience)
    elif not await is_loaded(url, nodes):
        await fill(files, nodes, patience)
        await copy(files, url, nodes, patience)
    print(f"{store}: ready after {time.perf_counter() - started:,.0f} s", flush=True)
    return url


async def is_loaded(url: str, nodes: int) -> bool:
    """Whether a store holds the whole memory."""
    storage = storage_for(url)
    await storage.open(CATALOG)
    try:
        return await position_of(storage) >= event_count(nodes)
    finally:
        await storage.close()


async def fill(url: str, nodes: int, patience: Patience) -> None:
    """The memory itself, put in through imports."""
    async with System.at_url(url) as system:
        done = await position_of(system.storage)
        if done >= event_count(nodes):
            return
        if done == 0:
            await Memory(system).create_ontology(["Project", "Action"], TYPES)
        for numbers in portions(max(0, done - 1), nodes):
            await Graph(system).import_graph({"nodes": node_records(numbers)})
            patience.check(f"{numbers.stop:,} of {nodes:,} nodes")
        for numbers in portions(max(0, done - 1 - nodes), LINKS * nodes):
            await Graph(system).import_graph({"edges": edge_records(numbers, nodes)})
            patience.check(f"{numbers.stop:,} of {LINKS * nodes:,} connections")
        await system.snapshot()


async def copy(source_url: str, url: str, nodes: int, patience: Patience) -> None:
    """The same memory in another store, by replay of its log."""
    wanted, (source, target) = event_count(nodes), (storage_for(source_url), storage_for(url))
    told = f"of {wanted:,} events into {target.scheme}"
    await source.open(CATALOG)
    try:
        await target.open(CATALOG)
        await copy_log(source, target, CATALOG, wanted, lambda done, _: patience.check(f"{done:,} {told}"))
    finally:
        await target.close()
        await source.close()


def write_peer_file(file: Path, nodes: int) -> None:
    """The same texts and connections as the reference memory server keeps them: one JSON value in a line."""
    with file.open("w") as out:
        for numbers in portions(0, nodes):
            for row in node_records(numbers):
                entity = {"type": "entity", "name": row["id"], "entityType": row["type"]}
                out.write(json.dumps({**entity, "observations": [row["content"]]}) + "\n")
        for numbers in portions(0, LINKS * nodes):
            for edge in edge_records(numbers, nodes):
                relation = {"type": "relation", "from": edge["from"], "to": edge["to"], "relationType": edge["type"]}
                out.write(json.dumps(relation) + "\n")
        out.seek(out.tell() - 1)
        out.truncate()
