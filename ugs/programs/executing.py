"""Running programs: one statement after another, each with the W that the one before it left.

A step either happens whole or not at all: the operator acts only when the operation's result is there. Whatever goes
wrong in an operation ends the program with W as it was before that statement, and says why.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from ugs.errors import DeadlineExceeded, LimitExceeded, UgsError
from ugs.programs.ast import ConditionalOp, CypherOp, GraphProgram, Statement
from ugs.programs.bounds import BOUNDS, Bounds
from ugs.programs.conditions import holds
from ugs.programs.dispatching import Dispatch
from ugs.programs.operators import Affected, AssertionFailed, apply
from ugs.programs.parameters import resolve
from ugs.programs.results import (
    EMPTY_RESULT,
    TIMED_OUT,
    Abort,
    BatchProgramResult,
    ProgramResult,
    Size,
    StepLogEntry,
)
from ugs.programs.working import WorkingGraph

OnStep = Callable[[StepLogEntry], None]


class Ready(Struct, frozen=True):
    """A validated program with the values for its parameters."""

    program: GraphProgram
    params: Mapping[str, Any] = {}


class Stopped(Exception):
    """A statement that could not be done, and why."""


class Execution:
    """One program on its way."""

    def __init__(self, dispatch: Dispatch, ready: Ready, w: WorkingGraph, deadline: float, bounds: Bounds) -> None:
        self.dispatch = dispatch
        self.program = ready.program
        self.values = resolve(ready.program, ready.params)
        self.w = w
        self.deadline = deadline
        self.bounds = bounds
        self.log: list[StepLogEntry] = []
        self.on_step: OnStep | None = None
        self._top = 0

    async def run(self) -> ProgramResult:
        """Run to the end, or to the statement that cannot be done."""
        try:
            for index, statement in enumerate(self.program.statements):
                self._top = index
                await self._do(statement, str(index))
        except Stopped as stop:
            return ProgramResult(self.w.copy(), self.log, Abort(self._top, str(stop)))
        return ProgramResult(self.w.copy(), self.log)

    async def _do(self, statement: Statement, path: str) -> None:
        started = time.perf_counter()
        operation = statement.operation
        if isinstance(operation, ConditionalOp):
            branch = await self._branch(operation, path)
            self._record(statement, path, "conditional", Affected(), started, branch)
        else:
            affected = self._applied(statement, await self._result(statement))
            self._record(statement, path, "cypher" if isinstance(operation, CypherOp) else "api", affected, started)

    async def _branch(self, operation: ConditionalOp, path: str) -> Literal["then", "else"]:
        chosen: Literal["then", "else"] = "then" if holds(operation.condition, self.w) else "else"
        for index, nested in enumerate(operation.branches[chosen]):
            await self._do(nested, f"{path}.{chosen}.{index}")
        return chosen

    async def _result(self, statement: Statement) -> WorkingGraph:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Stopped(TIMED_OUT)
        try:
            async with asyncio.timeout(left):
                found = await self.dispatch(statement, self.w, self.values)
            return self._bounded(found)
        except (TimeoutError, DeadlineExceeded):
            raise Stopped(TIMED_OUT) from None
        except UgsError as error:
            raise Stopped(f"Execution error: {error.message}") from error

    def _bounded(self, found: WorkingGraph) -> WorkingGraph:
        most = self.bounds.nodes
        if len(found.nodes) + len(self.w.nodes) > most or len(found.links) + len(self.w.links) > most:
            raise LimitExceeded(
                f"The working graph would hold more than {most} nodes or links: add a limit", limit=most
            )
        return found

    def _applied(self, statement: Statement, found: WorkingGraph) -> Affected:
        try:
            return apply(statement.op, self.w, found)
        except AssertionFailed:
            raise Stopped(EMPTY_RESULT) from None

    def _record(
        self,
        statement: Statement,
        path: str,
        kind: Literal["cypher", "api", "conditional"],
        affected: Affected,
        started: float,
        branch: Literal["then", "else"] | None = None,
    ) -> None:
        spent = round((time.perf_counter() - started) * 1000, 2)
        size = Size(len(self.w.nodes), len(self.w.links))
        entry = StepLogEntry(self._top, path, statement.op, kind, affected.nodes, affected.links, size, spent, branch)
        self.log.append(entry)
        if self.on_step is not None:
            self.on_step(entry)


async def run_program(
    dispatch: Dispatch,
    ready: Ready,
    deadline: float,
    w: WorkingGraph | None = None,
    on_step: OnStep | None = None,
    bounds: Bounds = BOUNDS,
) -> ProgramResult:
    """Run one program, from an empty W unless one is handed over."""
    execution = Execution(dispatch, ready, WorkingGraph() if w is None else w, deadline, bounds)
    execution.on_step = on_step
    return await execution.run()


async def run_deck(
    dispatch: Dispatch, deck: Sequence[Ready], deadline: float, bounds: Bounds = BOUNDS
) -> BatchProgramResult:
    """Run programs in turn, each with the W of the one before; the first that stops is the last that ran."""
    w, ended = WorkingGraph(), []
    for index, ready in enumerate(deck):
        ended.append(await run_program(dispatch, ready, deadline, w, bounds=bounds))
        aborted = ended[-1].aborted
        if aborted is not None:
            return BatchProgramResult(w, ended, Abort(aborted.statement, aborted.reason, index))
    return BatchProgramResult(w, ended)
