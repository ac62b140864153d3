"""The tool of the profile `extended` that validates, stores and runs programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ugs.clock import iso
from ugs.ontology.api import Memory
from ugs.ontology.errors import InvalidArgument
from ugs.programs.api import DeckEntry, Programs
from ugs.programs.ast import GraphProgram
from ugs.programs.execution.working_graph import WorkingGraph
from ugs.programs.large_programs import parse_text_off_loop, print_stored_off_loop
from ugs.programs.model import ProgramRow
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs_gateway.mcp import inputs
from ugs_gateway.mcp.tools.base import ADDS, Json, MemoryTool, retry_key_of

Action = Literal["validate", "execute", "chain", "create", "update", "delete", "get", "list"]
READ_ACTIONS = frozenset({"validate", "execute", "chain", "get", "list"})


class Entry(inputs.Arguments, frozen=True):
    program_id: Annotated[int, Meta(description="The number of a stored program")] | None = None
    program: Annotated[dict[str, Any], Meta(description="A program as JSON")] | None = None
    text: Annotated[str, Meta(description="A program as text")] | None = None
    params: Annotated[dict[str, Any], Meta(description="A value for each parameter")] | None = None


ORDER = "program"
"""The list that a cursor belongs to."""


class Program(inputs.Arguments, frozen=True):
    action: Annotated[Action, Meta(description="chain runs a deck; create, update and delete keep programs")]
    program_id: Annotated[int, Meta(description="The number of a stored program")] | None = None
    program: Annotated[dict[str, Any], Meta(description="The program as JSON")] | None = None
    text: Annotated[str, Meta(description="The program as text, see ugs://program/syntax")] | None = None
    params: Annotated[dict[str, Any], Meta(description="A value for each parameter")] | None = None
    deck: Annotated[list[Entry], Meta(description="For chain: 1 to 10 programs that hand W on")] | None = None
    name: Annotated[str, Meta(description="How a kept program is called")] | None = None
    search: Annotated[str, Meta(description="For list: words in name or description")] | None = None
    limit: Annotated[int, Meta(ge=1, le=100, description="For list: at most so many")] = 20
    cursor: Annotated[str, Meta(description="For list: next_cursor of the page before")] | None = None
    view: Annotated[Literal["GRAPH", "FACTS", "ALL"], Meta(description="What queries look at")] = "GRAPH"

    async def raw(self) -> Any:
        return await raw_of(self.program, self.text)

    def number(self) -> int:
        if self.program_id is None:
            raise InvalidArgument("program_id must be given", argument="program_id")
        return self.program_id


async def raw_of(program: Any, text: str | None) -> Any:
    """A program's JSON, given as JSON or as text."""
    if (program is None) == (text is None):
        raise InvalidArgument("give either program or text", argument="program")
    return program if text is None else (await parse_text_off_loop(text)).program


async def entry_of(arguments: Program | Entry) -> DeckEntry:
    if arguments.program_id is not None:
        return DeckEntry(program_id=arguments.program_id, program=arguments.program, params=arguments.params or {})
    return DeckEntry(program=await raw_of(arguments.program, arguments.text), params=arguments.params or {})


async def validate(programs: Programs, arguments: Program) -> Json:
    return (await programs.validate_off_loop(await arguments.raw())).as_json()


async def execute(programs: Programs, arguments: Program) -> Json:
    found = await programs.run(await entry_of(arguments), view=arguments.view)
    return {**found.as_json(), "result": with_labels(found.result)}


async def chain(programs: Programs, arguments: Program) -> Json:
    found = await programs.execute_deck([await entry_of(entry) for entry in arguments.deck or ()], view=arguments.view)
    told = found.as_json()
    steps = [{key: value for key, value in one.items() if key != "result"} for one in told["programs"]]
    return {**told, "programs": steps, "result": with_labels(found.result)}


async def create(programs: Programs, arguments: Program, key: str | None) -> Json:
    return to_json(await programs.save(await arguments.raw(), arguments.name, key=key))


async def update(programs: Programs, arguments: Program, key: str | None) -> Json:
    raw = None if arguments.program is None and arguments.text is None else await arguments.raw()
    return to_json(await programs.update(arguments.number(), raw, arguments.name, key=key))


async def delete(programs: Programs, arguments: Program, key: str | None) -> Json:
    await programs.delete(arguments.number(), key=key)
    return {"deleted": arguments.number()}


async def get(programs: Programs, arguments: Program) -> Json:
    row = await programs.get(arguments.number())
    tree = msgspec.convert(row.definition, GraphProgram)
    return {**to_json(row), "program": tree.as_json(), "text": await print_stored_off_loop(row.definition)}


async def list_programs(programs: Programs, arguments: Program) -> Json:
    after = None
    if arguments.cursor is not None:
        created, number = decode_cursor(arguments.cursor, ORDER, 2)
        if not isinstance(created, int) or not isinstance(number, int):
            raise InvalidArgument("cursor is not one that a page gave", argument="cursor")
        after = (created, number)
    rows = await programs.list(arguments.search, arguments.limit + 1, after=after)
    shown = rows[: arguments.limit]
    answer: Json = {"programs": [to_json(row) for row in shown]}
    if len(rows) > arguments.limit:
        answer["next_cursor"] = encode_cursor(ORDER, (shown[-1].created_at, shown[-1].id))
    return answer


def to_json(row: ProgramRow) -> Json:
    return {
        "id": row.id,
        "name": row.name,
        "description": row.description,
        "owner_id": row.owner_id,
        "operation_count": row.operation_count,
        "updated_at": iso(row.updated_at),
    }


def with_labels(w: WorkingGraph) -> Json:
    """W with the labels of each link's ends, because ids alone tell a reader little."""
    labels = {node.concept_id: node.label for node in w.nodes}
    shown = w.as_json()
    for link in shown["links"]:
        link |= {"from_label": labels[link["from_id"]], "to_label": labels[link["to_id"]]}
    return shown


ACTIONS: Mapping[str, Callable[[Programs, Program], Awaitable[Json]]] = {
    "validate": validate,
    "execute": execute,
    "chain": chain,
    "get": get,
    "list": list_programs,
}


CHANGING_ACTIONS: Mapping[str, Callable[[Programs, Program, str | None], Awaitable[Json]]] = {
    "create": create,
    "update": update,
    "delete": delete,
}
"""Actions that take a retry key."""


async def program(memory: Memory, arguments: Program) -> Json:
    programs, change = Programs(memory.system, memory.principal), CHANGING_ACTIONS.get(arguments.action)
    if change is not None:
        return await change(programs, arguments, retry_key_of(memory))
    return await ACTIONS[arguments.action](programs, arguments)


def only_reads(arguments: Program) -> bool:
    return arguments.action in READ_ACTIONS


def runs_own_program(arguments: Program) -> bool:
    """Whether the call contains a program to run, instead of the number of a stored one."""
    ran: Mapping[str, Sequence[Program | Entry]] = {"execute": [arguments], "chain": arguments.deck or []}
    entries = ran.get(arguments.action, ())
    return any(entry.program is not None or entry.text is not None for entry in entries)


PROGRAM_TOOLS = (
    MemoryTool(
        "program",
        "Graph programs",
        "Several queries in one: seed, expand, prune. Use it after two or three single look-ups.",
        Program,
        {"type": "object"},
        ADDS,
        program,
        only_reads,
        runs_own_program,
        keeps_key=True,
    ),
)
