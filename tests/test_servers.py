"""The test servers themselves: both really start, answer, survive a crash, and end with their users."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import asyncpg
import neo4j
import pytest

from tests import servers
from tests.servers import faults, processes, shared, state


async def test_postgresql_answers_with_pgvector_and_fsync() -> None:
    connection = await asyncpg.connect(servers.require("postgresql"))
    try:
        version = await connection.fetchval("SHOW server_version_num")
        vectors = await connection.fetchval("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")
        assert int(version) >= 180000
        assert vectors == 1
        assert await connection.fetchval("SHOW fsync") == "on"
    finally:
        await connection.close()


async def test_neo4j_answers_and_keeps_files_out_of_reach() -> None:
    url, user, password = split_credentials(servers.require("neo4j"))
    async with neo4j.AsyncGraphDatabase.driver(url, auth=(user, password)) as driver:
        answer = await driver.execute_query("CALL dbms.components() YIELD versions RETURN versions[0] AS version")
        assert answer.records[0]["version"].startswith("5.26")
        with pytest.raises(neo4j.exceptions.Neo4jError):
            await driver.execute_query("LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line")


@pytest.mark.slow
async def test_a_private_postgresql_keeps_its_data_over_an_immediate_stop() -> None:
    with servers.private("postgresql") as server:
        await run_sql(server.url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        server.stop("immediate")
        assert server.process() is None
        server.start()
        connection = await asyncpg.connect(server.url)
        assert await connection.fetchval("SELECT n FROM kept") == 7
        await connection.close()
    assert server.process() is None
    assert not server.home.exists()


def test_a_second_user_joins_the_server_that_runs(own_state: None) -> None:
    first = shared.join("postgresql")
    again = shared.join("postgresql")
    assert again.server.pid == first.server.pid
    assert len(again.users) == 1


def test_the_last_user_stops_the_server(own_state: None) -> None:
    joined = shared.join("postgresql")
    shared.leave("postgresql", joined.users[0])
    assert state.find_shared("postgresql") is None
    assert joined.server.process() is None


def test_a_killed_server_comes_back_under_the_same_url(own_state: None) -> None:
    before = shared.join("postgresql").server
    faults.restart_postgresql("immediate")
    after = shared.join("postgresql").server
    assert after.url == before.url
    assert after.pid != before.pid


def test_a_process_with_a_reused_id_is_not_ours(own_state: None) -> None:
    server = shared.join("postgresql").server
    assert processes.find_process(server.pid, server.started) is not None
    assert processes.find_process(server.pid, server.started - 1) is None


def test_a_given_url_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UGS_TEST_POSTGRESQL", "postgresql://me@elsewhere/db")
    assert servers.postgresql_url() == "postgresql://me@elsewhere/db"


def test_a_missing_server_is_a_skip_in_words_and_in_ci_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UGS_TEST_NEO4J", raising=False)
    monkeypatch.setitem(shared._failures, "neo4j", servers.ServerUnavailable("neo4j: needs Java 17+"))
    monkeypatch.setenv("CI", "")
    with pytest.raises(pytest.skip.Exception, match=r"needs Java 17\+.*UGS_TEST_NEO4J"):
        servers.require("neo4j")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="CI needs neo4j"):
        servers.require("neo4j")


@pytest.fixture
def own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A state folder of one's own, so that the shared servers of other tests stay untouched."""
    monkeypatch.setenv("UGS_TEST_SERVERS", str(tmp_path))
    monkeypatch.setattr(shared, "_joined", set())
    monkeypatch.setattr(shared, "atexit", SimpleNamespace(register=lambda *call: None))
    yield
    shared.stop("postgresql")


async def run_sql(url: str, statements: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statements)
    await connection.close()


def split_credentials(url: str) -> tuple[str, str, str]:
    scheme, rest = url.split("://")
    credentials, address = rest.split("@")
    user, password = credentials.split(":")
    return f"{scheme}://{address}", user, password
