"""Real servers for the tests: PostgreSQL 18 with pgvector from a wheel, Neo4j 5.26 from Maven jars.

A server is started the first time somebody asks for its URL, on a free port of the loopback
address, and is shared by every process that asks meanwhile; the last one out stops it. Only
processes started here are ever stopped, by their process id.

For quick repeated runs while developing, keep the servers up between them:

    python -m tests.servers start          both, until `stop`
    python -m tests.servers status         what runs, where, who uses it
    eval "$(python -m tests.servers env)"  their URLs as UGS_TEST_POSTGRESQL and UGS_TEST_NEO4J
    python -m tests.servers stop

`UGS_TEST_POSTGRESQL` and `UGS_TEST_NEO4J` name an existing server to use instead (a full URL with
user and password). State and logs are in `build/servers`; `UGS_TEST_SERVERS` names another folder,
which gives a session its own pair of servers.

In a test: `url = servers.require("neo4j")` gives the URL, or skips with the reason in words; with
CI=true a missing server is a failure. Tests that wipe the one database Neo4j Community has hold
`servers.exclusive("neo4j")` meanwhile. Fault tests that kill or restart a server take their own:

    with servers.private("postgresql") as server:
        server.stop("immediate")
        server.start()
"""

from tests.servers.faults import kill_neo4j, private, restart_postgresql, start_neo4j
from tests.servers.pytest_use import require
from tests.servers.server import Server, ServerUnavailable
from tests.servers.shared import exclusive, neo4j_url, postgresql_url, url_of

__all__ = [
    "Server",
    "ServerUnavailable",
    "exclusive",
    "kill_neo4j",
    "neo4j_url",
    "postgresql_url",
    "private",
    "require",
    "restart_postgresql",
    "start_neo4j",
    "url_of",
]
