"""Search by likeness: `python -m bench.vectors`.

The ten most alike of many vectors, on each store natively, by the port's default (every vector is fetched and
compared: the exact scan), and where a store has one by its index that may miss some. Recall is the share of the exact
scan's answer that was found, ties counting as they stand.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles

import msgspec
from msgspec import Struct

from bench.features import BUILD, empty_url
from bench.noise import Spent, Stopwatch
from bench.results import parse_size, size_name
from bench.stores import STORES
from ugs.changes import TableWrites
from ugs.connect import storage_for
from ugs.feature_registry import CATALOG
from ugs.reads.vector_search import Near, Scored, Vector, nearest_of
from ugs.storage import Session, Storage
from ugs.vectors.hashing_embedder import HashingEmbedder
from ugs.vectors.model import NODE_VECTORS, Embedding

RESULT_SIZE = 10
BATCH_SIZE = 1_000
SCANS, BUILDING = 4, 3_600
QUICK = ("postgresql", "neo4j")
"""Stores with an index of their own that may miss some."""
SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "or", "pu", "ra", "se", "ti", "vo", "wu", "ze")


class Figure(Struct, frozen=True):
    """How long a search took, and how much it found of what there was to find."""

    store: str
    side: str
    vectors: int
    prepared_seconds: float
    """To load the vectors, or to build the index."""
    median_ms: float
    p95_ms: float
    cpu_ms: float
    """CPU of one search, the server's included: what is left when others keep the machine busy."""
    recall: float


def texts(count: int, seed: int) -> list[str]:
    """Sentences of made-up words, of which some are said far more often than others."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(5_000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    return [" ".join(chance.choices(words, weights, k=8)) for _ in range(count)]


def vectors(count: int, seed: int) -> list[Vector]:
    return [vector for vector in HashingEmbedder().embed(texts(count, seed)) if vector is not None]


async def load(storage: Storage, rows: Sequence[Embedding]) -> float:
    started = time.perf_counter()
    for start in range(0, len(rows), BATCH_SIZE):
        async with storage.session(write=True) as session:
            await session.append(
                (), {NODE_VECTORS.vectors: TableWrites(inserts=list(rows[start : start + BATCH_SIZE]))}
            )
    return time.perf_counter() - started


Search = Callable[[Session, Near], Awaitable[list[Scored]]]


async def search_natively(session: Session, near: Near) -> list[Scored]:
    return await session.nearest(NODE_VECTORS.vectors, near)


async def search_by_scan(session: Session, near: Near) -> list[Scored]:
    return await Session.nearest(session, NODE_VECTORS.vectors, near)


async def measure_searches(
    store: str, storage: Storage, search: Search, asked: Sequence[Vector], rows: Sequence[Embedding]
) -> tuple[list[Spent], float]:
    """What each search took, and the recall."""
    took, found = [], 0
    watch = Stopwatch(STORES[store].process_ids())
    for vector in asked:
        near = Near("vector", vector, RESULT_SIZE)
        watch.restart()
        async with storage.session() as session:
            answer = await search(session, near)
        took.append(watch.read())
        right = {scored.row.id for scored in nearest_of(rows, NODE_VECTORS.vectors, near)}
        found += sum(scored.row.id in right for scored in answer)
    return took[1:], found / (RESULT_SIZE * len(asked))  # the first one builds what is built once


async def measure(store: str, url: str, rows: list[Embedding], asked: list[Vector]) -> list[Figure]:
    """What a store does exactly; then the same rows with its quick index, where it has one."""
    async with open_storage(url) as storage:
        await storage.wipe()
        seconds = await load(storage, rows)
        figures = [
            await figure(store, "native", seconds, storage, search_natively, asked, rows),
            await figure(store, "scan", seconds, storage, search_by_scan, asked[:SCANS], rows),
        ]
    if store in QUICK:
        started = time.perf_counter()
        async with open_storage(
            f"{url}{'&' if '?' in url else '?'}hnsw={HashingEmbedder.dimension}&deadline={BUILDING}"
        ) as storage:
            built = time.perf_counter() - started
            figures.append(await figure(store, "index", built, storage, search_natively, asked, rows))
            await storage.wipe()
    return figures


@asynccontextmanager
async def open_storage(url: str) -> AsyncIterator[Storage]:
    storage = storage_for(url)
    await storage.open(CATALOG)
    try:
        yield storage
    finally:
        await storage.close()


async def figure(
    store: str,
    side: str,
    seconds: float,
    storage: Storage,
    search: Search,
    asked: Sequence[Vector],
    rows: Sequence[Embedding],
) -> Figure:
    took, recall = await measure_searches(store, storage, search, asked, rows)
    walls = [spent.wall * 1000 for spent in took]
    cpu = sum(spent.own + spent.server for spent in took) / len(took) * 1000
    times = (round(one, 2) for one in (median(walls), quantiles(walls, n=20)[-1], cpu))
    made = Figure(store, side, len(rows), round(seconds, 1), *times, round(recall, 4))
    print(line(made), flush=True)
    return made


def line(figure: Figure) -> str:
    return (
        f"{figure.store:<11}{figure.side:<8}{size_name(figure.vectors):>6}   prepared {figure.prepared_seconds:>6.1f} s"
        f"{figure.median_ms:>10.1f} ms{figure.p95_ms:>10.1f} ms p95{figure.cpu_ms:>10.1f} ms CPU"
        f"   recall {figure.recall:.3f}"
    )


async def run(stores: Sequence[str], size: int, questions: int) -> list[Figure]:
    rows = [Embedding(f"n{number}", 0, vector) for number, vector in enumerate(vectors(size, 1))]
    asked = vectors(questions, 2)
    figures = []
    for store in stores:
        with empty_url(store) as url:
            figures += await measure(store, url, rows, asked)
    return figures


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.vectors", description="search by likeness on every store")
    parser.add_argument("--stores", default=",".join(STORES), help=f"of {','.join(STORES)}")
    parser.add_argument("--size", type=parse_size, default=100_000, help="how many vectors")
    parser.add_argument("--questions", type=int, default=50, help="how many searches")
    parser.add_argument("--output", type=Path, default=BUILD / "vectors.json", help="where the figures go")
    asked = parser.parse_args(arguments)
    figures = asyncio.run(run(asked.stores.split(","), asked.size, asked.questions))
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")


if __name__ == "__main__":
    main()
