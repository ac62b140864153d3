"""Cache of plan statements by shape, with batching of concurrent requests and projection of columns.

A call costs the driver more than most results do, and compiling a deep statement more than running it. So plans of one
shape share a statement, concurrent requests share a call, and columns that are not rendered are not transferred.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from ugs.reads.batching_loader import BatchingLoader
from ugs.reads.plan import Read, ResultPage
from ugs.reads.plan_parameters import HOLES, PlanParameters
from ugs.reads.rendering import Rendering
from ugs.support.bounded_cache import BoundedCache
from ugs.tables import Kind
from ugs_backends.neo4j.read.column_filters import MAX_EXACT_INTEGER
from ugs_backends.neo4j.read.plan_query import Plans, PlanStatement
from ugs_backends.neo4j.read.projection import get_projection
from ugs_backends.neo4j.read.response_renderer import ResponseRenderer

MAX_STATEMENTS, MAX_STATEMENT_BYTES = 500, 16 << 20
STATEMENT_BYTES = 16_384
"""Approximate size of a cache entry, with the rendering and the shape in its key."""
BATCH_SIZE = 16
NESTED_BATCH_SIZE, NESTED_CONCURRENT_CALLS = 4, 4
"""Batch size and concurrent calls for plans with related rows: these load the server, which runs a call on one core, so
fewer share a call and more calls run. For single rows and plain lists the call itself is the main cost.
"""
MISSING: Any = object()
_PARAMETER = re.compile(r"\$(p\d+)\b")

Ask = Callable[..., Awaitable[list[list[Any]]]]
"""Runs a statement with parameters in its own transaction."""
Values = dict[str, Any]


Finish = Callable[[list[Any]], Any]
"""Converts a result to rows or text."""


class CachedPlan(Struct):
    """A cached statement."""

    slots: dict[str, int]
    """For each varying parameter, the index of its value in the plan."""
    shared: BatchingLoader[Values, Any]


def is_comparable(kind: Kind, value: Any) -> bool:
    """Whether a value can be compared with a column without coercion."""
    if isinstance(value, str):
        return kind is Kind.TEXT and value.isascii() and "\x00" not in value
    return kind is Kind.INTEGER and -MAX_EXACT_INTEGER < value < MAX_EXACT_INTEGER


class PlanCache:
    """Executes plans with cached statements."""

    def __init__(self, plans: Plans, ask: Ask) -> None:
        self._plans, self._ask = plans, ask
        self._kept: BoundedCache[tuple[Any, ...], CachedPlan | None] = BoundedCache(MAX_STATEMENTS, MAX_STATEMENT_BYTES)

    async def rows(self, plan: Read) -> ResultPage | None:
        """The result of a plan; None where Neo4j would not answer exactly."""
        rows: ResultPage | None = await self._answer(plan, None)
        return rows

    async def text(self, plan: Read, rendering: Rendering) -> bytes | None:
        """The rendered result of a plan; None where Neo4j would not answer exactly."""
        text: bytes | None = await self._answer(plan, rendering)
        return text

    async def _answer(self, plan: Read, rendering: Rendering | None) -> Any:
        varying = PlanParameters(is_comparable)
        holed = varying.read(plan)
        if holed is None:
            found = self._prepare(plan, PlanParameters(is_comparable), rendering)
            return None if found is None else await found.shared.ask({})
        key = (rendering, *varying.shape)
        kept = self._kept.get(key, MISSING)
        if kept is MISSING:
            kept = self._prepare(holed, varying, rendering)
            self._kept.put(key, kept, STATEMENT_BYTES)
        if kept is None:
            return None
        return await kept.shared.ask({name: varying.values[number] for name, number in kept.slots.items()})

    def _prepare(self, read: Read, varying: PlanParameters, rendering: Rendering | None) -> CachedPlan | None:
        """Compile the statement for plans of this shape, with the function that converts its result."""
        shown = None if rendering is None else get_projection(rendering)
        statement = self._plans.statement(read, shown)
        if statement is None:
            return None
        holes = varying.holes
        given = {name: holes.get(value) for name, value in statement.parameters.items() if type(value) in HOLES}
        slots = {name: number for name, number in given.items() if number is not None}
        if rendering is None or shown is None:
            return CachedPlan(
                slots, self._build_batching(read, statement, slots, lambda answer: statement.decode([answer]))
            )
        write = ResponseRenderer(self._plans.layouts, rendering.max_bytes).answer(rendering.root, read, shown)
        return CachedPlan(slots, self._build_batching(read, statement, slots, lambda answer: write(*answer).encode()))

    def _build_batching(
        self, read: Read, statement: PlanStatement, slots: dict[str, int], finish: Finish
    ) -> BatchingLoader[Values, Any]:
        text = combine_calls(statement.text, slots)
        same = {name: value for name, value in statement.parameters.items() if name not in slots}

        async def one(values: Values) -> Any:
            (answer,) = await self._ask(statement.text, **same, **values)
            return finish(answer)

        async def many(some: list[Values]) -> list[Any]:
            turns = [{**values, "turn": turn} for turn, values in enumerate(some)]
            answers = await self._ask(text, turns=turns, **same)
            return [finish(answer) for _, *answer in sorted(answers, key=_transpose)]

        return (
            BatchingLoader(one, many, NESTED_BATCH_SIZE, NESTED_CONCURRENT_CALLS)
            if read.nest
            else BatchingLoader(one, many, BATCH_SIZE)
        )


def _transpose(answer: list[Any]) -> int:
    turn: int = answer[0]
    return turn


def combine_calls(text: str, slots: dict[str, int]) -> str:
    """The statement for many sets of values, as one call."""
    varied = _PARAMETER.sub(lambda found: f"k.{found[1]}" if found[1] in slots else found[0], text)
    return f"UNWIND $turns AS k RETURN k.turn, {varied.removeprefix('RETURN ')}"
