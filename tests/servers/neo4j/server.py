"""One Neo4j server: its configuration, its start from jars, and its first password."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, LiteralString

import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from tests.servers.neo4j.jars import jar_folder
from tests.servers.neo4j.java import find_java
from tests.servers.processes import wait_until
from tests.servers.server import Server

ONLINE = "SHOW DATABASE neo4j YIELD currentStatus WHERE currentStatus = 'online'"

# Only what clients need to look around and to use indexes; nothing that reaches files or the network.
ALLOWED_PROCEDURES = [
    *["db.awaitIndex", "db.awaitIndexes", "db.index.fulltext.*", "db.index.vector.*", "db.resampleIndex"],
    *["db.info", "db.labels", "db.ping", "db.propertyKeys", "db.relationshipTypes", "db.schema.*"],
    *["db.clearQueryCaches", "dbms.components", "dbms.routing.getRoutingTable"],
]


def memory() -> tuple[str, str]:
    """The heap and the cache of pages, small ones unless `UGS_TEST_NEO4J_MEMORY=heap+pages` says otherwise."""
    heap, _, pages = os.environ.get("UGS_TEST_NEO4J_MEMORY", "512m+128m").partition("+")
    return heap, pages or heap


def compiler() -> list[str]:
    """JVM options for many different short queries; `UGS_TEST_NEO4J_JIT=full` is what a long-lived server uses.

    Test queries seldom repeat often enough to repay the optimizing compiler and parallel garbage collection: without
    them the server takes half the CPU time for its start and for the indexes of a new namespace.
    """
    if os.environ.get("UGS_TEST_NEO4J_JIT") == "full":
        return ["-XX:+UseG1GC"]
    return ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


def plan_cache() -> dict[str, str]:
    """Settings that keep query plans; with `UGS_TEST_NEO4J_JIT=full` those of a server that nobody has tuned.

    Tests fill and wipe small stores all the time, which changes the counts that plans are based on: by default every
    query is planned again every ten seconds, and of more than a thousand different queries the older are forgotten.
    Planning again took a fifth of the server's CPU time in a run of the conformance kit.
    """
    if os.environ.get("UGS_TEST_NEO4J_JIT") == "full":
        return {}
    return {
        "dbms.cypher.min_replan_interval": "1h",
        "server.memory.query_cache.per_db_cache_num_entries": "8000",
    }


class Neo4j(Server):
    """A throw-away server with the one database Community offers, `neo4j`."""

    name: ClassVar[str] = "neo4j"
    patience: ClassVar[float] = 180
    stop_signals: ClassVar[Mapping[str, signal.Signals]] = {
        "fast": signal.SIGTERM,
        "immediate": signal.SIGKILL,
    }

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"neo4j://neo4j:{self.password}@{self.address}"

    def prepare(self) -> None:
        jar_folder()
        (self.home / "import").mkdir()
        (self.home / "conf").mkdir()
        lines = [f"{key}={value}" for key, value in self.settings().items()]
        (self.home / "conf" / "neo4j.conf").write_text("\n".join(lines) + "\n")

    def settings(self) -> dict[str, str]:
        return {
            "server.default_listen_address": "127.0.0.1",
            "server.bolt.listen_address": self.address,
            "server.bolt.advertised_address": self.address,
            "server.http.enabled": "false",
            "server.https.enabled": "false",
            "server.memory.pagecache.size": memory()[1],
            # Run from jars the import folder is unset, which would open the whole file system.
            "server.directories.import": f"{self.home}/import",
            "server.directories.logs": f"{Path(self.log).with_suffix('')}-logs",
            "dbms.security.allow_csv_import_from_file_urls": "false",
            "dbms.security.procedures.allowlist": ",".join(ALLOWED_PROCEDURES),
            "dbms.usage_report.enabled": "false",
            "db.transaction.timeout": "60s",
            "db.tx_log.preallocate": "false",
            **plan_cache(),
        }

    def command(self) -> list[str]:
        heap, _ = memory()
        return [
            find_java(), f"-Xms{heap}", f"-Xmx{heap}", *compiler(), "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "-cp", f"{jar_folder()}/*", "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={self.home}", f"--config-dir={self.home}/conf",
        ]  # fmt: skip

    def is_ready(self) -> bool:
        try:
            return bool(self.ask(ONLINE, self.password))
        except AuthError:
            return True  # it answers; the first password is still to be changed
        except (Neo4jError, DriverError, OSError):
            return False

    def after_first_start(self) -> None:
        self.ask("ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new", "neo4j", new=self.password)
        wait_until(self.is_ready, self.patience)

    def ask(self, query: LiteralString, password: str, **parameters: str) -> list[neo4j.Record]:
        """Ask the system database once, without the driver's own retries, which pause for seconds."""
        with (
            neo4j.GraphDatabase.driver(f"bolt://{self.address}", auth=("neo4j", password)) as driver,
            driver.session(database="system") as session,
        ):
            return list(session.run(query, parameters))
