"""Graphiti's reads of facts, for `bench.facts`: run by an interpreter that has `graphiti-core`, without any model.

    python graphiti_reads.py <bolt URL with user and password> <facts> <seconds> [<process id of the server>]

Writes the facts as Graphiti keeps them (entities, RELATES_TO edges with valid_at and invalid_at), reads them by
`EntityEdge.get_by_node_uuid` and keeps those that hold, since that read knows no instant; prints JSON; cleans up.
"""

import asyncio
import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from random import Random
from urllib.parse import urlsplit

from graphiti_core.driver.neo4j_driver import Neo4jDriver
from graphiti_core.edges import EntityEdge

EACH = 10
START = datetime(2025, 1, 1, tzinfo=UTC)
GROUP = "ugs_bench"
LOAD = """
    UNWIND $rows AS row
    MERGE (s:Entity {uuid: row.subject}) ON CREATE SET s.name = row.subject, s.group_id = $group, s.created_at = $start
    MERGE (o:Entity {uuid: row.object}) ON CREATE SET o.name = row.object, o.group_id = $group, o.created_at = $start
    CREATE (s)-[:RELATES_TO {uuid: randomUUID(), name: 'WORKS_AT', fact: 'works at ' + row.object, group_id: $group,
      episodes: [], created_at: $start, valid_at: row.valid_at, invalid_at: row.invalid_at}]->(o)
"""


def cpu_of(pid):
    """Seconds of CPU that a process has spent, by Linux's own books; nothing without a process."""
    if pid is None:
        return 0.0
    with open(f"/proc/{pid}/stat") as told:
        user, system = told.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def rows_of(subject):
    for at in range(EACH):
        end = None if at == EACH - 1 else START + timedelta(days=10 * (at + 1))
        yield {
            "subject": f"ugs-person-{subject}",
            # Of its own for every subject: a firm with a thousand edges would make each walk from it slow.
            "object": f"ugs-firm-{subject}-{at}",
            "valid_at": START + timedelta(days=10 * at),
            "invalid_at": end,
        }


async def load(driver, subjects):
    await driver.execute_query("CREATE INDEX ugs_bench_entity IF NOT EXISTS FOR (n:Entity) ON (n.uuid)")
    await driver.execute_query("CALL db.awaitIndexes()")
    for first in range(0, subjects, 500):
        rows = [row for n in range(first, min(first + 500, subjects)) for row in rows_of(n)]
        await driver.execute_query(LOAD, rows=rows, group=GROUP, start=START)


async def rate(driver, subjects, callers, seconds, server):
    random = Random(1)
    end = time.perf_counter() + seconds

    async def keep_asking():
        done = 0
        while time.perf_counter() < end:
            instant = START + timedelta(days=random.random() * 10 * EACH)
            edges = await EntityEdge.get_by_node_uuid(driver, f"ugs-person-{random.randrange(subjects)}")
            held = [e for e in edges if e.valid_at <= instant and (e.invalid_at is None or e.invalid_at > instant)]
            assert len(held) == 1, (instant, edges)
            done += 1
        return done

    begun, cpu = time.perf_counter(), time.process_time() + cpu_of(server)
    done = sum(await asyncio.gather(*(keep_asking() for _ in range(callers))))
    spent = time.process_time() + cpu_of(server) - cpu
    return {
        "work": "held then (as of)",
        "callers": callers,
        "rate": round(done / (time.perf_counter() - begun), 1),
        "cpu_us": round(spent / done * 1e6, 1),
    }


async def main(url, facts, seconds, server=None):
    parts = urlsplit(url)
    driver = Neo4jDriver(f"bolt://{parts.hostname}:{parts.port}", parts.username, parts.password)
    subjects = int(facts) // EACH
    try:
        await load(driver, subjects)
        await rate(driver, subjects, 1, float(seconds) / 10, server)
        print(json.dumps([await rate(driver, subjects, callers, float(seconds), server) for callers in (1, 64)]))
    finally:
        async with driver.client.session() as session:
            clean = "MATCH (n:Entity {group_id: $group}) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS"
            await (await session.run(clean, group=GROUP)).consume()
            await (await session.run("DROP INDEX ugs_bench_entity IF EXISTS")).consume()
        await driver.close()


asyncio.run(main(*sys.argv[1:]))
