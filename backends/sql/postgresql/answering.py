"""Texts from PostgreSQL: each statement written once, and requests that come together answered together.

Reads of one shape differ in a few values. Their statement is kept, with places for those values, in two forms: for
one set of values, and for many at once. At most two of a kind are under way; whoever comes meanwhile waits for the
next and shares it, so that the busier the gateway is, the fewer statements it sends per answer. An idle one waits
for nobody.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from backends.sql.fitting import Fitted, fitted
from backends.sql.link import Link
from backends.sql.native import is_one_statement
from backends.sql.pool import Pool
from backends.sql.postgresql.rendering import Writing, finished, is_writable
from backends.sql.session import Shape
from ugs.catalog import Table
from ugs.errors import UgsError
from ugs.reads.plan import Nested, Page, Read
from ugs.reads.rendering import Rendering
from ugs.reads.where import All, Compare, Everything, Op, Where
from ugs.values import MIN_INT

KEPT = 500
UNDER_WAY = 2
TOGETHER = 64
_PLACEHOLDER = re.compile(r"\$(\d+)")
_TYPES = {str: "text", int: "int8"}

Key = tuple[Any, ...]


class Varying(Struct):
    """The values in which reads of one shape differ, and the shape itself."""

    shape: list[Any] = msgspec.field(default_factory=list)
    values: list[Any] = msgspec.field(default_factory=list)

    def hole(self, value: Any) -> Any:
        """A value of the same type that stands for this one."""
        self.values.append(value)
        self.shape.append(type(value))
        return hole(len(self.values) - 1, value)

    def where(self, where: Where, table: Table) -> Where | None:
        """The condition with holes; None where its values decide more than values."""
        if isinstance(where, Everything):
            return where
        if isinstance(where, All):
            parts = [self.where(part, table) for part in where.parts]
            self.shape.append(len(parts))
            return None if None in parts else All(tuple(part for part in parts if part is not None))
        if not isinstance(where, Compare) or where.op is not Op.EQ or type(where.value) not in _TYPES:
            return None
        if fitted(table.field(where.field).kind, Op.EQ, where.value) != Fitted(Op.EQ, where.value):
            return None
        self.shape.append(where.field)
        return Compare(where.field, Op.EQ, self.hole(where.value))

    def read(self, read: Read) -> Read | None:
        """The read with holes, and those related to it."""
        where, page = self.where(read.where, read.table), self.page(read.page)
        if where is None or page is None:
            return None
        self.shape.append(read.order)
        nest = {}
        for name, nested in read.nest.items():
            inner = self.read(nested.read)
            if inner is None:
                return None
            nest[name] = Nested(nested.relation, inner)
        return Read(read.table, where, read.order, page, nest, read.total)

    def page(self, page: Page) -> Page | None:
        """The page with holes."""
        self.shape.append((page.limit, page.after is None))
        if page.after is None:
            return page
        if any(type(value) not in _TYPES for value in page.after):
            return None
        return msgspec.structs.replace(page, after=tuple(self.hole(value) for value in page.after))


class Statement(Struct):
    """A kept statement, and who waits for it."""

    alone: str
    together: str | None
    slots: list[tuple[int | None, Any]]
    """For each parameter the number of its value, or the value itself."""
    waiting: list[tuple[list[Any], asyncio.Future[str]]] = msgspec.field(default_factory=list)
    under_way: int = 0

    def parameters(self, values: Sequence[Any]) -> list[Any]:
        return [constant if number is None else values[number] for number, constant in self.slots]


UNWRITABLE = Statement("", None, [])
"""Stands for a shape that the database cannot write."""


class Answering:
    """Answers plans as texts."""

    def __init__(self, shape: Shape, pool: Pool[Link]) -> None:
        self.shape, self.pool = shape, pool
        self._kept: OrderedDict[Key, Statement] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def text(self, plan: Read, rendering: Rendering) -> str | None:
        """The answer to a plan; None where the database cannot write it."""
        varying = Varying()
        holed = varying.read(plan)
        if holed is None:
            return await self._unkept(plan, rendering)
        key = (rendering, *varying.shape)
        statement = self._kept.get(key)
        if statement is None:
            statement = self._keep(key, self._statement(holed, rendering, varying))
        if not statement.alone:
            return None
        return finished(await self._answer(statement, statement.parameters(varying.values)))

    async def _unkept(self, plan: Read, rendering: Rendering) -> str | None:
        if not self._can_write(plan, rendering):
            return None
        text, values = Writing(self.shape.catalog, self.shape.dialect).statement(plan, rendering)
        return finished((await self._rows(text, values))[0][0])

    def statements(self, plan: Read, rendering: Rendering) -> list[str]:
        """What is sent for a plan; none where the database cannot write its answer."""
        if not self._can_write(plan, rendering):
            return []
        return [Writing(self.shape.catalog, self.shape.dialect).statement(plan, rendering)[0]]

    def _can_write(self, plan: Read, rendering: Rendering) -> bool:
        return is_writable(plan, rendering) and is_one_statement(self.shape, plan)

    def _keep(self, key: Key, statement: Statement) -> Statement:
        self._kept[key] = statement
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return statement

    def _statement(self, plan: Read, rendering: Rendering, varying: Varying) -> Statement:
        if not self._can_write(plan, rendering):
            return UNWRITABLE
        text, values = Writing(self.shape.catalog, self.shape.dialect).statement(plan, rendering)
        holes = {hole(number, value): number for number, value in enumerate(varying.values)}
        slots = [(holes.get(value) if type(value) in _TYPES else None, value) for value in values]
        return Statement(text, together(text, values), slots)

    # ── asking ───────────────────────────────────────────────────────────────

    async def _answer(self, statement: Statement, parameters: list[Any]) -> str:
        if statement.together is None:
            found: str = (await self._rows(statement.alone, parameters))[0][0]
            return found
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        statement.waiting.append((parameters, answer))
        if statement.under_way < UNDER_WAY:
            statement.under_way += 1
            task = asyncio.create_task(self._work(statement))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await answer

    async def _work(self, statement: Statement) -> None:
        try:
            while statement.waiting:
                some, statement.waiting = statement.waiting[:TOGETHER], statement.waiting[TOGETHER:]
                await self._ask(statement, [one for one in some if not one[1].done()])
        finally:
            statement.under_way -= 1

    async def _ask(self, statement: Statement, some: list[tuple[list[Any], asyncio.Future[str]]]) -> None:
        """Ask for some together; when that fails, each is asked for alone and fails alone."""
        if len(some) > 1 and statement.together is not None:
            try:
                rows = await self._rows(
                    statement.together, [list(column) for column in zip(*(p for p, _ in some), strict=True)]
                )
            except UgsError:
                pass
            else:
                for (_, answer), row in zip(some, rows, strict=True):
                    _settle(answer, row[0])
                return
        for parameters, answer in some:
            try:
                _settle(answer, (await self._rows(statement.alone, parameters))[0][0])
            except UgsError as error:
                _settle(answer, error)

    async def _rows(self, text: str, values: Sequence[Any]) -> Sequence[Any]:
        link = await self.pool.acquire()
        try:
            return await link.rows(text, values)
        finally:
            self.pool.release(link)


def _settle(answer: asyncio.Future[str], result: str | UgsError) -> None:
    if answer.done():
        return
    if isinstance(result, UgsError):
        answer.set_exception(result)
    else:
        answer.set_result(result)


def hole(number: int, value: Any) -> Any:
    """What stands for a value while its statement is written: nothing that a catalog or a client would write."""
    return f"\ue000{number}" if isinstance(value, str) else MIN_INT + number


def together(text: str, values: Sequence[Any]) -> str | None:
    """The statement for many sets of values at once; None where a value is not a plain one."""
    if not values or any(type(value) not in _TYPES for value in values):
        return None
    many = ", ".join(f"${number}::{_TYPES[type(value)]}[]" for number, value in enumerate(values, 1))
    names = ", ".join(f"c{number}" for number in range(1, len(values) + 1))
    one = _PLACEHOLDER.sub(lambda found: f"k.c{found[1]}", text)
    return f"SELECT ({one}) FROM unnest({many}) WITH ORDINALITY AS k({names}, turn) ORDER BY k.turn"
