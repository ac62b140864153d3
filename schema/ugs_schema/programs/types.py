"""GraphQL types of programs and their results."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec
import strawberry
from strawberry.dataloader import DataLoader

from ugs.graph.model import NODES, Node
from ugs.identity import is_identifier
from ugs.log.at import At
from ugs.programs.ast import GraphProgram
from ugs.programs.execution import results, working_graph
from ugs.programs.large_programs import print_stored_off_loop
from ugs.programs.model import ProgramRow
from ugs.programs.validation import result as validation_result
from ugs.reads.plan import ResultRow
from ugs_schema.context import RequestContext
from ugs_schema.graph.types import GraphNode, Identified, to_graphql_node
from ugs_schema.pagination import PageInfo
from ugs_schema.scalars import Instant, Json, instant_of


@strawberry.enum(description="How bad a finding is")
class IssueSeverity(Enum):
    ERROR = strawberry.enum_value("error", description="The program cannot be stored or run")
    WARNING = strawberry.enum_value("warning", description="The program works, but look at this")


@strawberry.enum(description="What a statement did to get its result")
class OperationType(Enum):
    CYPHER = strawberry.enum_value("cypher", description="A query against the graph")
    API = strawberry.enum_value("api", description="A call of an internal endpoint")
    CONDITIONAL = strawberry.enum_value("conditional", description="One of two branches")


@strawberry.enum(description="A branch of a conditional")
class Branch(Enum):
    THEN = strawberry.enum_value("then", description="The condition held")
    ELSE = strawberry.enum_value("else", description="It did not")


@strawberry.type(description="One finding about a program")
class ValidationIssue:
    rule_id: str = strawberry.field(description="The rule, V000 to V042")
    severity: IssueSeverity = strawberry.field(description="Whether it blocks")
    statement: int | None = strawberry.field(description="The top-level statement, from 0; null for the whole program")
    field: str | None = strawberry.field(description="Where in the statement, such as operation.query")
    message: str = strawberry.field(description="In words")
    path: str | None = strawberry.field(
        description="Where a statement inside a branch stands, such as 2.then.0; null for others"
    )


@strawberry.type(description="Whether a program is valid, and all that was found")
class ValidationResult:
    valid: bool = strawberry.field(description="Whether there are no errors")
    errors: list[ValidationIssue] = strawberry.field(description="What blocks")
    warnings: list[ValidationIssue] = strawberry.field(description="What does not")
    operation_count: int | None = strawberry.field(
        description="The most operations it can run, known before it runs; null when it is not valid"
    )


@strawberry.type(description="A stored program: validated, hashed and owned")
class Program(Identified):
    row: strawberry.Private[ProgramRow]

    @strawberry.field(description="Its number")
    def program_id(self) -> int:
        return self.row.id

    @strawberry.field(description="How it is called")
    def name(self) -> str:
        return self.row.name

    @strawberry.field(description="What it is for")
    def description(self) -> str | None:
        return self.row.description

    @strawberry.field(description="The syntax tree as JSON")
    def program(self) -> Json:
        return Json(to_tree(self.row).as_json())

    @strawberry.field(description="The same as text")
    async def dsl(self) -> str:
        return await print_stored_off_loop(self.row.definition)

    @strawberry.field(description="Who owns it; null for the system's own")
    def owner_id(self) -> str | None:
        return self.row.owner_id

    @strawberry.field(description="How many statements it has at the top level")
    def statement_count(self) -> int:
        return self.row.statement_count

    @strawberry.field(description="The most operations it can run")
    def operation_count(self) -> int:
        return self.row.operation_count

    @strawberry.field(description="SHA-256 of the validated definition; one that differs is not run")
    def sha256(self) -> str:
        return self.row.sha256

    @strawberry.field(description="When it was first stored")
    def created_at(self) -> Instant:
        return instant_of(self.row.created_at)

    @strawberry.field(description="When it was last stored")
    def updated_at(self) -> Instant:
        return instant_of(self.row.updated_at)


@strawberry.type(description="A program on a page, with the cursor behind it")
class ProgramEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: Program = strawberry.field(description="The program")


@strawberry.type(description="A page of programs, newest first")
class ProgramConnection:
    edges: list[ProgramEdge] = strawberry.field(description="The programs with their cursors")
    page_info: PageInfo = strawberry.field(description="Where the page stands")
    total: strawberry.Private[Any]

    @strawberry.field(description="The programs alone")
    def nodes(self) -> list[Program]:
        return [edge.node for edge in self.edges]

    @strawberry.field(description="How many there are in all; counted only when chosen")
    async def total_count(self) -> int:
        return int(await self.total())


Loader = DataLoader[str, Node | None]


@strawberry.type(description="A node of the working graph")
class RawNode:
    raw: strawberry.Private[working_graph.RawNode]
    loader: strawberry.Private[Loader]
    at: strawberry.Private[At | None]

    @strawberry.field(description="What makes it the same as another")
    def concept_id(self) -> strawberry.ID:
        return strawberry.ID(self.raw.concept_id)

    @strawberry.field(description="How it is shown")
    def label(self) -> str:
        return self.raw.label

    @strawberry.field(description="The ontology it belongs to")
    def ontology(self) -> str | None:
        return self.raw.ontology

    @strawberry.field(description="What it is")
    def description(self) -> str | None:
        return self.raw.description

    @strawberry.field(description="Everything else that is known about it")
    def properties(self) -> Json:
        return Json(self.raw.properties)

    @strawberry.field(description="The node of the graph behind it; null when it stands for something else")
    async def node(self) -> GraphNode | None:
        row = await self.loader.load(self.raw.concept_id)
        return None if row is None else to_graphql_node(ResultRow(row, {}), at=self.at)


@strawberry.type(description="A link of the working graph")
class RawLink:
    raw: strawberry.Private[working_graph.RawLink]

    @strawberry.field(description="Where it starts")
    def from_id(self) -> strawberry.ID:
        return strawberry.ID(self.raw.from_id)

    @strawberry.field(description="Where it ends")
    def to_id(self) -> strawberry.ID:
        return strawberry.ID(self.raw.to_id)

    @strawberry.field(description="Of which type it is")
    def relationship_type(self) -> str:
        return self.raw.relationship_type

    @strawberry.field(description="A wider class of the type")
    def category(self) -> str | None:
        return self.raw.category

    @strawberry.field(description="How sure it is")
    def confidence(self) -> float | None:
        return self.raw.confidence

    @strawberry.field(description="How well it is supported")
    def grounding_strength(self) -> float | None:
        return self.raw.grounding_strength

    @strawberry.field(description="Everything else that is known about it")
    def properties(self) -> Json:
        return Json(self.raw.properties)


@strawberry.type(description="The graph that a program has put together")
class WorkingGraph:
    nodes: list[RawNode] = strawberry.field(description="In the order in which they came")
    links: list[RawLink] = strawberry.field(description="Each between two of the nodes")


@strawberry.type(description="How much the working graph holds")
class WSize:
    nodes: int = strawberry.field(description="Nodes")
    links: int = strawberry.field(description="Links")


@strawberry.type(description="One step that was done")
class StepLogEntry:
    statement: int = strawberry.field(description="The top-level statement, from 0")
    path: str = strawberry.field(description="Where the statement stands, such as 2.then.0")
    op: str = strawberry.field(description="The operator: + - & ? or !")
    operation_type: OperationType = strawberry.field(description="What kind of operation it was")
    branch_taken: Branch | None = strawberry.field(description="For a conditional: which branch")
    nodes_affected: int = strawberry.field(description="Nodes added or removed")
    links_affected: int = strawberry.field(description="Links added or removed")
    w_size: WSize = strawberry.field(description="The working graph after the step")
    duration_ms: float = strawberry.field(description="How long it took")


@strawberry.type(description="Why and where a program stopped")
class Abort:
    program: int | None = strawberry.field(description="In a deck: which program, from 0")
    statement: int = strawberry.field(description="The top-level statement, from 0")
    reason: str = strawberry.field(description="In words")


@strawberry.type(description="What a program left behind")
class ProgramResult:
    result: WorkingGraph = strawberry.field(description="The working graph at the end, or where the program stopped")
    log: list[StepLogEntry] = strawberry.field(description="The steps, in the order they were done")
    aborted: Abort | None = strawberry.field(description="Why it stopped early; null when it did not")


@strawberry.type(description="What a deck of programs left behind")
class BatchProgramResult:
    result: WorkingGraph = strawberry.field(description="The working graph at the end")
    programs: list[ProgramResult] = strawberry.field(description="What each program left, the one that stopped last")
    aborted: Abort | None = strawberry.field(description="Why it stopped early; null when it did not")


@strawberry.type(description="News of a running program: a step, or at last the result")
class ProgramRunUpdate:
    step: StepLogEntry | None = strawberry.field(description="A step that was just done")
    graph: WorkingGraph | None = strawberry.field(
        description="The working graph after that step; null if nobody takes the news in time"
    )
    result: ProgramResult | None = strawberry.field(description="The end")


def to_tree(row: ProgramRow) -> GraphProgram:
    return msgspec.convert(row.definition, GraphProgram)


def to_graphql_program(row: ProgramRow) -> Program:
    return Program(id=strawberry.ID(f"program/{row.id}"), row=row)


def to_graphql_validation(result: validation_result.ValidationResult, count: int | None) -> ValidationResult:
    return ValidationResult(
        valid=result.valid,
        errors=[_to_graphql_issue(issue) for issue in result.errors],
        warnings=[_to_graphql_issue(issue) for issue in result.warnings],
        operation_count=count,
    )


def _to_graphql_issue(issue: validation_result.ValidationIssue) -> ValidationIssue:
    return ValidationIssue(
        rule_id=issue.rule_id,
        severity=IssueSeverity(issue.severity),
        statement=issue.statement,
        field=issue.field,
        message=issue.message,
        path=issue.path,
    )


def to_graphql_step(step: results.StepLogEntry) -> StepLogEntry:
    return StepLogEntry(
        statement=step.statement,
        path=step.path,
        op=step.op.value,
        operation_type=OperationType(step.operation_type),
        branch_taken=None if step.branch_taken is None else Branch(step.branch_taken),
        nodes_affected=step.nodes_affected,
        links_affected=step.links_affected,
        w_size=WSize(nodes=step.w_size.nodes, links=step.w_size.links),
        duration_ms=step.duration_ms,
    )


def _to_graphql_abort(result: results.Abort | None) -> Abort | None:
    return None if result is None else Abort(program=result.program, statement=result.statement, reason=result.reason)


class ResultMapper:
    """Converts the results of one request; their nodes are read in batches."""

    def __init__(self, context: RequestContext, at: At | None) -> None:
        self.context, self.at = context, at
        self.loader: Loader = DataLoader(load_fn=self._load)

    async def _load(self, ids: list[str]) -> list[Node | None]:
        known = sorted({id for id in ids if is_identifier(id)})
        async with self.context.system.session_at(self.at) as session:
            rows = {row.id: row for row in await session.find_many(NODES, known)}
        return [rows.get(id) for id in ids]

    def graph(self, w: working_graph.WorkingGraph) -> WorkingGraph:
        return WorkingGraph(
            nodes=[RawNode(raw=node, loader=self.loader, at=self.at) for node in w.nodes],
            links=[RawLink(raw=link) for link in w.links],
        )

    def result(self, result: results.ProgramResult) -> ProgramResult:
        log = [to_graphql_step(step) for step in result.log]
        return ProgramResult(result=self.graph(result.result), log=log, aborted=_to_graphql_abort(result.aborted))

    def batch(self, result: results.BatchProgramResult) -> BatchProgramResult:
        programs = [self.result(one) for one in result.programs]
        return BatchProgramResult(
            result=self.graph(result.result), programs=programs, aborted=_to_graphql_abort(result.aborted)
        )
