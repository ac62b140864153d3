"""F30, F31, F32 from two gateway processes: whoever writes at once, one fact holds and nothing that was said is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.faults.children import child
from tests.faults.figures import Figures
from tests.faults.stores import SHARED, fresh_url
from tests.faults.workers import serve_store
from ugs.facts.api import Facts
from ugs.facts.model import ENTITIES, EVIDENCE, FACTS, SUPERSESSIONS, Fact
from ugs.system import System

SPELLINGS = ("Alice Doe", " alice   doe", "ALICE\tDOE ", "aLICE dOE")
VALUES = 75
"""So many different values are said at once; the rest says again what somebody else says."""
ADD = """mutation($subject: String!, $predicate: String!, $value: String!, $note: String!, $key: String!) {
  addFact(input: {scope: "project_shared", subject: {name: $subject}, predicate: $predicate, objectValue: $value,
    notes: [{text: $note}], idempotencyKey: $key}) { created fact { factId } } }"""
UPSERT = """mutation($name: String!, $kind: String!, $key: String!) {
  upsertEntity(input: {name: $name, kind: $kind, idempotencyKey: $key}) { entity { entityId } } }"""


@contextmanager
def two_gateways(url: str) -> Iterator[list[str]]:
    """Where two processes serve the same store; they start together, too."""
    with child(serve_store, url) as one, child(serve_store, url) as other:
        yield [process.tell(patience=60).rstrip("/") for process in (one, other)]


class Crowd:
    """Many callers of both gateways at once."""

    def __init__(self, client: httpx.AsyncClient, urls: list[str]) -> None:
        self.client, self.urls = client, urls
        self.repeated = 0

    async def ask(self, number: int, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        """One request to one of the gateways, under its key until it is answered, as a good client does."""
        url = self.urls[number % len(self.urls)]
        while (answer := await self._answer(f"{url}/graphql", {"query": query, "variables": variables})) is None:
            self.repeated += 1
            await asyncio.sleep(0.5)
        return answer

    async def _answer(self, url: str, request: dict[str, Any]) -> dict[str, Any] | None:
        """The data of an answer; None when the gateway was too busy. Nothing may be refused for good."""
        try:
            answer = (await self.client.post(url, json=request)).json()
        except httpx.TransportError:
            return None
        errors = answer.get("errors", [])
        assert all(error["extensions"]["retryable"] for error in errors), answer
        data: dict[str, Any] | None = None if errors else answer["data"]
        return data

    async def all(self, query: str, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return await asyncio.gather(*(self.ask(number, query, given) for number, given in enumerate(asked)))


@asynccontextmanager
async def crowd(urls: list[str], size: int) -> AsyncIterator[Crowd]:
    limits = httpx.Limits(max_connections=size, keepalive_expiry=1)
    async with httpx.AsyncClient(limits=limits, timeout=300, trust_env=False) as client:
        yield Crowd(client, urls)


@pytest.mark.clause("FACT-2", "FACT-13", "FACT-62", "FACT-72", "FACT-73", "FACT-79", "FACT-81")
@pytest.mark.parametrize("store", SHARED)
async def test_facts_said_at_once_through_two_gateways(
    store: str, tmp_path: Path, full: bool, figures: Figures
) -> None:
    writers = 1_000 if full else 200
    with fresh_url(store, tmp_path) as url:
        async with System.at_url(url) as system:
            await system.storage.wipe()
            await Facts(system).register_predicate("works at", status="active", cardinality="single")
            await Facts(system).upsert_entity("bob")
        with two_gateways(url) as urls, figures.timed(f"F30-F32 facts, two gateways, {store}"):
            async with crowd(urls, writers) as callers:
                chained, same, named = await asyncio.gather(
                    callers.all(ADD, [said("bob", "works at", f"c{n % VALUES}", n) for n in range(writers)]),
                    callers.all(ADD, [said("carol", "likes", "tea", n) for n in range(writers)]),
                    callers.all(UPSERT, [spelled(n) for n in range(writers)]),
                )
        async with System.at_url(url) as system:
            await check_chain(system, chained)
            await check_same(system, same)
            assert len({one["upsertEntity"]["entity"]["entityId"] for one in named}) == 1
            entities = await rows(system, ENTITIES)
            assert sorted(entity.canonical_norm for entity in entities) == ["alice doe", "bob", "carol"]
            assert (await system.verify()).ok
    figures.add(f"F30-F32 facts, two gateways, {store}", writers=writers, repeated=callers.repeated)


def said(subject: str, predicate: str, value: str, number: int) -> dict[str, Any]:
    fact = {"subject": subject, "predicate": predicate, "value": value}
    return {**fact, "note": f"note {number}", "key": f"{subject} {number}"}


def spelled(number: int) -> dict[str, Any]:
    return {"name": SPELLINGS[number % 4], "kind": f"k{number % 2}", "key": f"name {number}"}


async def rows(system: System, table: Any) -> list[Any]:
    async with system.session() as session:
        return await session.fetch(table)


async def check_chain(system: System, answers: list[dict[str, Any]]) -> None:
    """F30: one open fact, each other one ends where the next begins, and a supersession tells why."""
    facts: list[Fact] = sorted(
        (fact for fact in await rows(system, FACTS) if fact.predicate == "works at"), key=lambda fact: fact.valid_from
    )
    ids = {fact.fact_id for fact in facts}
    assert [fact.valid_to for fact in facts] == [after.valid_from for _, after in pairwise(facts)] + [None]
    assert len(facts) == [one["addFact"]["created"] for one in answers].count(True) >= VALUES
    links = await rows(system, SUPERSESSIONS)
    assert {link.from_fact_id for link in links} == {fact.fact_id for fact in facts[:-1]} and len(links) == len(
        facts
    ) - 1
    assert sum(row.fact_id in ids for row in await rows(system, EVIDENCE)) == len(answers)


async def check_same(system: System, answers: list[dict[str, Any]]) -> None:
    """F31: one row, made by one of them, with everybody's evidence."""
    (id,) = {one["addFact"]["fact"]["factId"] for one in answers}
    assert [one["addFact"]["created"] for one in answers].count(True) == 1
    assert [fact.fact_id for fact in await rows(system, FACTS) if fact.predicate == "likes"] == [id]
    assert sum(row.fact_id == id for row in await rows(system, EVIDENCE)) == len(answers)
