"""Texts from the database: each statement written once, and requests that come together answered together.

Reads of one shape differ in a few values. Their statement is kept, with places for those values, in two forms: for
one set of values, and for many at once. At most two of a kind are under way; whoever comes meanwhile waits for the
next and shares it, so that the busier the gateway is, the fewer statements it sends per answer. An idle one waits
for nobody.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from backends.sql import finding
from backends.sql.fitting import Fitted, fitted
from backends.sql.link import Link
from backends.sql.native import NativeSession, is_one_statement
from backends.sql.pool import Pool
from backends.sql.session import Shape
from backends.sql.statements import Bound
from backends.sql.writing import TYPES, Writing
from ugs.catalog import Kind
from ugs.reads.plan import Read
from ugs.reads.rendering import Rendering
from ugs.reads.sharing import Sharing
from ugs.reads.varying import Varying
from ugs.reads.where import Op

KEPT = 500
PATIENCE = 3
"""After so many failures in a row the next answers of a shape will hardly be different."""

Key = tuple[Any, ...]


class Statement(Struct):
    """A kept statement."""

    alone: str
    slots: list[tuple[int | None, Any]]
    """For each parameter the number of its value, or the value itself."""
    shared: Sharing[list[Any], Any] | None = None
    failures: int = 0
    """How many answers in a row the database began and could not finish."""

    def parameters(self, values: Sequence[Any]) -> list[Any]:
        return [constant if number is None else values[number] for number, constant in self.slots]


UNWRITABLE = Statement("", [])
"""Stands for a shape that the database cannot write."""


def fits(kind: Kind, value: Any) -> bool:
    """Whether a column compares with this value as it is."""
    if kind is Kind.TEXT and type(value) is str and value.isascii():
        return "\x00" not in value
    return fitted(kind, Op.EQ, value) == Fitted(Op.EQ, value)


class Answering:
    """Answers plans as texts."""

    def __init__(self, shape: Shape, pool: Pool[Link], writing: type[Writing]) -> None:
        self.shape, self.pool, self.writing = shape, pool, writing
        self._kept: OrderedDict[Key, Statement] = OrderedDict()

    async def text(self, plan: Read, rendering: Rendering) -> bytes | None:
        """The answer to a plan; None where the database cannot write it."""
        varying = Varying(fits)
        holed = varying.read(plan)
        if holed is None:
            return await self._unkept(plan, rendering)
        key = (rendering, *varying.shape)
        statement = self._kept.get(key)
        if statement is None:
            statement = self._keep(key, self._statement(holed, rendering, varying))
        if not statement.alone:
            return None
        parameters = statement.parameters(varying.values)
        if statement.shared is not None:
            return self.writing.finished(await statement.shared.ask(parameters))
        text = self.writing.finished((await self._rows(statement.alone, parameters))[0][0])
        statement.failures = 0 if text is not None else statement.failures + 1
        if statement.failures > PATIENCE:
            self._keep(key, UNWRITABLE)
        return text

    async def _unkept(self, plan: Read, rendering: Rendering) -> bytes | None:
        bound = self._bound(plan, rendering)
        if bound is None:
            return None
        turned = await self._turned(plan)
        if turned is not plan:
            bound = self._bound(turned, rendering) or bound
        return self.writing.finished((await self._rows(*bound))[0][0])

    async def _turned(self, plan: Read) -> Read:
        if not finding.is_turned(self.shape, plan):
            return plan
        link = await self.pool.acquire()
        try:
            return await finding.turned(NativeSession(link, self.shape), plan)
        finally:
            self.pool.release(link)

    def statements(self, plan: Read, rendering: Rendering) -> list[str]:
        """What is sent for a plan; none where the database cannot write its answer."""
        bound = self._bound(plan, rendering)
        return [] if bound is None else [bound[0]]

    def _bound(self, plan: Read, rendering: Rendering) -> Bound | None:
        """The statement for a plan with its values, where the database can write the answer."""
        if not self.writing.is_writable(plan, rendering) or not is_one_statement(self.shape, plan):
            return None
        bound = self.writing(self.shape.catalog, self.shape.dialect).statement(plan, rendering)
        return bound if self.writing.is_readable(bound[0]) else None

    def _keep(self, key: Key, statement: Statement) -> Statement:
        self._kept[key] = statement
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return statement

    def _statement(self, plan: Read, rendering: Rendering, varying: Varying) -> Statement:
        bound = self._bound(plan, rendering)
        if bound is None:
            return UNWRITABLE
        text, values = bound
        holes = varying.holes
        slots = [(holes.get(value) if type(value) in TYPES else None, value) for value in values]
        return Statement(text, slots, self._sharing(text, self.writing.together(text, values)))

    # ── asking ───────────────────────────────────────────────────────────────

    def _sharing(self, alone: str, many: str | None) -> Sharing[list[Any], Any] | None:
        """How those who ask at the same time are answered together, where that is possible."""
        if many is None:
            return None

        async def one(parameters: list[Any]) -> Any:
            return (await self._rows(alone, parameters))[0][0]

        async def several(some: list[list[Any]]) -> list[Any]:
            text, columns = self.writing.sent(many, list(zip(*some, strict=True)))
            return [row[0] for row in await self._rows(text, columns)]

        return Sharing(one, several)

    async def _rows(self, text: str, values: Sequence[Any]) -> Sequence[Any]:
        link = await self.pool.acquire()
        try:
            return await link.rows(text, values)
        finally:
            self.pool.release(link)
