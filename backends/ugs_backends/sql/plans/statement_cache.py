"""Cache of the statements that render JSON in the database, with batching of concurrent requests.

Plans of one shape differ in a few values. Their statement is cached with placeholders for these, in two forms: for one
set of values, and for many. At most two executions per statement are in flight; requests that arrive meanwhile share
the next one, so the number of statements per response falls under load. An idle gateway never waits for a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ugs.reads.batching_loader import BatchingLoader
from ugs.reads.filters import Op
from ugs.reads.plan import Read
from ugs.reads.plan_parameters import PlanParameters
from ugs.reads.rendering import Rendering, answer_too_large
from ugs.storage.read_position import is_position_asked
from ugs.support.bounded_cache import BoundedCache
from ugs.tables import Kind
from ugs_backends.sql.compiler import access_path
from ugs_backends.sql.compiler.comparison_coercion import CoercedComparison, coerce_comparison
from ugs_backends.sql.compiler.statements import BoundStatement
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.connections.pool import Pool
from ugs_backends.sql.native_session import NativeSession, is_one_statement
from ugs_backends.sql.plans.json_renderer import TYPES, JsonRenderer
from ugs_backends.sql.session import StoreContext

MAX_STATEMENTS, MAX_STATEMENT_BYTES = 500, 16 << 20
STATEMENT_BYTES = 8_192
"""Approximate size of a cache entry besides the statement text: the rendering and the shape in its key."""
MAX_FAILURES = 3
"""After this many consecutive failures a shape is treated as not renderable."""

Key = tuple[Any, ...]


class Statement(Struct):
    """A cached statement."""

    alone: str
    slots: list[tuple[int | None, Any]]
    """For each parameter, the index of its value in the plan, or a constant."""
    shared: BatchingLoader[list[Any], Any] | None = None
    failures: int = 0
    """Number of consecutive responses that the database could not complete."""

    def parameters(self, values: Sequence[Any]) -> list[Any]:
        return [constant if number is None else values[number] for number, constant in self.slots]


UNWRITABLE = Statement("", [])
"""Marks a shape that the database cannot render."""


def is_comparable(kind: Kind, value: Any) -> bool:
    """Whether a value can be compared with a column without coercion."""
    if kind is Kind.TEXT and type(value) is str and value.isascii():
        return "\x00" not in value
    return coerce_comparison(kind, Op.EQ, value) == CoercedComparison(Op.EQ, value)


class StatementCache:
    """Renders plans as JSON text in the database."""

    def __init__(self, shape: StoreContext, pool: Pool[DriverConnection], writing: type[JsonRenderer]) -> None:
        self.shape, self.pool, self.writing = shape, pool, writing
        self._kept: BoundedCache[Key, Statement] = BoundedCache(MAX_STATEMENTS, MAX_STATEMENT_BYTES)

    async def text(self, plan: Read, rendering: Rendering) -> bytes | None:
        """The response of a plan; None where the database cannot render it."""
        varying = PlanParameters(is_comparable, self.shape.catalog.tables)
        # Values of placeholders are texts and integers, which are no values of columns with other types.
        holed = None if self._has_formats(plan) else varying.read(plan)
        if holed is None:
            return await self._render_uncached(plan, rendering)
        key = (rendering, *varying.shape)
        statement = self._kept.get(key)
        if statement is None:
            statement = self._keep(key, self._compile(holed, rendering, varying))
        if not statement.alone:
            return None
        parameters = statement.parameters(varying.values)
        if statement.shared is not None and not is_position_asked():
            return self._finish(await statement.shared.ask(parameters), rendering)
        text = self._finish(await self._fetch_text(statement.alone, parameters, rendering.max_bytes), rendering)
        statement.failures = 0 if text is not None else statement.failures + 1
        if statement.failures > MAX_FAILURES:
            self._keep(key, UNWRITABLE)
        return text

    def _has_formats(self, plan: Read) -> bool:
        """Whether a table of the plan has columns of other types than its fields have."""
        return plan.table.stored.name in self.shape.formatted or any(
            self._has_formats(nested.read) for nested in plan.nest.values()
        )

    async def _render_uncached(self, plan: Read, rendering: Rendering) -> bytes | None:
        bound = self._bind(plan, rendering)
        if bound is None:
            return None
        turned = await self._rewrite_plan(plan)
        if turned is not plan:
            bound = self._bind(turned, rendering) or bound
        return self._finish(await self._fetch_text(*bound, rendering.max_bytes), rendering)

    def _finish(self, text: Any, rendering: Rendering) -> bytes | None:
        if text is None:
            raise answer_too_large(rendering.max_bytes)
        return self.writing.finish_numbers(text)

    async def _rewrite_plan(self, plan: Read) -> Read:
        if not access_path.needs_rewrite(self.shape, plan):
            return plan
        link = await self.pool.acquire()
        try:
            return await access_path.rewrite_plan(NativeSession(link, self.shape), plan)
        finally:
            self.pool.release(link)

    def statements(self, plan: Read, rendering: Rendering) -> list[str]:
        """The statement for a plan; empty where the database cannot render it."""
        bound = self._bind(plan, rendering)
        return [] if bound is None else [bound[0]]

    def _bind(self, plan: Read, rendering: Rendering) -> BoundStatement | None:
        """The statement for a plan with its parameters; None where the database cannot render it."""
        if not self.writing.is_writable(plan, rendering) or not is_one_statement(self.shape, plan):
            return None
        bound = self.writing(self.shape.catalog, self.shape.dialect).statement(plan, rendering)
        return bound if self.writing.is_readable(bound[0]) else None

    def _keep(self, key: Key, statement: Statement) -> Statement:
        self._kept.put(key, statement, STATEMENT_BYTES + 4 * len(statement.alone))
        return statement

    def _compile(self, plan: Read, rendering: Rendering, varying: PlanParameters) -> Statement:
        bound = self._bind(plan, rendering)
        if bound is None:
            return UNWRITABLE
        text, values = bound
        holes = varying.holes
        slots = [(holes.get(value) if type(value) in TYPES else None, value) for value in values]
        many = self.writing.combine_calls(text, values)
        return Statement(text, slots, self._build_batching(text, many, rendering.max_bytes))

    # ── execution ────────────────────────────────────────────────────────────

    def _build_batching(self, alone: str, many: str | None, max_bytes: int) -> BatchingLoader[list[Any], Any] | None:
        """The loader that batches concurrent requests; None where there is no statement for many."""
        if many is None:
            return None

        async def one(parameters: list[Any]) -> Any:
            return await self._fetch_text(alone, parameters, max_bytes)

        async def several(some: list[list[Any]]) -> list[Any]:
            text, columns = self.writing.pack_values(many, list(zip(*some, strict=True)))
            return [row[0] for row in await self._fetch_rows(text, columns)]

        return BatchingLoader(one, several)

    async def _fetch_text(self, text: str, values: Sequence[Any], max_bytes: int) -> Any:
        """The text of one response; None if it is too long."""
        link = await self.pool.acquire()
        try:
            return await link.text(text, values, max_bytes)
        finally:
            self.pool.release(link)

    async def _fetch_rows(self, text: str, values: Sequence[Any]) -> Sequence[Any]:
        link = await self.pool.acquire()
        try:
            return await link.rows(text, values)
        finally:
            self.pool.release(link)
