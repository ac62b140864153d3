"""Servers under comparison: how each is started, where it answers, and what it must be asked."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil
from msgspec import Struct

from bench.graphql.peer_data import neo4j_address
from bench.graphql.peer_packages import PEERS
from bench.graphql.queries import FIRST_FOUR, NEO4J, OURS, PLAIN, POSTGRAPHILE
from ugs_gateway.auth.api_key_file import StoredToken, create_token

OURSELVES = "ours"
PLAIN_FOUR = {kind: PLAIN[kind] for kind in FIRST_FOUR}
START_SECONDS = 60.0


class Place(Struct, frozen=True):
    """Where everything lies that a server may need."""

    folder: Path
    node: str = "node"
    packages: Path = Path()
    graph: Path = Path()
    database: str = ""
    schema: str = ""
    neo4j: str = ""


class Server(Struct):
    """A running server."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    questions: Mapping[str, str]
    authorization: str = "-"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/graphql"

    def stop(self) -> None:
        """End the process that was started here, and nothing else."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def start(name: str, command: list[str], questions: Mapping[str, str], place: Place, port: int, **more: str) -> Server:
    """Start a server and wait until it listens."""
    log = place.folder / f"{name.replace('/', '-')}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=more.pop("cwd", None),
            env={**os.environ, "PORT": str(port), "NODE_ENV": "production", "GRAPHILE_ENV": "production", **more},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    deadline = time.monotonic() + START_SECONDS
    while not _is_listening(port):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise RuntimeError(f"{name} did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)
    return Server(name, port, process, questions)


def _is_listening(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
        return True
    return False


def start_ours(place: Place, url: str, name: str = OURSELVES) -> Server:
    """Our gateway as it is served, with a login; one line a request is not logged, as with the others."""
    port = free_port()
    keys = place.folder / f"{name}-{port}.keys"
    keys.unlink(missing_ok=True)
    token = create_token(keys, StoredToken("", "bench", ("writer",)))
    command = [sys.executable, "-m", "ugs_gateway.cli.main", "serve", "--store", url, "--port", str(port)]
    quiet = ["--token-file", str(keys), "--log-level", "warning"]
    server = start(name, command + quiet, OURS, place, port)
    server.authorization = f"Bearer {token}"
    return server


def start_postgraphile(place: Place) -> Server:
    command = [place.node, str(PEERS / "postgraphile.mjs")]
    return start(
        "PostGraphile",
        command,
        POSTGRAPHILE,
        place,
        free_port(),
        cwd=str(place.packages),
        DATABASE_URL=place.database,
        SCHEMA=place.schema,
    )


def start_python(name: str, module: str, place: Place, questions: Mapping[str, str] = PLAIN_FOUR) -> Server:
    """A Python peer, on the server and the loop that ours has."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", f"{module}:app", "--app-dir", str(PEERS), "--port", str(port)]
    quiet = ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"]
    return start(name, command + quiet, questions, place, port, DATABASE_URL=place.database, SCHEMA=place.schema)


def start_strawberry(place: Place) -> Server:
    return start_python("Strawberry", "strawberry_app", place, PLAIN)


def start_bare(place: Place) -> Server:
    return start_python("bare limit", "bare_app", place)


def start_yoga(place: Place) -> Server:
    command = [place.node, str(PEERS / "yoga_jit.mjs")]
    return start("yoga + jit", command, PLAIN_FOUR, place, free_port(), cwd=str(place.packages), GRAPH=str(place.graph))


def start_neo4j_graphql(place: Place) -> Server:
    address, user, password = neo4j_address(place.neo4j)
    command = [place.node, str(PEERS / "neo4j_graphql.mjs")]
    secrets = {"NEO4J_URL": address, "NEO4J_USER": user, "NEO4J_PASSWORD": password}
    return start("@neo4j/graphql", command, NEO4J, place, free_port(), cwd=str(place.packages), **secrets)


def pin(pid: int, core: int) -> None:
    """Keep a process and its threads on one core, where there are several."""
    cores = psutil.cpu_count() or 1
    with suppress(psutil.Error, OSError, AttributeError):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            for thread in one.threads():
                os.sched_setaffinity(thread.id, {core % cores})
