"""Plans of one shape: the statement kept, requests that come together answered together, and no column for nothing.

A call costs the driver more than most answers do, and writing a deep statement costs more than running it. So reads of
one shape share their statement, those that wait at the same time share a call, and what nobody will see stays there.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from backends.neo4j.columns import EXACT
from backends.neo4j.plans import Plans, PlanStatement
from backends.neo4j.shown import shown_by
from backends.neo4j.writing import Writing
from ugs.catalog import Kind
from ugs.reads.plan import Read, Rows
from ugs.reads.rendering import Rendering
from ugs.reads.sharing import Sharing
from ugs.reads.varying import HOLES, Varying

KEPT = 500
TOGETHER = 16
FEW, CALLS = 4, 4
"""Reads with related rows are work for the server, which does a call on one core: fewer of them share one, and more
calls are under way. For single rows and plain lists it is the calls that cost."""
_PARAMETER = re.compile(r"\$(p\d+)\b")

Ask = Callable[..., Awaitable[list[list[Any]]]]
"""Runs a statement with its parameters in a transaction of its own."""
Values = dict[str, Any]


Finish = Callable[[list[Any]], Any]
"""Makes rows or a text of what a statement returned."""


class Kept(Struct):
    """A kept statement."""

    slots: dict[str, int]
    """Which value each parameter takes that is not always the same."""
    shared: Sharing[Values, Any]


def fits(kind: Kind, value: Any) -> bool:
    """Whether a column compares with this value as it is."""
    if isinstance(value, str):
        return kind is Kind.TEXT and value.isascii() and "\x00" not in value
    return kind is Kind.INTEGER and -EXACT < value < EXACT


class Answering:
    """Answers plans."""

    def __init__(self, plans: Plans, ask: Ask) -> None:
        self._plans, self._ask = plans, ask
        self._kept: OrderedDict[tuple[Any, ...], Kept | None] = OrderedDict()

    async def rows(self, plan: Read) -> Rows | None:
        """The rows of a plan; None where Neo4j would not answer exactly."""
        rows: Rows | None = await self._answer(plan, None)
        return rows

    async def text(self, plan: Read, rendering: Rendering) -> bytes | None:
        """The rows of a plan as they are shown; None where Neo4j would not answer exactly."""
        text: bytes | None = await self._answer(plan, rendering)
        return text

    async def _answer(self, plan: Read, rendering: Rendering | None) -> Any:
        varying = Varying(fits)
        holed = varying.read(plan)
        if holed is None:
            found = self._prepared(plan, Varying(fits), rendering)
            return None if found is None else await found.shared.ask({})
        key = (rendering, *varying.shape)
        if key not in self._kept:
            self._keep(key, self._prepared(holed, varying, rendering))
        kept = self._kept[key]
        if kept is None:
            return None
        return await kept.shared.ask({name: varying.values[number] for name, number in kept.slots.items()})

    def _keep(self, key: tuple[Any, ...], kept: Kept | None) -> None:
        self._kept[key] = kept
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _prepared(self, read: Read, varying: Varying, rendering: Rendering | None) -> Kept | None:
        """The statement for reads of this shape, and what becomes of what it returns."""
        shown = None if rendering is None else shown_by(rendering)
        statement = self._plans.statement(read, shown)
        if statement is None:
            return None
        holes = varying.holes
        given = {name: holes.get(value) for name, value in statement.parameters.items() if type(value) in HOLES}
        slots = {name: number for name, number in given.items() if number is not None}
        if rendering is None or shown is None:
            return Kept(slots, self._sharing(read, statement, slots, lambda answer: statement.decode([answer])))
        write = Writing(self._plans.layouts).answer(rendering.root, read, shown)
        return Kept(slots, self._sharing(read, statement, slots, lambda answer: write(*answer).encode()))

    def _sharing(
        self, read: Read, statement: PlanStatement, slots: dict[str, int], finish: Finish
    ) -> Sharing[Values, Any]:
        text = together(statement.text, slots)
        same = {name: value for name, value in statement.parameters.items() if name not in slots}

        async def one(values: Values) -> Any:
            (answer,) = await self._ask(statement.text, **same, **values)
            return finish(answer)

        async def many(some: list[Values]) -> list[Any]:
            turns = [{**values, "turn": turn} for turn, values in enumerate(some)]
            answers = await self._ask(text, turns=turns, **same)
            return [finish(answer) for _, *answer in sorted(answers, key=_turn)]

        return Sharing(one, many, FEW, CALLS) if read.nest else Sharing(one, many, TOGETHER)


def _turn(answer: list[Any]) -> int:
    turn: int = answer[0]
    return turn


def together(text: str, slots: dict[str, int]) -> str:
    """The statement for many sets of values at once."""
    varied = _PARAMETER.sub(lambda found: f"k.{found[1]}" if found[1] in slots else found[0], text)
    return f"UNWIND $turns AS k RETURN k.turn, {varied.removeprefix('RETURN ')}"
