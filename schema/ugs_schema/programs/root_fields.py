"""Root fields of programs: validate, convert to and from text, store, and run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import strawberry
from strawberry.types.nodes import SelectedField, Selection

from ugs.errors import InvalidSyntax
from ugs.log.at import At as KernelAt
from ugs.programs.api import DeckEntry, Programs
from ugs.programs.errors import ProgramInvalid, ProgramNotFound, ProgramTextError
from ugs.programs.execution import results
from ugs.programs.large_programs import (
    blocks_of_off_loop,
    compile_blocks_off_loop,
    decode_and_validate_off_loop,
    from_exploration_off_loop,
    parse_text_off_loop,
    print_off_loop,
)
from ugs.programs.model import PROGRAMS
from ugs.programs.queries import NEWEST_FIRST, find_programs, matching_programs
from ugs.programs.validation.limits import operation_count
from ugs.programs.validation.result import ValidationIssue, result_of
from ugs.reads.cursors import cursor_of
from ugs.reads.level_executor import one_more, without_extra
from ugs_schema.context import Info
from ugs_schema.cypher import CypherView
from ugs_schema.graph.inputs import MUTATION_ID_DESCRIPTION, RETRY_DESCRIPTION
from ugs_schema.graph.mutations import Key
from ugs_schema.graph.queries import IDENTIFIED_LOOKUPS
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.graph.types import Identified
from ugs_schema.pagination import build_page_info, parse_page
from ugs_schema.programs.types import (
    BatchProgramResult,
    Program,
    ProgramConnection,
    ProgramEdge,
    ProgramResult,
    ProgramRunUpdate,
    ResultMapper,
    ValidationResult,
    to_graphql_program,
    to_graphql_step,
    to_graphql_validation,
)
from ugs_schema.scalars import Json

DEADLINE_FRACTION = 0.9
"""The fraction of the request deadline that a program may use, so that its result can still be sent."""

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
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.type(description="A program that was kept, or why it was not")
class ProgramPayload:
    program: Program | None = strawberry.field(description="The stored program; null when it is not valid")
    validation: ValidationResult = strawberry.field(description="All that was found")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type
class ProgramsQuery:
    @strawberry.field(description="The stored program with this number; null without one")
    async def program(self, info: Info, id: int, at: At | None = None) -> Program | None:
        return await find_stored(info, id, at)

    @strawberry.field(description="Programs the caller may use: own ones and the system's; admins see all")
    async def programs(
        self,
        info: Info,
        search: str | None = None,
        first: int | None = 20,
        after: str | None = None,
        at: At | None = None,
    ) -> ProgramConnection:
        page = parse_page({"first": first, "after": after}, PROGRAMS, NEWEST_FIRST, default_rows=20)
        where = matching_programs(get_programs(info).caller, search)
        async with info.context.system.session_at(parse_at(at)) as session:
            found = await session.fetch(PROGRAMS, where, NEWEST_FIRST, one_more(page))
        rows, more = without_extra(found, page)
        cursors = [cursor_of(row, PROGRAMS, NEWEST_FIRST) for row in rows]

        async def total() -> int:
            async with info.context.system.session_at(parse_at(at)) as session:
                return await session.count(PROGRAMS, where)

        edges = [
            ProgramEdge(cursor=cursor, node=to_graphql_program(row)) for cursor, row in zip(cursors, rows, strict=True)
        ]
        return ProgramConnection(edges=edges, page_info=build_page_info(page, more, cursors), total=total)

    @strawberry.field(description="All that is wrong with a program, without storing or running it")
    async def validate_program(self, info: Info, program: Tree = None, dsl: Text = None) -> ValidationResult:
        try:
            raw = await parse_program_input(program, dsl)
        except ProgramTextError as error:
            return to_graphql_validation(
                result_of([ValidationIssue("V000", "error", error.message, field="dsl")]), None
            )
        return await validate_raw(info, raw)

    @strawberry.field(description="The JSON of a program written as text")
    async def parse_program(self, dsl: str) -> Json:
        return Json((await parse_text_off_loop(dsl)).program)

    @strawberry.field(description="A program as text; PROGRAM_INVALID when it is none")
    async def print_program(self, program: Json) -> str:
        return await print_off_loop(program)

    @strawberry.field(description="The program that a list of blocks stands for, as JSON")
    async def compile_blocks(self, blocks: Json) -> Json:
        return Json(await compile_blocks_off_loop(blocks))

    @strawberry.field(description="The blocks that a program was made of, from its annotations")
    async def program_blocks(self, program: Json) -> Json:
        return Json(await blocks_of_off_loop(program))

    @strawberry.field(description="An exploration, the format before programs, as the JSON of a program")
    async def migrate_exploration(self, exploration: Json) -> Json:
        return Json(await from_exploration_off_loop(exploration))

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
        entry = await to_deck_entry(program, dsl, program_id, params)
        found = await get_programs(info, within_request=True).run(entry, at=parse_at(at), view=view.name)
        return ResultMapper(info.context, parse_at(at)).result(found)

    @strawberry.field(description="Run up to ten programs in turn, each with the working graph of the one before")
    async def execute_deck(
        self, info: Info, deck: list[DeckEntryInput], view: CypherView = CypherView.GRAPH, at: At | None = None
    ) -> BatchProgramResult:
        entries = [await to_deck_entry(one.program, one.dsl, one.program_id, one.params) for one in deck]
        found = await get_programs(info, within_request=True).execute_deck(entries, at=parse_at(at), view=view.name)
        return ResultMapper(info.context, parse_at(at)).batch(found)


@strawberry.type
class ProgramsMutation:
    @strawberry.mutation(description="Validate a program and keep it; from then on it runs by its number")
    async def save_program(self, info: Info, input: SaveProgramInput) -> ProgramPayload:
        raw = await parse_program_input(input.program, input.dsl)
        try:
            row = await get_programs(info).save(raw, input.name, system=input.system, key=input.idempotency_key)
        except ProgramInvalid as error:
            return build_refusal_payload(error, input)
        return ProgramPayload(
            program=to_graphql_program(row),
            validation=await validate_raw(info, raw),
            client_mutation_id=input.client_mutation_id,
        )

    @strawberry.mutation(description="Change a stored program; what it becomes is validated as a whole")
    async def update_program(self, info: Info, id: int, input: SaveProgramInput) -> ProgramPayload:
        raw = (
            None if input.program is None and input.dsl is None else await parse_program_input(input.program, input.dsl)
        )
        try:
            row = await get_programs(info).update(id, raw, input.name, key=input.idempotency_key)
        except ProgramInvalid as error:
            return build_refusal_payload(error, input)
        return ProgramPayload(
            program=to_graphql_program(row),
            validation=await validate_raw(info, row.definition),
            client_mutation_id=input.client_mutation_id,
        )

    @strawberry.mutation(description="Store the ready-made programs as the system's own, once; only admins may")
    async def install_ready_programs(self, info: Info) -> list[Program]:
        return [to_graphql_program(row) for row in await get_programs(info).install_ready_made()]

    @strawberry.mutation(description="Forget a stored program; true when it is gone")
    async def delete_program(self, info: Info, id: int, idempotency_key: Key = None) -> bool:
        await get_programs(info).delete(id, key=idempotency_key)
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
        entry = await to_deck_entry(program, dsl, program_id, params)
        mapper = ResultMapper(info.context, parse_at(at))
        with_graphs = _asks_for(info.selected_fields, "graph")
        steps = get_programs(info).steps(entry, at=parse_at(at), view=view.name, with_graphs=with_graphs)
        async for news in steps:
            if isinstance(news, results.ProgramResult):
                yield ProgramRunUpdate(step=None, graph=None, result=mapper.result(news))
            else:
                graph = None if news.graph is None else mapper.graph(news.graph)
                yield ProgramRunUpdate(step=to_graphql_step(news.entry), graph=graph, result=None)


def get_programs(info: Info, within_request: bool = False) -> Programs:
    """The programs API with the caller's rights; `within_request` limits runs to a part of the request deadline."""
    context = info.context
    bounds = context.bounds
    if within_request:
        bounds = msgspec.structs.replace(bounds, seconds=min(bounds.seconds, context.seconds * DEADLINE_FRACTION))
    return Programs(context.system, context.principal, bounds)


def _asks_for(selections: Sequence[Selection], name: str) -> bool:
    """Whether a field of the update is asked for, also inside of a fragment."""
    for selection in selections:
        for one in selection.selections:
            if one.name == name if isinstance(one, SelectedField) else _asks_for([one], name):
                return True
    return False


async def parse_program_input(program: object, dsl: str | None) -> object:
    """The program as JSON, given as JSON or as text."""
    if (program is None) == (dsl is None):
        raise InvalidSyntax("Give either program or dsl")
    return program if dsl is None else (await parse_text_off_loop(dsl)).program


async def to_deck_entry(program: object, dsl: str | None, program_id: int | None, params: object) -> DeckEntry:
    if sum(way is not None for way in (program, dsl, program_id)) != 1:
        raise InvalidSyntax("Give exactly one of program, dsl and programId")
    if params is not None and not isinstance(params, Mapping):
        raise InvalidSyntax("params is an object with a value for each parameter")
    values: Mapping[str, Any] = params or {}
    if program_id is not None:
        return DeckEntry(program_id=program_id, params=values)
    return DeckEntry(program=await parse_program_input(program, dsl), params=values)


async def validate_raw(info: Info, raw: object) -> ValidationResult:
    program, found = await decode_and_validate_off_loop(raw, info.context.bounds)
    return to_graphql_validation(found, None if program is None else operation_count(program.statements))


def build_refusal_payload(error: ProgramInvalid, input: SaveProgramInput) -> ProgramPayload:
    return ProgramPayload(
        program=None,
        validation=to_graphql_validation(error.validation, None),
        client_mutation_id=input.client_mutation_id,
    )


async def find_stored(info: Info, id: int, at: At | None = None) -> Program | None:
    try:
        return to_graphql_program(await get_programs(info).get(id, parse_at(at)))
    except ProgramNotFound:
        return None


async def find_programs_by_number(info: Info, ids: Sequence[str], at: KernelAt | None) -> dict[str, Identified]:
    numbers = {id: int(id) for id in ids if id.isascii() and id.isdecimal() and len(id) < 19}
    async with info.context.system.session_at(at) as session:
        found = await find_programs(session, numbers.values(), get_programs(info).caller)
    return {id: to_graphql_program(found[number]) for id, number in numbers.items() if number in found}


IDENTIFIED_LOOKUPS["program"] = find_programs_by_number
