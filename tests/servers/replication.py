"""A PostgreSQL primary with standbys that follow it by streaming replication, from the binaries of the test server.

Each standby is a base backup of the primary. Its lag is made by pausing its replay.
"""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import asyncpg
import pytest

from tests.servers.postgresql import PostgreSQL
from tests.servers.pytest_use import in_ci
from tests.servers.server import ServerUnavailable

SETTINGS = {"wal_level": "replica", "max_wal_senders": "10", "hot_standby": "on", "wal_keep_size": "256MB"}
STANDBY_SETTINGS = {"hot_standby_feedback": "on", "max_standby_streaming_delay": "30s"}


@dataclass
class Primary(PostgreSQL):
    """A server that others may follow, also reached by a Unix socket in its folder."""

    name: ClassVar[str] = "postgresql-primary"

    def command(self) -> list[str]:
        own = {**SETTINGS, "unix_socket_directories": self.folder}
        return [*super().command(), *(f"--{key}={value}" for key, value in own.items())]


@dataclass
class Standby(PostgreSQL):
    """A server that follows a primary."""

    name: ClassVar[str] = "postgresql-standby"
    primary: PostgreSQL = field(kw_only=True)

    def prepare(self) -> None:
        self.password = self.primary.password
        self.copy_unreachable_binaries()
        self.give_away(self.home)
        self.run(
            "pg_basebackup", "-D", f"{self.home}/data", "-h", "127.0.0.1", "-p", str(self.primary.port), "-U", "ugs",
            "-R", "-X", "stream", "-c", "fast", "--no-sync",
        )  # fmt: skip

    def command(self) -> list[str]:
        own = {**SETTINGS, **STANDBY_SETTINGS}
        return [*super().command(), *(f"--{key}={value}" for key, value in own.items())]

    def after_first_start(self) -> None:
        """It has what the primary has."""

    async def ask(self, statement: str) -> object:
        connection = await asyncpg.connect(self.url, timeout=10)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    async def pause(self) -> None:
        """Receive what the primary writes, and show none of it."""
        await self.ask("SELECT pg_wal_replay_pause()")
        while await self.ask("SELECT pg_get_wal_replay_pause_state()") != "paused":  # noqa: ASYNC110 - the server is asked
            await asyncio.sleep(0.01)

    async def resume(self) -> None:
        await self.ask("SELECT pg_wal_replay_resume()")


@dataclass
class Cluster:
    """A primary and its standbys."""

    primary: Primary
    standbys: list[Standby]

    @property
    def url(self) -> str:
        """The store that writes to the primary and reads from the standbys."""
        hosts = ",".join(f"127.0.0.1:{standby.port}" for standby in self.standbys)
        return f"{self.primary.url}?replicas={hosts}"


@contextmanager
def replicated(log: Path, standbys: int = 2) -> Iterator[Cluster]:
    """A cluster of our own while the block runs; a test ends here where none can be had, and fails for it in CI."""
    with ExitStack() as running:
        try:
            primary = Primary()
            primary.create(log / "primary.log")
            running.callback(primary.remove)
            followers = []
            for number in range(standbys):
                standby = Standby(primary=primary)
                standby.create(log / f"standby{number}.log")
                running.callback(standby.remove)
                followers.append(standby)
        except ServerUnavailable as unavailable:
            if in_ci():
                pytest.fail(f"CI needs a replicated PostgreSQL: {unavailable}", pytrace=False)
            pytest.skip(str(unavailable))
        yield Cluster(primary, followers)
