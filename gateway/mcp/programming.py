"""The further tool of the profile `extended` that checks, keeps and runs programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gateway.mcp import inputs
from gateway.mcp.tool import ADDS, Json, MemoryTool
from ugs.ontology.api import Memory, iso
from ugs.ontology.errors import InvalidArgument
from ugs.programs.api import DeckEntry, Programs
from ugs.programs.ast import GraphProgram
from ugs.programs.model import ProgramRow
from ugs.programs.text import parse_text, print_text
from ugs.programs.working import WorkingGraph

Action = Literal["validate", "execute", "chain", "create", "update", "delete", "get", "list"]
READING = frozenset({"validate", "execute", "chain", "get", "list"})


class Entry(inputs.Arguments, frozen=True):
    program_id: Annotated[int, Meta(description="The number of a stored program")] | None = None
    program: Annotated[dict[str, Any], Meta(description="A program as JSON")] | None = None
    text: Annotated[str, Meta(description="A program as text")] | None = None
    params: Annotated[dict[str, Any], Meta(description="A value for each parameter")] | None = None


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
    view: Annotated[Literal["GRAPH", "FACTS", "ALL"], Meta(description="What queries look at")] = "GRAPH"

    def raw(self) -> Any:
        return raw_of(self.program, self.text)

    def number(self) -> int:
        if self.program_id is None:
            raise InvalidArgument("program_id must be given", argument="program_id")
        return self.program_id


def raw_of(program: Any, text: str | None) -> Any:
    """A program's JSON, given so or as text."""
    if (program is None) == (text is None):
        raise InvalidArgument("give either program or text", argument="program")
    return program if text is None else parse_text(text).program


def entry_of(given: Program | Entry) -> DeckEntry:
    if given.program_id is not None:
        return DeckEntry(program_id=given.program_id, program=given.program, params=given.params or {})
    return DeckEntry(program=raw_of(given.program, given.text), params=given.params or {})


async def validate(programs: Programs, given: Program) -> Json:
    return programs.validate(given.raw()).as_json()


async def execute(programs: Programs, given: Program) -> Json:
    found = await programs.run(entry_of(given), view=given.view)
    return {**found.as_json(), "result": with_labels(found.result)}


async def chain(programs: Programs, given: Program) -> Json:
    found = await programs.execute_deck([entry_of(entry) for entry in given.deck or ()], view=given.view)
    told = found.as_json()
    steps = [{key: value for key, value in one.items() if key != "result"} for one in told["programs"]]
    return {**told, "programs": steps, "result": with_labels(found.result)}


async def create(programs: Programs, given: Program) -> Json:
    return told(await programs.save(given.raw(), given.name))


async def update(programs: Programs, given: Program) -> Json:
    raw = None if given.program is None and given.text is None else given.raw()
    return told(await programs.update(given.number(), raw, given.name))


async def delete(programs: Programs, given: Program) -> Json:
    await programs.delete(given.number())
    return {"deleted": given.number()}


async def get(programs: Programs, given: Program) -> Json:
    row = await programs.get(given.number())
    tree = msgspec.convert(row.definition, GraphProgram)
    return {**told(row), "program": tree.as_json(), "text": print_text(tree)}


async def list_programs(programs: Programs, given: Program) -> Json:
    return {"programs": [told(row) for row in await programs.list(given.search, given.limit)]}


def told(row: ProgramRow) -> Json:
    return {
        "id": row.id,
        "name": row.name,
        "description": row.description,
        "owner_id": row.owner_id,
        "operation_count": row.operation_count,
        "updated_at": iso(row.updated_at),
    }


def with_labels(w: WorkingGraph) -> Json:
    """W with the labels of a link's ends: ids alone tell a reader little."""
    labels = {node.concept_id: node.label for node in w.nodes}
    shown = w.as_json()
    for link in shown["links"]:
        link |= {"from_label": labels[link["from_id"]], "to_label": labels[link["to_id"]]}
    return shown


ACTIONS: Mapping[str, Callable[[Programs, Program], Awaitable[Json]]] = {
    "validate": validate,
    "execute": execute,
    "chain": chain,
    "create": create,
    "update": update,
    "delete": delete,
    "get": get,
    "list": list_programs,
}


async def program(memory: Memory, given: Program) -> Json:
    return await ACTIONS[given.action](Programs(memory.system, memory.principal), given)


def only_reads(given: Program) -> bool:
    return given.action in READING


PROGRAMMING = (
    MemoryTool(
        "program",
        "Graph programs",
        "Several queries in one: seed, expand, prune. Use it after two or three single look-ups.",
        Program,
        {"type": "object"},
        ADDS,
        program,
        only_reads,
    ),
)
