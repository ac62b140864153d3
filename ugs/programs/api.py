"""Programs in Python: validation, storage and execution on behalf of one principal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ugs.cypher.graph_views import FactsContext
from ugs.errors import Forbidden, InvalidSyntax
from ugs.facts.reader import FactsReader
from ugs.identity import LOCAL, Context, Principal
from ugs.programs.ast import ApiOp, GraphProgram, Statement, statements_in
from ugs.programs.builtin_programs import load_builtin_programs
from ugs.programs.commands import Caller, DeleteProgram, SaveProgram, UpdateProgram
from ugs.programs.endpoints import VECTOR_ENDPOINTS, handlers
from ugs.programs.errors import ProgramInvalid
from ugs.programs.execution.executor import OnStep, PreparedProgram, run_deck, run_program
from ugs.programs.execution.operations import Dispatcher, RunContext
from ugs.programs.execution.results import BatchProgramResult, ProgramResult, StepDone, StepLogEntry
from ugs.programs.execution.working_graph import WorkingGraph
from ugs.programs.large_programs import decode_and_validate_off_loop, is_large, parse_valid_off_loop
from ugs.programs.model import PROGRAMS, ProgramRow
from ugs.programs.queries import NEWEST_FIRST, get_program, matching_programs
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.programs.validation.parameters import check_values
from ugs.programs.validation.result import ValidationResult, result_of
from ugs.programs.validation.validator import validate
from ugs.reads.plan import Page
from ugs.support.budget import current_budget

if TYPE_CHECKING:
    from ugs.feature import Command
    from ugs.log.at import At
    from ugs.system import System
    from ugs.writer import Outcome

REGISTERED_HANDLERS = handlers
"""Importing the module registers the endpoint handlers."""

MAX_WAITING_ELEMENTS = 200_000
"""Nodes and links of the working graphs that a slow consumer of steps has not taken yet."""


class DeckEntry(Struct, frozen=True):
    """One program of a deck: by its number, or inline."""

    program_id: int | None = None
    program: Any = None
    params: Mapping[str, Any] = {}


class Programs:
    """The programs of one system, as one principal may use them."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal, bounds: Bounds = BOUNDS) -> None:
        self.system = system
        self.principal = principal
        self.caller = Caller.of(principal)
        self.bounds = bounds

    def validate(self, program: object) -> ValidationResult:
        """All issues of a program; nothing is executed or stored."""
        return validate(program, self.bounds)

    async def validate_off_loop(self, program: object) -> ValidationResult:
        """As `validate`; a large program does not block the event loop."""
        return (await decode_and_validate_off_loop(program, self.bounds))[1]

    # ── keeping ──────────────────────────────────────────────────────────────

    async def save(
        self, program: object, name: str | None = None, *, system: bool = False, key: str | None = None
    ) -> ProgramRow:
        """Validate and store a program; it can then be executed by its number."""
        await self._prepare_decision(program)
        command = SaveProgram(program=program, caller=self.caller, name=name, system=system, bounds=self.bounds)
        return await self._row_after(await self._do(command, key))

    async def update(
        self, id: int, program: object = None, name: str | None = None, *, key: str | None = None
    ) -> ProgramRow:
        """Change a stored program; the whole program is validated again."""
        await self._prepare_decision(program)
        command = UpdateProgram(id=id, caller=self.caller, program=program, name=name, bounds=self.bounds)
        return await self._row_after(await self._do(command, key))

    async def delete(self, id: int, *, key: str | None = None) -> None:
        """Delete a stored program; only its owner or an administrator may."""
        await self._do(DeleteProgram(id=id, caller=self.caller), key)

    async def get(self, id: int, at: At | None = None) -> ProgramRow:
        """A stored program; PROGRAM_NOT_FOUND if the principal may not see it."""
        async with self.system.session_at(at) as session:
            return await get_program(session, id, self.caller)

    async def list(
        self, search: str | None = None, limit: int = 20, at: At | None = None, *, after: tuple[int, int] | None = None
    ) -> list[ProgramRow]:
        """Visible programs, newest first; those behind a time of creation and number, if `after` names them."""
        async with self.system.session_at(at) as session:
            return await session.fetch(
                PROGRAMS, matching_programs(self.caller, search), NEWEST_FIRST, Page(limit=limit, after=after)
            )

    async def install_ready_made(self) -> Sequence[ProgramRow]:
        """Store the built-in programs as the system's own, each once; needs the admin role."""
        return [
            await self.save(tree.as_json(), name, system=True, key=f"ready-made {name}")
            for name, tree in load_builtin_programs().items()
        ]

    async def _prepare_decision(self, program: object) -> None:
        """Validate a large program beforehand, so that the decision, which must not take long, finds its queries
        checked."""
        if is_large(program):
            await decode_and_validate_off_loop(program, self.bounds)

    async def _do(self, command: Command, key: str | None) -> Outcome:
        return await self.system.execute(command, Context(self.principal, key))

    async def _row_after(self, outcome: Outcome) -> ProgramRow:
        """The program after the command; for a replayed command, its current state."""
        id = outcome.events[0].payload["id"]
        return outcome.rows.get((PROGRAMS.name, id)) or await self.get(id)

    # ── running ──────────────────────────────────────────────────────────────

    async def execute(
        self,
        program: object,
        params: Mapping[str, Any] | None = None,
        *,
        at: At | None = None,
        view: str = "GRAPH",
        on_step: OnStep | None = None,
    ) -> ProgramResult:
        """Execute a program given by its number, as JSON or as a syntax tree. It is always validated first."""
        entry = DeckEntry(params=params or {}, **_to_json(program))
        return await self.run(entry, at=at, view=view, on_step=on_step)

    async def run(
        self, entry: DeckEntry, *, at: At | None = None, view: str = "GRAPH", on_step: OnStep | None = None
    ) -> ProgramResult:
        """Execute one deck entry."""
        ready = await self.prepare(entry)
        async with self._dispatcher([ready], at, view) as dispatch:
            deadline = dispatch.world.deadline
            return await run_program(dispatch, ready, deadline, on_step=on_step, bounds=self.bounds)

    async def steps(
        self, entry: DeckEntry, *, at: At | None = None, view: str = "GRAPH", with_graphs: bool = False
    ) -> AsyncIterator[StepDone | ProgramResult]:
        """Execute one program and yield each step when it is done, then the result; a slow consumer does not delay
        execution. `with_graphs` keeps a copy of the working graph with each step, while no more than
        `MAX_WAITING_ELEMENTS` wait to be taken.
        """
        news: asyncio.Queue[StepDone | None] = asyncio.Queue()
        waiting = 0

        def note_step(entry: StepLogEntry, w: WorkingGraph) -> None:
            nonlocal waiting
            size = len(w.nodes) + len(w.links)
            is_kept = with_graphs and waiting + size <= MAX_WAITING_ELEMENTS
            waiting += size if is_kept else 0
            news.put_nowait(StepDone(entry, w.copy() if is_kept else None))

        running = asyncio.create_task(self.run(entry, at=at, view=view, on_step=note_step))
        running.add_done_callback(lambda task: news.put_nowait(None))
        try:
            while (step := await news.get()) is not None:
                if step.graph is not None:
                    waiting -= len(step.graph.nodes) + len(step.graph.links)
                yield step
            yield await running
        finally:
            running.cancel()

    async def execute_deck(
        self, deck: Sequence[DeckEntry], *, at: At | None = None, view: str = "GRAPH"
    ) -> BatchProgramResult:
        """Execute programs in order, passing W on; all are validated before the first one runs."""
        if not 1 <= len(deck) <= self.bounds.deck:
            raise InvalidSyntax(f"A deck has 1 to {self.bounds.deck} programs, got {len(deck)}")
        ready = [await self.prepare(entry, index) for index, entry in enumerate(deck)]
        async with self._dispatcher(ready, at, view) as dispatch:
            return await run_deck(dispatch, ready, dispatch.world.deadline, self.bounds)

    async def prepare(self, entry: DeckEntry, index: int | None = None) -> PreparedProgram:
        """The validated program with its parameter values; PROGRAM_INVALID names the entry that is not valid."""
        if (entry.program is None) == (entry.program_id is None):
            raise InvalidSyntax("Give either a program or the number of a stored one")
        raw = entry.program if entry.program_id is None else (await self.get(entry.program_id)).definition
        try:
            shape = raw.as_json() if isinstance(raw, GraphProgram) else raw
            program = await parse_valid_off_loop(shape, self.bounds)
        except ProgramInvalid as error:
            raise ProgramInvalid(error.validation, index) from None
        trouble = result_of(check_values(program.declared, entry.params))
        if not trouble.valid:
            raise ProgramInvalid(trouble, index)
        return PreparedProgram(program, entry.params)

    @asynccontextmanager
    async def _dispatcher(
        self, ready: Sequence[PreparedProgram], at: At | None, view: str
    ) -> AsyncIterator[Dispatcher]:
        if not self.principal.roles:
            raise Forbidden("Running a program needs the role reader")
        asking = FactsReader(self.system, self.principal)
        glasses = FactsContext(asking.viewer, await asking.now(at))
        deadline = min(time.monotonic() + self.bounds.seconds, current_budget().deadline)
        vectors = self.system.vectors
        if any(uses_vectors(one.program.statements) for one in ready):
            await vectors.ready(at, self.bounds.seconds / 2)
        async with self.system.session_at(at) as session:
            yield Dispatcher(RunContext(session, self.principal, glasses, deadline, vectors, view, self.bounds))


def uses_vectors(statements: Sequence[Statement]) -> bool:
    """Whether a statement calls an endpoint that searches by similarity."""
    done = (statement.operation for statement in statements_in(statements))
    return any(isinstance(operation, ApiOp) and operation.endpoint in VECTOR_ENDPOINTS for operation in done)


def _to_json(program: object) -> dict[str, Any]:
    is_number = isinstance(program, int) and not isinstance(program, bool)
    return {"program_id": program} if is_number else {"program": program}
