"""Programs: checking, reading and writing them as text, keeping them, and running them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import strawberry

from schema.changing import Key
from schema.context import Info
from schema.cypher import CypherView
from schema.elements import Identified
from schema.inputs import MUTATION_ID, RETRY
from schema.moments import At, moment_of
from schema.paging import page_asked, page_info
from schema.programs_types import (
    BatchProgramResult,
    Program,
    ProgramConnection,
    ProgramEdge,
    ProgramResult,
    ProgramRunUpdate,
    Showing,
    ValidationResult,
    shown_program,
    shown_step,
    shown_validation,
)
from schema.reading import IDENTIFIED
from schema.scalars import Json
from ugs.errors import InvalidSyntax
from ugs.programs import results
from ugs.programs.api import DeckEntry, Programs
from ugs.programs.blocks import blocks_of, compile_blocks
from ugs.programs.bounds import operation_count
from ugs.programs.decoding import decode
from ugs.programs.errors import ProgramInvalid, ProgramNotFound, ProgramTextError
from ugs.programs.issues import ValidationIssue, result_of
from ugs.programs.migration import from_exploration
from ugs.programs.model import PROGRAMS
from ugs.programs.queries import NEWEST_FIRST, find_programs, listed
from ugs.programs.text import parse_text, print_text
from ugs.programs.validating import checked
from ugs.reads.cursors import cursor_of
from ugs.reads.levels import one_more, without_extra

PATIENCE = 0.9
"""The part of a request's time that a program may use, so that its result still gets out."""

Tree = Annotated[Json | None, strawberry.argument(description="The program as JSON")]
Text = Annotated[str | None, strawberry.argument(description="The program as text, instead")]
Number = Annotated[int | None, strawberry.argument(description="The number of a stored program, instead")]
Params = Annotated[Json | None, strawberry.argument(description="An object with a value for each parameter")]


@strawberry.input(description="A program of a deck: one of program, dsl and programId")
class DeckEntryInput:
    program_id: int | None = strawberry.field(default=None, description="The number of a stored program")
    program: Json | None = strawberry.field(default=None, description="The program as JSON")
    dsl: str | None = strawberry.field(default=None, description="The program as text")
    params: Json | None = strawberry.field(default=None, description="An object with a value for each parameter")


@strawberry.input(description="A program to keep: one of program and dsl")
class SaveProgramInput:
    name: str | None = strawberry.field(default=None, description="How it is called; else what its metadata says")
    program: Json | None = strawberry.field(default=None, description="The program as JSON")
    dsl: str | None = strawberry.field(default=None, description="The program as text")
    system: bool = strawberry.field(default=False, description="Keep it for everybody; only admins may")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.type(description="A program that was kept, or why it was not")
class ProgramPayload:
    program: Program | None = strawberry.field(description="The stored program; null when it is not valid")
    validation: ValidationResult = strawberry.field(description="All that was found")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type
class ProgramsQuery:
    @strawberry.field(description="The stored program with this number; null without one")
    async def program(self, info: Info, id: int, at: At | None = None) -> Program | None:
        return await stored(info, id, at)

    @strawberry.field(description="Programs the caller may use: own ones and the system's; admins see all")
    async def programs(
        self,
        info: Info,
        search: str | None = None,
        first: int | None = 20,
        after: str | None = None,
        at: At | None = None,
    ) -> ProgramConnection:
        page = page_asked({"first": first, "after": after}, PROGRAMS, NEWEST_FIRST, usual=20)
        where = listed(programs_of(info).caller, search)
        async with info.context.system.session_at(moment_of(at)) as session:
            found = await session.fetch(PROGRAMS, where, NEWEST_FIRST, one_more(page))
        rows, more = without_extra(found, page)
        cursors = [cursor_of(row, PROGRAMS, NEWEST_FIRST) for row in rows]

        async def total() -> int:
            async with info.context.system.session_at(moment_of(at)) as session:
                return await session.count(PROGRAMS, where)

        edges = [ProgramEdge(cursor=cursor, node=shown_program(row)) for cursor, row in zip(cursors, rows, strict=True)]
        return ProgramConnection(edges=edges, page_info=page_info(page, more, cursors), total=total)

    @strawberry.field(description="All that is wrong with a program, without storing or running it")
    async def validate_program(self, info: Info, program: Tree = None, dsl: Text = None) -> ValidationResult:
        try:
            raw = raw_program(program, dsl)
        except ProgramTextError as error:
            return shown_validation(result_of([ValidationIssue("V000", "error", error.message, field="dsl")]), None)
        return validation_of(info, raw)

    @strawberry.field(description="The JSON of a program written as text")
    async def parse_program(self, dsl: str) -> Json:
        return Json(parse_text(dsl).program)

    @strawberry.field(description="A program as text; PROGRAM_INVALID when it is none")
    async def print_program(self, program: Json) -> str:
        return print_text(decoded(program))

    @strawberry.field(description="The program that a list of blocks stands for, as JSON")
    async def compile_blocks(self, blocks: Json) -> Json:
        return Json(compile_blocks(blocks).as_json())

    @strawberry.field(description="The blocks that a program was made of, from its annotations")
    async def program_blocks(self, program: Json) -> Json:
        return Json(blocks_of(decoded(program)))

    @strawberry.field(description="An exploration, the format before programs, as the JSON of a program")
    async def migrate_exploration(self, exploration: Json) -> Json:
        return Json(from_exploration(exploration))

    @strawberry.field(description="Run a program, with the caller's rights; an abort is part of the result")
    async def execute_program(
        self,
        info: Info,
        program: Tree = None,
        dsl: Text = None,
        program_id: Number = None,
        params: Params = None,
        view: CypherView = CypherView.GRAPH,
        at: At | None = None,
    ) -> ProgramResult:
        entry = entry_of(program, dsl, program_id, params)
        found = await programs_of(info, within_request=True).run(entry, at=moment_of(at), view=view.name)
        return Showing(info.context, moment_of(at)).result(found)

    @strawberry.field(description="Run up to ten programs in turn, each with the working graph of the one before")
    async def execute_deck(
        self, info: Info, deck: list[DeckEntryInput], view: CypherView = CypherView.GRAPH, at: At | None = None
    ) -> BatchProgramResult:
        entries = [entry_of(one.program, one.dsl, one.program_id, one.params) for one in deck]
        found = await programs_of(info, within_request=True).execute_deck(entries, at=moment_of(at), view=view.name)
        return Showing(info.context, moment_of(at)).batch(found)


@strawberry.type
class ProgramsMutation:
    @strawberry.mutation(description="Validate a program and keep it; from then on it runs by its number")
    async def save_program(self, info: Info, input: SaveProgramInput) -> ProgramPayload:
        raw = raw_program(input.program, input.dsl)
        try:
            row = await programs_of(info).save(raw, input.name, system=input.system, key=input.idempotency_key)
        except ProgramInvalid as error:
            return refused(error, input)
        return ProgramPayload(
            program=shown_program(row),
            validation=validation_of(info, raw),
            client_mutation_id=input.client_mutation_id,
        )

    @strawberry.mutation(description="Change a stored program; what it becomes is validated as a whole")
    async def update_program(self, info: Info, id: int, input: SaveProgramInput) -> ProgramPayload:
        raw = None if input.program is None and input.dsl is None else raw_program(input.program, input.dsl)
        try:
            row = await programs_of(info).update(id, raw, input.name, key=input.idempotency_key)
        except ProgramInvalid as error:
            return refused(error, input)
        return ProgramPayload(
            program=shown_program(row),
            validation=validation_of(info, row.definition),
            client_mutation_id=input.client_mutation_id,
        )

    @strawberry.mutation(description="Store the ready-made programs as the system's own, once; only admins may")
    async def install_ready_programs(self, info: Info) -> list[Program]:
        return [shown_program(row) for row in await programs_of(info).install_ready_made()]

    @strawberry.mutation(description="Forget a stored program; true when it is gone")
    async def delete_program(self, info: Info, id: int, idempotency_key: Key = None) -> bool:
        await programs_of(info).delete(id, key=idempotency_key)
        return True


@strawberry.type
class ProgramsSubscription:
    @strawberry.subscription(description="Run a program and hear of each step as it is done, then of the result")
    async def program_run(
        self,
        info: Info,
        program: Tree = None,
        dsl: Text = None,
        program_id: Number = None,
        params: Params = None,
        view: CypherView = CypherView.GRAPH,
        at: At | None = None,
    ) -> AsyncIterator[ProgramRunUpdate]:
        entry = entry_of(program, dsl, program_id, params)
        showing = Showing(info.context, moment_of(at))
        async for news in programs_of(info).steps(entry, at=moment_of(at), view=view.name):
            if isinstance(news, results.ProgramResult):
                yield ProgramRunUpdate(step=None, result=showing.result(news))
            else:
                yield ProgramRunUpdate(step=shown_step(news), result=None)


def programs_of(info: Info, within_request: bool = False) -> Programs:
    """The programs as the caller may use them; within a request they end before it does."""
    context = info.context
    bounds = context.bounds
    if within_request:
        bounds = msgspec.structs.replace(bounds, seconds=min(bounds.seconds, context.seconds * PATIENCE))
    return Programs(context.system, context.principal, bounds)


def raw_program(program: object, dsl: str | None) -> object:
    """The JSON of a program that is given in either way."""
    if (program is None) == (dsl is None):
        raise InvalidSyntax("Give either program or dsl")
    return program if dsl is None else parse_text(dsl).program


def entry_of(program: object, dsl: str | None, program_id: int | None, params: object) -> DeckEntry:
    if sum(way is not None for way in (program, dsl, program_id)) != 1:
        raise InvalidSyntax("Give exactly one of program, dsl and programId")
    if params is not None and not isinstance(params, Mapping):
        raise InvalidSyntax("params is an object with a value for each parameter")
    values: Mapping[str, Any] = params or {}
    if program_id is not None:
        return DeckEntry(program_id=program_id, params=values)
    return DeckEntry(program=raw_program(program, dsl), params=values)


def decoded(raw: object) -> Any:
    """The syntax tree; what is no program at all is refused, what breaks other rules is not."""
    program, found = decode(raw)
    if program is None:
        raise ProgramInvalid(result_of(found))
    return program


def validation_of(info: Info, raw: object) -> ValidationResult:
    program, found = checked(raw, info.context.bounds)
    return shown_validation(found, None if program is None else operation_count(program.statements))


def refused(error: ProgramInvalid, input: SaveProgramInput) -> ProgramPayload:
    return ProgramPayload(
        program=None,
        validation=shown_validation(error.validation, None),
        client_mutation_id=input.client_mutation_id,
    )


async def stored(info: Info, id: int, at: At | None = None) -> Program | None:
    try:
        return shown_program(await programs_of(info).get(id, moment_of(at)))
    except ProgramNotFound:
        return None


async def programs_by_number(info: Info, ids: Sequence[str]) -> dict[str, Identified]:
    numbers = {id: int(id) for id in ids if id.isascii() and id.isdecimal() and len(id) < 19}
    async with info.context.system.session() as session:
        found = await find_programs(session, numbers.values(), programs_of(info).caller)
    return {id: shown_program(found[number]) for id, number in numbers.items() if number in found}


IDENTIFIED["program"] = programs_by_number
