"""What runs, on disk: one JSON file and one lock per server, so that processes can share it."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

import psutil

from tests.servers.neo4j import Neo4j
from tests.servers.places import state_folder
from tests.servers.postgresql import PostgreSQL
from tests.servers.server import Server

KINDS: dict[str, type[Server]] = {kind.name: kind for kind in (PostgreSQL, Neo4j)}


@dataclass
class Shared:
    """A server with those who use it."""

    server: Server
    kept: bool = False  # started by hand: stays when its last user leaves
    users: list[int] = field(default_factory=list)  # process ids

    def live_users(self) -> list[int]:
        return [pid for pid in self.users if psutil.pid_exists(pid)]


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of that name; other processes wait."""
    with (state_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def find_shared(name: str) -> Shared | None:
    file = state_folder() / f"{name}.json"
    if not file.exists():
        return None
    state = json.loads(file.read_text())
    return Shared(KINDS[name](**state["server"]), state["kept"], state["users"])


def save_shared(shared: Shared) -> None:
    """Write the state whole or not at all; it holds a password, so for our eyes only."""
    file = state_folder() / f"{shared.server.name}.json"
    draft = file.with_suffix(f".{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(asdict(shared), indent=2))
    draft.replace(file)


def forget_shared(name: str) -> None:
    (state_folder() / f"{name}.json").unlink(missing_ok=True)
