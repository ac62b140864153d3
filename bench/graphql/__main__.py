"""GraphQL servers side by side: `python -m bench.graphql`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import msgspec

from bench.__main__ import BUILD, progress
from bench.graphql import peer_data
from bench.graphql import servers as graphql_servers
from bench.graphql.figures import figures
from bench.graphql.load_sample import Load, Sample, take, warm_up
from bench.graphql.peer_packages import ensure_load_generator, ensure_node, ensure_packages
from bench.graphql.queries import FACTS, READS, TITLES, normalize_answer
from bench.graphql.report import GraphqlResults, keep, lines
from bench.graphql.servers import Place, Server, pin
from bench.results import parse_size, this_machine
from bench.stores import STORES, Store
from tests.servers import url_of

Starter = Callable[[Place], Server]
PEERS: dict[str, dict[str, Starter]] = {
    "postgresql": {
        "postgraphile": graphql_servers.start_postgraphile,
        "strawberry": graphql_servers.start_strawberry,
        "bare": graphql_servers.start_bare,
    },
    "neo4j": {"neo4j_graphql": graphql_servers.start_neo4j_graphql},
    "memory": {"yoga": graphql_servers.start_yoga},
}
VARIABLES: dict[str, dict[str, Any]] = {
    "point": {"id": "n0000050"},
    "list": {"type": "task"},
    "nested": {"id": "n0000123"},
    "readme": {"id": "n0000123"},
    "sorted": {"type": "task"},
    "related": {"type": "task"},
    "aggregate": {"type": "task"},
    "facts": {"name": "subject 7"},
    "cold": {"id": "n0000050"},
}


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.graphql", description="our gateway beside other servers")
    parser.add_argument("--stores", type=lambda text: text.split(","), default=list(PEERS))
    parser.add_argument("--peers", type=lambda text: text.split(","), help="only these; default: all of the store")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(TITLES), help=",".join(TITLES))
    parser.add_argument("--size", type=parse_size, default=100_000, help="nodes; four times as many edges")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--retakes", type=int, default=2, help="how often a disturbed sample is taken again")
    parser.add_argument("--no-pin", action="store_true", help="leave it to the system on which cores things run")
    parser.add_argument("--output", type=lambda text: Path(text).resolve(), default=BUILD)
    return parser


def main(arguments: list[str] | None = None) -> int:
    asked = parser().parse_args(arguments)
    ensure_load_generator()
    results, tell = GraphqlResults(this_machine(), asked.size), progress()
    for name in asked.stores:
        with ExitStack() as started:
            _measure(name, asked, results, started, tell)
    results.figures = figures(results.samples)
    print("\n".join(lines(results)))
    keep(results, asked.output)
    return 1 if results.differing else 0


def _measure(name: str, asked: Any, results: GraphqlResults, started: ExitStack, tell: Callable[[str], None]) -> None:
    store, folder = STORES[name], asked.output / "data"
    tools = asked.output / "peers"
    for needed in (folder, tools):
        needed.mkdir(parents=True, exist_ok=True)
    tell(f"{name}: installing the peers")
    place = Place(tools, ensure_node(tools), ensure_packages(tools))
    place, url = asyncio.run(_prepare_data(store, asked.size, place, folder, tell))
    servers = [graphql_servers.start_ours(place, url)]
    started.callback(servers[0].stop)
    for peer, start in PEERS[name].items():
        if asked.peers is None or peer in asked.peers:
            tell(f"starting {peer}")
            servers.append(start(place))
            started.callback(servers[-1].stop)
    results.differing += compare(name, servers, asked.only)
    if not asked.no_pin:
        for server in servers:
            pin(server.process.pid, 0)
    results.samples += list(sample(name, servers, asked, store.process_ids(), tell))


async def _prepare_data(
    store: Store, size: int, place: Place, folder: Path, tell: Callable[[str], None]
) -> tuple[Place, str]:
    """The graph in our store and for the peers."""
    url = await peer_data.ensure_ours(store, size, folder, tell)
    tell(f"{store.name}: loading the peers' graph")
    if store.name == "postgresql":
        database = url_of("postgresql").partition("?")[0]
        schema = await peer_data.load_tables(database, size)
        return msgspec.structs.replace(place, database=database, schema=schema), url
    if store.name == "neo4j":
        neo4j = url_of("neo4j").partition("?")[0]
        await peer_data.load_neo4j(neo4j, size)
        return msgspec.structs.replace(place, neo4j=neo4j), url
    return msgspec.structs.replace(place, graph=peer_data.graph_file(folder, size)), url


def compare(store: str, servers: list[Server], kinds: list[str]) -> list[str]:
    """Whether all give the same answers."""
    different = []
    for kind in (kind for kind in READS if kind in kinds and (kind != FACTS or store == "postgresql")):
        answers = {server.name: normalize_answer(_ask(server, kind)) for server in servers if kind in server.questions}
        if servers[0].name not in answers:
            continue
        expected = answers[servers[0].name]
        different += [f"{store}, {kind}: {name}" for name, answer in answers.items() if answer != expected]
    return different


def _ask(server: Server, kind: str) -> Any:
    headers = {"content-type": "application/json"}
    if server.authorization != "-":
        headers["authorization"] = server.authorization
    body = msgspec.json.encode({"query": server.questions[kind].replace("@", ""), "variables": VARIABLES[kind]})
    try:
        with urlopen(Request(server.url, body, headers), timeout=30) as response:
            found = msgspec.json.decode(response.read())
    except HTTPError as error:
        found = msgspec.json.decode(error.read())
    if "errors" in found:
        raise RuntimeError(f"{server.name}, {kind}: {found['errors']}")
    return found["data"]


def sample(
    store: str, servers: list[Server], asked: Any, databases: tuple[int, ...], tell: Callable[[str], None]
) -> Iterator[Sample]:
    """All samples, every repetition in another order."""
    random = Random(1)
    pairs = [(server, kind) for server in servers for kind in asked.only if kind in server.questions]
    if store != "postgresql":
        pairs = [(server, kind) for server, kind in pairs if kind in READS and kind != FACTS]
    for repetition in range(asked.repetitions):
        random.shuffle(pairs)
        for number, (server, kind) in enumerate(pairs, 1):
            tell(f"{store} {repetition + 1}/{asked.repetitions}: {number}/{len(pairs)} {kind} {server.name}")
            load = Load(store, kind, asked.size, asked.seconds, databases)
            warm_up(server, load, 2 if repetition == 0 else 1)
            for _ in range(asked.retakes + 1):
                taken = take(server, load, repetition)
                if taken.quiet:
                    break
            yield taken


if __name__ == "__main__":
    sys.exit(main())
