"""Attacks A50 to A56 and A58: hostile texts change nothing, read no file, open no socket, and end in time.

What is refused and why is tested in `test_refusals`; here everything goes through the call that every door makes, and
what the process does meanwhile is watched.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

from tests import servers
from tests.ugs.cypher.test_refusals import ESCAPES, HOSTILE, WRITES
from tests.work import TIMED
from ugs.cypher import Limits
from ugs.cypher import api as cypher_api
from ugs.errors import DeadlineExceeded, LimitExceeded, UgsError
from ugs.facts.api import Facts
from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.identity import Principal
from ugs.system import System
from ugs_backends.neo4j.connection import Connection
from ugs_backends.neo4j.url import parse_address

WATCHED = ("open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "exec", "compile")
SEEN: list[tuple[str, Any]] = []
watching = False
SPLICED = ["'", '"', "`", "\\u0027", "'}) DETACH DELETE n //", "$name", "]->() DELETE", "\u2028", "*/ DELETE n /*"]
PATTERNS = ["(a+)+$", "(a|aa)+$", "(.*a){20}", "([a-zA-Z]+)*$", "a{1,1000}{1,1000}"]
LIMITS = Limits(seconds=0.5, work=300_000, held=100_000)


def _hear(event: str, arguments: Any) -> None:
    if watching and event in WATCHED:
        SEEN.append((event, arguments))


sys.addaudithook(_hear)


@contextmanager
def watched() -> Iterator[list[tuple[str, Any]]]:
    """What the process opens and starts meanwhile."""
    global watching
    SEEN.clear()
    watching = True
    try:
        yield SEEN
    finally:
        watching = False


async def attack(system: System, text: str, params: dict[str, Any] | None = None) -> float:
    """Ask, whatever comes of it; answers how long it took."""
    began = time.monotonic()
    with suppress(UgsError):
        await cypher_api.ask(system, text, params, view="ALL", limits=LIMITS)
    return time.monotonic() - began


@TIMED
async def test_no_hostile_text_does_anything_but_read_in_time() -> None:
    async with System.at_url("memory:") as system:
        await Graph(system).load_demo()
        await attack(system, "MATCH (n) RETURN date() AS d, n.x =~ 'a' AS m")  # whatever is loaded on first use
        before = await system.digest()
        with watched() as seen:
            took = [await attack(system, text) for text in [*HOSTILE, *ESCAPES]]
            took += [await attack(system, f"MATCH (n) WHERE n.name = '{evil}' RETURN n") for evil in SPLICED]
            took += [await attack(system, "MATCH (n) WHERE n.name = $x RETURN n", {"x": evil}) for evil in SPLICED]
            took += [await attack(system, "RETURN $t =~ $p", {"t": "a" * 5000 + "!", "p": p}) for p in PATTERNS]

        assert seen == []
        assert len(took) > 500
        assert max(took) < 5
        assert await system.digest() == before


HUGE = "MATCH (a)-[:R]->(b)-[:R]->(c)-[:R]->(d)-[:R]->(e)-[:R]->(f)-[:R]->(g) RETURN count(*)"


@TIMED
@pytest.mark.parametrize("store", ["memory", "sqlite", "postgresql", "neo4j"])
async def test_no_store_goes_on_with_a_question_that_nobody_waits_for(store: str, tmp_path: Path) -> None:
    """A pattern with 10^10 matches: the store is asked for their number, and told to stop."""
    with servers.exclusive("neo4j") if store == "neo4j" else nullcontext():
        async with System.at_url(url_for(store, tmp_path)) as system:
            await system.storage.wipe()
            await dense(system)
            began = time.monotonic()
            with pytest.raises((DeadlineExceeded, LimitExceeded)):
                await cypher_api.ask(system, HUGE, limits=LIMITS)
            assert time.monotonic() - began < 6
            assert (await cypher_api.ask(system, "MATCH (n:N) RETURN count(n) AS n")).rows == [(30,)]


def url_for(store: str, folder: Path) -> str:
    if store in ("memory", "sqlite"):
        return "memory:" if store == "memory" else f"sqlite:///{folder}/a.db"
    url = servers.require(store)
    return f"{url.partition('?')[0]}?schema=attacks" if store == "postgresql" else url


async def dense(system: System) -> None:
    """Thirty nodes, each with an edge to every other."""
    names = [f"n{number}" for number in range(30)]
    await system.execute(Batch(operations=tuple(AddNode(id=name, type="N") for name in names)))
    edges = [AddEdge(id=None, source=a, target=b, type="R") for a in names for b in names if a != b]
    for start in range(0, len(edges), 500):
        await system.execute(Batch(operations=tuple(edges[start : start + 500])))


async def test_neo4j_itself_refuses_to_write_for_a_reader() -> None:
    url = servers.require("neo4j")
    with servers.exclusive("neo4j"):
        async with System.at_url(url) as system:
            await system.storage.wipe()
            await Graph(system).load_demo()
            before = await system.digest()
            connection = Connection(parse_address(url))
            writes = [text for text in WRITES if not text.startswith(("LOAD", "SHOW", "TERMINATE", "CALL d"))]
            for text in writes:
                with pytest.raises((UgsError, Neo4jError)):
                    await connection.run(text, write=False)
            await connection.close()

            assert await system.digest() == before


async def test_another_tenant_sees_no_fact_of_ours() -> None:
    async with System.at_url("memory:") as system:
        ours, theirs = (Principal("u", frozenset(), tenant, "p", "a") for tenant in ("ours", "theirs"))
        facts = Facts(system, ours)
        note = (await facts.add_note("said")).note_id
        await facts.add_fact("Ann", "knows", object="Bob", notes=[note])
        for query in ("MATCH (n) RETURN n", "MATCH (a)-[r]->(b) RETURN r", "MATCH (n {name: 'Ann'}) RETURN n.says"):
            for view in ("FACTS", "ALL"):
                assert (await cypher_api.ask(system, query, view=view, principal=ours)).rows
                assert (await cypher_api.ask(system, query, view=view, principal=theirs)).rows == []
