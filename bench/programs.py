"""Programs: `python -m bench.programs`.

How long validation takes when everything is new and when the queries are known, what the executor costs beside the
same queries asked by hand, and the seed's complete example on a graph of many concepts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from bench.features import Call, Figure, empty_url, measure_rate, parser, report
from ugs import cypher
from ugs.feature_registry import CATALOG
from ugs.graph.api import Graph
from ugs.log.replay import copy_log
from ugs.programs import load_builtin_programs, parse_text, validate
from ugs.programs.api import Programs
from ugs.programs.validation.query_safety import check_query
from ugs.system import System

WORDS = ("organizational", "learning", "structure", "pattern", "memory", "change", "market", "network", "culture")
CHUNK = 5_000
COMPLETE = """-- Exploration: Organizational Patterns

-- Step 1: Find organizational concepts
+ MATCH (c:Concept)-[r]-(n:Concept) WHERE c.label CONTAINS 'organizational' RETURN c, r, n LIMIT 50;

-- Step 2: Add semantically similar concepts
+ @api /search/concepts {"query": "organizational", "min_similarity": 0.7, "limit": 10};

-- Step 3: Remove weakly grounded concepts
- MATCH (n:Concept) WHERE n.grounding_strength < 0.2 RETURN n;

-- Step 4: Keep only concepts with SUPPORTS relationships
& MATCH (c:Concept)-[:SUPPORTS]->(target:Concept) RETURN c, target;
"""
SEED = "MATCH (c) WHERE id(c) = 'c17' RETURN c"
EXPAND = "MATCH (c)-[r]-(n) WHERE id(c) = 'c17' RETURN c, r, n"
SHORT = f"! {SEED};\n\n+ {EXPAND};"


def concepts(count: int) -> Iterator[dict[str, Any]]:
    """A graph of concepts, a part at a time, each with a few relationships to older ones."""
    random = Random(7)
    for start in range(0, count, CHUNK):
        numbers = range(start, min(start + CHUNK, count))
        yield {
            "nodes": [
                {
                    "id": f"c{n}",
                    "type": "Concept",
                    "properties": {
                        "label": " ".join(random.choices(WORDS[1:], k=2)) if n % 1_000 else f"organizational {n}",
                        "grounding_strength": round(random.random(), 3),
                    },
                }
                for n in numbers
            ],
            "edges": [
                {
                    "id": f"e{n}_{k}",
                    "from": f"c{n}",
                    "to": f"c{random.randrange(n)}",
                    "type": random.choice(["SUPPORTS", "IMPLIES", "CONTRADICTS"]),
                }
                for n in numbers
                if n
                for k in range(3)
            ],
        }


def checks() -> Iterator[tuple[str, str, Call]]:
    """Validation, which needs no store: of the seed's example, and of every ready-made program."""
    programs = {"the complete example": parse_text(COMPLETE).program}
    programs |= {name: tree.as_json() for name, tree in load_builtin_programs().items()}
    for name, raw in programs.items():
        yield f"validate {name}", "first time", partial(validate_text, raw, True)
        yield f"validate {name}", "known", partial(validate_text, raw, False)


async def validate_text(raw: object, anew: bool, _: int) -> None:
    if anew:
        check_query.cache_clear()
        cypher.prepare.cache_clear()
    assert validate(raw).valid


def program_calls(system: System) -> Iterator[tuple[str, str, Call]]:
    """Programs, and the same queries by hand."""
    programs = Programs(system)
    short, complete = parse_text(SHORT).program, parse_text(COMPLETE).program

    async def two_queries(_: int) -> None:
        await programs.execute(short)

    async def by_hand(_: int) -> None:
        async with system.session() as session:
            await cypher.run(session, SEED)
            await cypher.run(session, EXPAND)

    async def run_program(_: int) -> None:
        found = await programs.execute(complete)
        assert found.aborted is None, found.aborted

    yield "two queries", "program", two_queries
    yield "two queries", "by hand", by_hand
    yield "the seed's complete example", "program", run_program


async def measure(store: str, source: System, seconds: float) -> list[Figure]:
    with empty_url(store) as url:
        async with System.at_url(url) as system:
            await system.storage.wipe()
            await copy_log(source.storage, system.storage, CATALOG)
            await system.vectors.ready(None, 600)
            return [
                await measure_rate(store, work, side, 1, seconds, call) for work, side, call in program_calls(system)
            ]


async def run(stores: list[str], nodes: int, seconds: float) -> list[Figure]:
    figures = [await measure_rate("memory", work, side, 1, seconds / 10, call) for work, side, call in checks()]
    async with System.at_url("memory:") as source:
        for part in concepts(nodes if stores else 0):
            await Graph(source).import_graph(part)
        return figures + [figure for store in stores for figure in await measure(store, source, seconds)]


def main(arguments: list[str] | None = None) -> None:
    options = parser("programs", "validation and execution of programs")
    options.add_argument("--nodes", type=int, default=100_000, help="how many concepts the graph has")
    asked = options.parse_args(arguments)
    report(asyncio.run(run(asked.stores.split(",") if asked.stores else [], asked.nodes, asked.seconds)), asked.output)


if __name__ == "__main__":
    main()
