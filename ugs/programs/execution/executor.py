"""The executor: runs statements in order, each on the W that the previous one left.

A step is atomic: the operator changes W only after the operation has succeeded. An error in an operation ends the
program, with W as it was before that statement and the reason in the result.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from ugs.errors import DeadlineExceeded, LimitExceeded, UgsError
from ugs.programs.ast import ConditionalOp, CypherOp, GraphProgram, Statement
from ugs.programs.execution.conditions import holds
from ugs.programs.execution.operations import Dispatch
from ugs.programs.execution.operators import Affected, AssertionFailed, apply
from ugs.programs.execution.results import (
    EMPTY_RESULT,
    TIMED_OUT,
    Abort,
    BatchProgramResult,
    ProgramResult,
    Size,
    StepLogEntry,
)
from ugs.programs.execution.working_graph import WorkingGraph
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.programs.validation.parameters import resolve

OnStep = Callable[[StepLogEntry, WorkingGraph], None]
"""Called after each step with its entry and W, which the next step changes: whoever keeps W copies it."""


class PreparedProgram(Struct, frozen=True):
    """A validated program with the values of its parameters."""

    program: GraphProgram
    params: Mapping[str, Any] = {}


class StatementFailed(Exception):
    """Ends a program: a statement failed, with the reason."""


class ProgramRun:
    """The run of one program."""

    def __init__(
        self, dispatch: Dispatch, ready: PreparedProgram, w: WorkingGraph, deadline: float, bounds: Bounds
    ) -> None:
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
        """Run to the end, or to the first statement that fails."""
        try:
            for index, statement in enumerate(self.program.statements):
                self._top = index
                await self._execute(statement, str(index))
        except StatementFailed as stop:
            return ProgramResult(self.w.copy(), self.log, Abort(self._top, str(stop)))
        return ProgramResult(self.w.copy(), self.log)

    async def _execute(self, statement: Statement, path: str) -> None:
        started = time.perf_counter()
        operation = statement.operation
        if isinstance(operation, ConditionalOp):
            branch = await self._branch(operation, path)
            self._record(statement, path, "conditional", Affected(), started, branch)
        else:
            affected = self._apply(statement, await self._result(statement))
            self._record(statement, path, "cypher" if isinstance(operation, CypherOp) else "api", affected, started)

    async def _branch(self, operation: ConditionalOp, path: str) -> Literal["then", "else"]:
        chosen: Literal["then", "else"] = "then" if holds(operation.condition, self.w) else "else"
        for index, nested in enumerate(operation.branches[chosen]):
            await self._execute(nested, f"{path}.{chosen}.{index}")
        return chosen

    async def _result(self, statement: Statement) -> WorkingGraph:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise StatementFailed(TIMED_OUT)
        try:
            async with asyncio.timeout(left):
                found = await self.dispatch(statement, self.w, self.values)
            return self._check_size(found)
        except (TimeoutError, DeadlineExceeded):
            raise StatementFailed(TIMED_OUT) from None
        except UgsError as error:
            raise StatementFailed(f"Execution error: {error.message}") from error

    def _check_size(self, found: WorkingGraph) -> WorkingGraph:
        most = self.bounds.nodes
        if len(found.nodes) + len(self.w.nodes) > most or len(found.links) + len(self.w.links) > most:
            raise LimitExceeded(
                f"The working graph would hold more than {most} nodes or links: add a limit", limit=most
            )
        return found

    def _apply(self, statement: Statement, found: WorkingGraph) -> Affected:
        try:
            return apply(statement.op, self.w, found)
        except AssertionFailed:
            raise StatementFailed(EMPTY_RESULT) from None

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
            self.on_step(entry, self.w)


async def run_program(
    dispatch: Dispatch,
    ready: PreparedProgram,
    deadline: float,
    w: WorkingGraph | None = None,
    on_step: OnStep | None = None,
    bounds: Bounds = BOUNDS,
) -> ProgramResult:
    """Run one program, starting from an empty W unless one is given."""
    execution = ProgramRun(dispatch, ready, WorkingGraph() if w is None else w, deadline, bounds)
    execution.on_step = on_step
    return await execution.run()


async def run_deck(
    dispatch: Dispatch, deck: Sequence[PreparedProgram], deadline: float, bounds: Bounds = BOUNDS
) -> BatchProgramResult:
    """Run programs in order, each on the W of the previous one; the first that aborts ends the deck."""
    w, ended = WorkingGraph(), []
    for index, ready in enumerate(deck):
        ended.append(await run_program(dispatch, ready, deadline, w, bounds=bounds))
        aborted = ended[-1].aborted
        if aborted is not None:
            return BatchProgramResult(w, ended, Abort(aborted.statement, aborted.reason, index))
    return BatchProgramResult(w, ended)
