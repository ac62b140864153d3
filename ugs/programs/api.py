"""Programs in Python: checking, keeping and running them on behalf of one principal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ugs.cypher.views import Glasses
from ugs.errors import Forbidden, InvalidSyntax
from ugs.facts.asking import Asking
from ugs.identity import LOCAL, Context, Principal
from ugs.programs.ast import ApiOp, GraphProgram, Statement, statements_in
from ugs.programs.bounds import BOUNDS, Bounds
from ugs.programs.commands import Caller, DeleteProgram, SaveProgram, UpdateProgram, valid
from ugs.programs.dispatching import Dispatcher, World
from ugs.programs.endpoints import BY_LIKENESS, answering
from ugs.programs.errors import ProgramInvalid
from ugs.programs.executing import OnStep, Ready, run_deck, run_program
from ugs.programs.issues import ValidationResult, result_of
from ugs.programs.library import ready_made
from ugs.programs.model import PROGRAMS, ProgramRow
from ugs.programs.parameters import check_values
from ugs.programs.queries import NEWEST_FIRST, get_program, listed
from ugs.programs.results import BatchProgramResult, ProgramResult, StepLogEntry
from ugs.programs.validating import validate
from ugs.reads.plan import Page

if TYPE_CHECKING:
    from ugs.feature import Command
    from ugs.moments import At
    from ugs.system import System
    from ugs.writer import Outcome

ANSWERED = answering
"""Importing it fills the table of endpoints."""


class DeckEntry(Struct, frozen=True):
    """A program of a deck: one by its number, or one as it is."""

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
        """All that is wrong with a program, without running or storing it."""
        return validate(program, self.bounds)

    # ── keeping ──────────────────────────────────────────────────────────────

    async def save(
        self, program: object, name: str | None = None, *, system: bool = False, key: str | None = None
    ) -> ProgramRow:
        """Validate a program and store it: from then on it can be run by its number."""
        command = SaveProgram(program=program, caller=self.caller, name=name, system=system, bounds=self.bounds)
        return await self._left(await self._do(command, key))

    async def update(
        self, id: int, program: object = None, name: str | None = None, *, key: str | None = None
    ) -> ProgramRow:
        """Change a stored program; the whole of it is validated again."""
        command = UpdateProgram(id=id, caller=self.caller, program=program, name=name, bounds=self.bounds)
        return await self._left(await self._do(command, key))

    async def delete(self, id: int, *, key: str | None = None) -> None:
        await self._do(DeleteProgram(id=id, caller=self.caller), key)

    async def get(self, id: int, at: At | None = None) -> ProgramRow:
        async with self.system.session_at(at) as session:
            return await get_program(session, id, self.caller)

    async def list(self, search: str | None = None, limit: int = 20, at: At | None = None) -> list[ProgramRow]:
        """Visible programs, newest first."""
        async with self.system.session_at(at) as session:
            return await session.fetch(PROGRAMS, listed(self.caller, search), NEWEST_FIRST, Page(limit=limit))

    async def install_ready_made(self) -> Sequence[ProgramRow]:
        """Store the ready-made programs as the system's own, each once for all time; administrators may."""
        return [
            await self.save(tree.as_json(), name, system=True, key=f"ready-made {name}")
            for name, tree in ready_made().items()
        ]

    async def _do(self, command: Command, key: str | None) -> Outcome:
        return await self.system.execute(command, Context(self.principal, key))

    async def _left(self, outcome: Outcome) -> ProgramRow:
        """The program as the command left it; a retried command is answered with what is there now."""
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
        """Run a program: its number, its JSON, or its syntax tree. It is validated again whatever it is."""
        entry = DeckEntry(params=params or {}, **_meant(program))
        return await self.run(entry, at=at, view=view, on_step=on_step)

    async def run(
        self, entry: DeckEntry, *, at: At | None = None, view: str = "GRAPH", on_step: OnStep | None = None
    ) -> ProgramResult:
        """Run one program as a deck would name it."""
        ready = await self.prepare(entry)
        async with self._dispatcher([ready], at, view) as dispatch:
            deadline = dispatch.world.deadline
            return await run_program(dispatch, ready, deadline, on_step=on_step, bounds=self.bounds)

    async def steps(
        self, entry: DeckEntry, *, at: At | None = None, view: str = "GRAPH"
    ) -> AsyncIterator[StepLogEntry | ProgramResult]:
        """Run one program and tell each step as it is done, then the result; a slow listener delays nothing."""
        news: asyncio.Queue[StepLogEntry | None] = asyncio.Queue()
        running = asyncio.create_task(self.run(entry, at=at, view=view, on_step=news.put_nowait))
        running.add_done_callback(lambda task: news.put_nowait(None))
        try:
            while (step := await news.get()) is not None:
                yield step
            yield await running
        finally:
            running.cancel()

    async def execute_deck(
        self, deck: Sequence[DeckEntry], *, at: At | None = None, view: str = "GRAPH"
    ) -> BatchProgramResult:
        """Run programs in turn, handing W on; all are validated before the first one runs."""
        if not 1 <= len(deck) <= self.bounds.deck:
            raise InvalidSyntax(f"A deck has 1 to {self.bounds.deck} programs, got {len(deck)}")
        ready = [await self.prepare(entry, index) for index, entry in enumerate(deck)]
        async with self._dispatcher(ready, at, view) as dispatch:
            return await run_deck(dispatch, ready, dispatch.world.deadline, self.bounds)

    async def prepare(self, entry: DeckEntry, index: int | None = None) -> Ready:
        """The validated program with its values, or PROGRAM_INVALID that names the entry."""
        if (entry.program is None) == (entry.program_id is None):
            raise InvalidSyntax("Give either a program or the number of a stored one")
        raw = entry.program if entry.program_id is None else (await self.get(entry.program_id)).definition
        try:
            program = valid(raw.as_json() if isinstance(raw, GraphProgram) else raw, self.bounds)
        except ProgramInvalid as error:
            raise ProgramInvalid(error.validation, index) from None
        trouble = result_of(check_values(program.declared, entry.params))
        if not trouble.valid:
            raise ProgramInvalid(trouble, index)
        return Ready(program, entry.params)

    @asynccontextmanager
    async def _dispatcher(self, ready: Sequence[Ready], at: At | None, view: str) -> AsyncIterator[Dispatcher]:
        if not self.principal.roles:
            raise Forbidden("Running a program needs the role reader")
        asking = Asking(self.system, self.principal)
        glasses = Glasses(asking.viewer, await asking.now(at))
        deadline = time.monotonic() + self.bounds.seconds
        vectors = self.system.vectors
        if any(asks_vectors(one.program.statements) for one in ready):
            await vectors.ready(at, self.bounds.seconds / 2)
        async with self.system.session_at(at) as session:
            yield Dispatcher(World(session, self.principal, glasses, deadline, vectors, view, self.bounds))


def asks_vectors(statements: Sequence[Statement]) -> bool:
    """Whether a statement searches by likeness."""
    done = (statement.operation for statement in statements_in(statements))
    return any(isinstance(operation, ApiOp) and operation.endpoint in BY_LIKENESS for operation in done)


def _meant(program: object) -> dict[str, Any]:
    is_number = isinstance(program, int) and not isinstance(program, bool)
    return {"program_id": program} if is_number else {"program": program}
