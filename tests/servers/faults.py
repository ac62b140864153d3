"""Servers that may die: a private one for a test that kills it, and hooks on the shared ones.

The hooks disturb every process that uses the shared server; prefer `private`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.places import state_folder
from tests.servers.server import Server, ServerUnavailable
from tests.servers.shared import join
from tests.servers.state import KINDS, find_shared, locked, save_shared


@contextmanager
def private(name: str) -> Iterator[Server]:
    """A server of one's own, to stop, kill and start at will; gone at the end of the block."""
    server = KINDS[name]()
    server.create(log=state_folder() / f"{name}-private.log")
    try:
        yield server
    finally:
        server.remove()


def restart_postgresql(mode: str = "immediate") -> None:
    """Stop the shared PostgreSQL (`immediate`: as a crash would) and start it on the same data and port."""
    with changing("postgresql") as server:
        server.stop(mode)
        server.start()


def kill_neo4j() -> None:
    with changing("neo4j") as server:
        server.kill()


def start_neo4j() -> None:
    """Start the shared Neo4j again, on the same data and port."""
    join("neo4j")


@contextmanager
def changing(name: str) -> Iterator[Server]:
    """The shared server, for a change that its state file must tell."""
    with locked(name):
        shared = find_shared(name)
        if shared is None:
            raise ServerUnavailable(f"{name}: not started by tests.servers, so not ours to stop")
        yield shared.server
        save_shared(shared)
