"""Caches: bounded by entries and by bytes, all of them, and found by a test rather than by memory."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
import tracemalloc
from math import inf
from pathlib import Path
from weakref import WeakSet

import pytest

import ugs
from ugs.programs.validation.query_safety import check_query
from ugs.reads.rendering import LONGEST_KNOWN, MAX_KNOWN, _Known
from ugs.support.bounded_cache import CHECK_INTERVAL_BYTES, BoundedCache, bounded_cache
from ugs_gateway.graphql.persisted_documents import Documents, document_hash
from ugs_gateway.graphql.request import GraphQLRequest
from ugs_gateway.settings import Settings
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor

ROOT = Path(ugs.__file__).parent.parent
MAX_TOTAL_BYTES = 640 << 20
"""Of all caches of a gateway with one store, when every one of them is full."""

OTHERWISE_BOUNDED = {
    "gateway/ugs_gateway/http/authority.py": "a bounded number of hosts, each no longer than a host name may be",
    "ugs/log/log_reader.py": "a bounded number of audiences, each of a few names",
    "backends/ugs_backends/memory/wal/line_codec.py": "one entry for each catalog",
    "backends/ugs_backends/memory/tables/insert_codegen.py": "one entry for each table of the catalog",
    "backends/ugs_backends/neo4j/read/projection.py": "tables of the catalog and the orders their fields allow",
    "backends/ugs_backends/sql/compiler/conditions.py": "one entry for each table of the catalog",
    "backends/ugs_backends/sql/dialect.py": "one entry for each relation of the catalog",
    "ugs/reads/sort_keys.py": "numbers of at most 64 bits",
    "backends/ugs_backends/sql/postgresql/statement_batch.py": "statements made of the catalog alone",
    "backends/ugs_backends/sql/postgresql/optimistic_session.py": "statements made of the catalog alone",
    "backends/ugs_backends/sql/postgresql/formats.py": "a bounded number of instants, each eight bytes or a short text",
    "backends/ugs_backends/sql/postgresql/word_index.py": "at most 64 numbers each",
    "backends/ugs_backends/sql/row_codec.py": "tables of the catalog",
    "backends/ugs_backends/sql/sqlite/trigram_index.py": "no arguments",
    "backends/ugs_backends/sql/sqlite/vector_extension.py": "no arguments",
    "backends/ugs_backends/sql/compiler/statements.py": "tables of the catalog under the few names of statements",
    "backends/ugs_backends/sql/plans/plan_query.py": "tables of the catalog",
    "gateway/ugs_gateway/graphql/graphiql.py": "one page",
    "gateway/ugs_gateway/rest/documentation.py": "the files of the site",
    "gateway/ugs_gateway/mcp/app/page.py": "one page",
    "gateway/ugs_gateway/studio/application.py": "the files of the application",
    "schema/ugs_schema/schema_variants.py": "one text, the schema as a subgraph",
    "ugs/facts/search_terms.py": "20,000 words, none longer than the tokenizer makes them",
    "ugs/recall/token_budget.py": "the tokenizer that is configured",
    "schema/ugs_schema/compiler/executor.py": "16 compiled forms of a document, counted with it",
    "ugs/actors/registry.py": "no arguments",
    "ugs/support/bounded_cache.py": "the cache itself",
    "ugs/connect.py": "one entry for each installed backend",
    "ugs/cypher/temporal/zone_files.py": "time zones that exist",
    "ugs/cypher/temporal/zones.py": "time zones that exist",
    "ugs/graph/fast_adds.py": "1,024 types of at most 256 characters",
    "ugs/graph/text/tokenizer.py": "1,024 types of at most 256 characters",
    "ugs/programs/builtin_programs.py": "the programs that come along",
    "ugs/reads/vector_search.py": "10,000 tuples of four numbers",
    "ugs/vectors/embedders.py": "installed embedders",
    "ugs/vectors/hashing_embedder.py": "20,000 words of at most 32 letters",
}
"""Modules that remember in another way, and why that cannot grow without end."""


FULL_CACHES = """
import asyncio, gc, importlib, pkgutil
import ugs, ugs_backends, ugs_gateway, ugs_schema
from ugs.support.bounded_cache import BoundedCache
from ugs.system import System

for package in (ugs, ugs_gateway, ugs_schema, ugs_backends):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith(("checked", "__main__")):  # `checked` is for Windows
            importlib.import_module(module.name)

from ugs_gateway.fastpath.request_cache import RequestCache
from ugs_gateway.graphql.persisted_documents import Documents
from ugs_gateway.settings import Settings
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.graph.subscriptions import States


async def main():
    async with System.at_url("memory:") as system:
        kept = [OperationExecutor(build_schema()), RequestCache(), Documents(Settings()), States(system)]
        gc.collect()
        caches = list(BoundedCache.instances)
        for cache in caches:
            marks = [object() for _ in range(cache.max_entries + 10)]
            for mark in marks:
                cache.put(mark, None, cache.max_bytes // 3)
            assert len(cache) <= 3 and cache.bytes <= cache.max_bytes, cache
            for mark in marks:
                cache.put(mark, None, 1)
            assert len(cache) <= cache.max_entries, cache
            cache.clear()
        assert kept
        print(len(caches), sum(cache.max_bytes for cache in caches))


asyncio.run(main())
"""


def test_the_oldest_go_when_there_are_too_many_entries_or_bytes() -> None:
    cache: BoundedCache[int, str] = BoundedCache(3, 100)
    for number in range(3):
        cache.put(number, str(number), 10)
    assert cache.get(0) == "0"
    cache.put(3, "3", 10)
    assert list(cache) == [2, 0, 3] and cache.get(1) is None and cache.bytes == 30
    cache.put(4, "4", 85)
    assert list(cache) == [3, 4] and cache.bytes == 95
    cache.put(4, "again", 5)
    assert list(cache) == [3, 4] and cache.bytes == 15 and len(cache) == 2
    cache.put(4, "too large", 101)
    assert list(cache) == [3] and cache.get(4, "none") == "none" and cache.bytes == 10
    assert cache.pop(3) == "3" and cache.pop(3) is None and cache.bytes == 0
    cache.put(5, "5", 1)
    cache.clear()
    assert (len(cache), cache.bytes, 5 in cache) == (0, 0, False)


def test_all_caches_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedCache, "instances", WeakSet())
    monkeypatch.setattr(BoundedCache, "max_total_bytes", inf)
    monkeypatch.setattr(BoundedCache, "unchecked_bytes", 0)
    large: BoundedCache[int, str] = BoundedCache(1_000, 8 << 20)
    small: BoundedCache[int, str] = BoundedCache(1_000, 1 << 20)
    for number in range(16):
        large.put(number, "", 400 << 10)
    small.put(0, "kept", 100 << 10)
    BoundedCache.limit_all(4 << 20)
    assert large.bytes + small.bytes <= 4 << 20 and small.get(0) == "kept" and large.get(15) == ""
    for number in range(16, 64):
        large.put(number, "", 400 << 10)
        assert large.bytes + small.bytes <= (4 << 20) + CHECK_INTERVAL_BYTES + (400 << 10)
    assert small.get(0) == "kept"
    BoundedCache.limit_all(0)
    assert (len(large), len(small)) == (0, 0)


def test_a_function_remembers_within_the_bound() -> None:
    calls: list[str] = []

    @bounded_cache(max_entries=10, max_bytes=5_000, factor=10)
    def upper(text: str, mark: str = "") -> str:
        calls.append(text)
        return text.upper() + mark

    assert (upper("a"), upper("a"), upper("a", mark="!"), upper("a", mark="!")) == ("A", "A", "A!", "A!")
    assert calls == ["a", "a"]
    for _ in range(2):
        upper("x" * 1_000)  # larger than the whole cache: never kept
    assert calls[2:] == ["x" * 1_000] * 2 and upper.cache.bytes <= 5_000
    upper.cache_clear()
    assert upper("a") == "A" and len(calls) == 5


def test_every_cache_of_a_gateway_keeps_its_bound_with_large_entries() -> None:
    """In a process of its own: caches of other tests' gateways may still be alive in this one."""
    run = subprocess.run([sys.executable, "-c", FULL_CACHES], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert run.returncode == 0, run.stderr
    count, total = map(int, run.stdout.split())
    assert count >= 12 and total <= MAX_TOTAL_BYTES


def test_nothing_else_remembers_what_clients_send() -> None:
    """A new `lru_cache`, `cache` or `OrderedDict` is either a `BoundedCache` or stands on the list with its reason."""
    found = set()
    for folder in ("ugs", "gateway", "schema", "backends"):
        for path in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(path.read_text("utf-8"))
            names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
            if names & {"lru_cache", "cache", "OrderedDict"}:
                found.add(path.relative_to(ROOT).as_posix())
    assert found == OTHERWISE_BOUNDED.keys()


def test_large_texts_of_programs_do_not_stay() -> None:
    check_query.cache_clear()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(40):
            check_query(f"// {number}\nRETURN '{'x' * 1_000_000}'")
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 24 << 20
    finally:
        tracemalloc.stop()


def test_large_documents_do_not_stay() -> None:
    operations, documents = OperationExecutor(build_schema()), Documents(Settings())
    for number in range(120):
        text = f"{{ stats {{ nodes }} }} # {number}\n{' ' * 60_000}"
        operations.prepare(text)
        hash = document_hash(text)
        documents.keep(GraphQLRequest(text, extensions={"persistedQuery": {"version": 1, "sha256Hash": hash}}))
    assert 0 < operations.documents < 20 and 0 < len(documents._sent) < 100


def test_texts_as_json_are_kept_within_bounds() -> None:
    known = _Known()
    assert known["x" * (LONGEST_KNOWN - 2)] == known["x" * (LONGEST_KNOWN - 2)]
    assert len(known["y" * LONGEST_KNOWN]) == LONGEST_KNOWN + 2
    assert [len(text or "") for text in known] == [LONGEST_KNOWN - 2]
    assert all(known[f"t{number}"] == f'"t{number}"' for number in range(MAX_KNOWN + 10))
    assert len(known) == MAX_KNOWN
