"""Programs as in the Python API, through GraphQL over HTTP: what is kept, run and refused is GraphQL's.

The gateway has one set of bounds for all, and lets in nobody without a role: a test that sets bounds of its own, or
has no role, is answered by Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tests.conformance_over_graphql.client import Door, else_python
from tests.conformance_over_graphql.graph import at_in
from ugs.facts.temporal.instants import instant_of
from ugs.identity import LOCAL, Principal
from ugs.log.at import At
from ugs.programs.api import DeckEntry, Programs
from ugs.programs.ast import GraphProgram, Operator
from ugs.programs.errors import ProgramInvalid, ProgramNotFound
from ugs.programs.execution.executor import OnStep
from ugs.programs.execution.results import Abort, BatchProgramResult, ProgramResult, Size, StepLogEntry
from ugs.programs.execution.working_graph import RawLink, RawNode, WorkingGraph
from ugs.programs.model import PROGRAMS, ProgramRow
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.programs.validation.result import ValidationIssue, ValidationResult
from ugs.system import System

PROGRAM = """fragment P on Program { programId name description program ownerId statementCount operationCount sha256
  createdAt updatedAt }"""
VALIDATION = "validation { ...V }"
ISSUES = """fragment V on ValidationResult { valid operationCount
  errors { ruleId severity statement field message } warnings { ruleId severity statement field message } }"""
W = """fragment W on WorkingGraph { nodes { conceptId label ontology description properties }
  links { fromId toId relationshipType category confidence groundingStrength properties } }"""
RESULT = f"""fragment R on ProgramResult {{ result {{ ...W }} aborted {{ program statement reason }}
  log {{ statement path op operationType branchTaken nodesAffected linksAffected wSize {{ nodes links }} durationMs }} }}
{W}"""
MAX_ROWS = 9999


def tree_in(program: object) -> Any:
    return program.as_json() if isinstance(program, GraphProgram) else program


def issues_of(shown: Sequence[dict[str, Any]]) -> list[ValidationIssue]:
    return [
        ValidationIssue(one["ruleId"], one["severity"].lower(), one["message"], one["statement"], one["field"])
        for one in shown
    ]


def validation_of(shown: dict[str, Any]) -> ValidationResult:
    return ValidationResult(shown["valid"], issues_of(shown["errors"]), issues_of(shown["warnings"]))


def graph_of(shown: dict[str, Any]) -> WorkingGraph:
    nodes = [
        RawNode(one["conceptId"], one["label"], one["ontology"], one["description"], one["properties"])
        for one in shown["nodes"]
    ]
    links = [
        RawLink(
            one["fromId"],
            one["toId"],
            one["relationshipType"],
            one["category"],
            one["confidence"],
            one["groundingStrength"],
            one["properties"],
        )
        for one in shown["links"]
    ]
    return WorkingGraph(nodes, links)


def abort_of(shown: dict[str, Any] | None) -> Abort | None:
    return None if shown is None else Abort(shown["statement"], shown["reason"], shown["program"])


def step_of(shown: dict[str, Any]) -> StepLogEntry:
    return StepLogEntry(
        shown["statement"],
        shown["path"],
        Operator(shown["op"]),
        shown["operationType"].lower(),
        shown["nodesAffected"],
        shown["linksAffected"],
        Size(**shown["wSize"]),
        shown["durationMs"],
        None if shown["branchTaken"] is None else shown["branchTaken"].lower(),
    )


def result_of(shown: dict[str, Any]) -> ProgramResult:
    log = [step_of(step) for step in shown["log"]]
    return ProgramResult(graph_of(shown["result"]), log, abort_of(shown["aborted"]))


def refusal_in(error: ProgramInvalid) -> ProgramInvalid:
    """The refusal with its validation, as Python raises it."""
    entry = error.details.get("entry")
    validation = msgspec.convert(error.details["validation"], ValidationResult)
    told = ProgramInvalid(validation, entry if isinstance(entry, int) else None)
    assert (told.message, told.details) == (error.message, error.details)
    return told


class DoorPrograms(Programs):
    """Every operation about programs that GraphQL has goes through it."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal, bounds: Bounds = BOUNDS) -> None:
        super().__init__(system, principal, bounds)
        self.door = Door(system, principal)
        self.inside = bounds != BOUNDS or not principal.roles

    async def _ask(self, document: str, **given: Any) -> Any:
        """The answer under `done`; a refused program is told with its whole validation, as Python tells it."""
        try:
            return (await self.door.ask(document, **given))["done"]
        except ProgramInvalid as error:
            raise refusal_in(error) from None

    # ── keeping ──────────────────────────────────────────────────────────────

    async def _check_validation(self, program: object) -> None:
        """What `validateProgram` says is what Python says."""
        document = f"query($p: JSON) {{ done: validateProgram(program: $p) {{ ...V }} }} {ISSUES}"
        assert validation_of(await self._ask(document, p=program)) == self.validate(program)

    async def _stored(self, shown: dict[str, Any], at: At | None = None) -> ProgramRow:
        """The row behind a program; what GraphQL shows of it is what is stored."""
        async with self.system.session_at(at) as session:
            row: ProgramRow | None = await session.find(PROGRAMS, shown["programId"])
        assert row is not None
        told = (shown["name"], shown["description"], shown["ownerId"], shown["statementCount"], shown["operationCount"])
        assert told == (row.name, row.description, row.owner_id, row.statement_count, row.operation_count)
        assert (shown["sha256"], shown["program"]) == (row.sha256, row.definition)
        times = instant_of(shown["createdAt"]) // 1_000, instant_of(shown["updatedAt"]) // 1_000
        assert times == (row.created_at, row.updated_at)
        return row

    async def _kept(self, document: str, **given: Any) -> ProgramRow:
        done = await self._ask(f"{document} {PROGRAM} {ISSUES}", **given)
        found = validation_of(done["validation"])
        if done["program"] is None:
            raise ProgramInvalid(found)
        assert found.valid
        return await self._stored(done["program"])

    async def save(
        self, program: object, name: str | None = None, *, system: bool = False, key: str | None = None
    ) -> ProgramRow:
        tree = tree_in(program)
        await self._check_validation(tree)
        asked = {"program": tree, "name": name, "system": system, "idempotencyKey": key}
        document = (
            f"mutation($i: SaveProgramInput!) {{ done: saveProgram(input: $i) {{ program {{ ...P }} {VALIDATION} }} }}"
        )
        return await self._kept(document, i=asked)

    async def update(
        self, id: int, program: object = None, name: str | None = None, *, key: str | None = None
    ) -> ProgramRow:
        asked = {"program": tree_in(program), "name": name, "idempotencyKey": key}
        document = f"""mutation($id: Int!, $i: SaveProgramInput!) {{
          done: updateProgram(id: $id, input: $i) {{ program {{ ...P }} {VALIDATION} }} }}"""
        return await self._kept(document, id=id, i=asked)

    async def delete(self, id: int, *, key: str | None = None) -> None:
        document = "mutation($id: Int!, $k: String) { done: deleteProgram(id: $id, idempotencyKey: $k) }"
        assert await self._ask(document, id=id, k=key) is True

    async def get(self, id: int, at: At | None = None) -> ProgramRow:
        document = f"query($id: Int!, $at: At) {{ done: program(id: $id, at: $at) {{ ...P }} }} {PROGRAM}"
        shown = await self._ask(document, id=id, at=at_in(at))
        if shown is None:
            raise ProgramNotFound(id)
        return await self._stored(shown, at)

    @else_python(Programs)
    async def list(self, search: str | None = None, limit: int = 20, at: At | None = None) -> list[ProgramRow]:
        document = f"""query($s: String, $n: Int, $at: At) {{
          done: programs(search: $s, first: $n, at: $at) {{ nodes {{ ...P }} }} }} {PROGRAM}"""
        found = await self._ask(document, s=search, n=limit, at=at_in(at))
        return [await self._stored(shown, at) for shown in found["nodes"]]

    async def install_ready_made(self) -> Sequence[ProgramRow]:
        found = await self._ask(f"mutation {{ done: installReadyPrograms {{ ...P }} }} {PROGRAM}")
        return [await self._stored(shown) for shown in found]

    # ── running ──────────────────────────────────────────────────────────────

    async def run(
        self, entry: DeckEntry, *, at: At | None = None, view: str = "GRAPH", on_step: OnStep | None = None
    ) -> ProgramResult:
        if self.inside or on_step is not None:
            return await Programs(self.system, self.principal, self.bounds).run(
                entry, at=at, view=view, on_step=on_step
            )
        document = f"""query($p: JSON, $id: Int, $v: JSON, $w: CypherView!, $at: At) {{
          done: executeProgram(program: $p, programId: $id, params: $v, view: $w, at: $at) {{ ...R }} }} {RESULT}"""
        given = {"p": tree_in(entry.program), "id": entry.program_id, "v": dict(entry.params), "w": view}
        return result_of(await self._ask(document, **given, at=at_in(at)))

    async def execute_deck(
        self, deck: Sequence[DeckEntry], *, at: At | None = None, view: str = "GRAPH"
    ) -> BatchProgramResult:
        if self.inside:
            return await Programs(self.system, self.principal, self.bounds).execute_deck(deck, at=at, view=view)
        document = f"""query($d: [DeckEntryInput!]!, $w: CypherView!, $at: At) {{
          done: executeDeck(deck: $d, view: $w, at: $at) {{
            result {{ ...W }} programs {{ ...R }} aborted {{ program statement reason }} }} }} {RESULT}"""
        entries = [entry_in(entry) for entry in deck]
        found = await self._ask(document, d=entries, w=view, at=at_in(at))
        programs = [result_of(one) for one in found["programs"]]
        return BatchProgramResult(graph_of(found["result"]), programs, abort_of(found["aborted"]))


def entry_in(entry: DeckEntry) -> Mapping[str, Any]:
    return {"program": tree_in(entry.program), "programId": entry.program_id, "params": dict(entry.params)}
