"""The Python face of the engine: text, parameters and a graph in, columns and rows out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from msgspec import Struct

from ugs.cypher.analysis import analyse
from ugs.cypher.analysis.merging import merge_matches
from ugs.cypher.analysis.walk import walk
from ugs.cypher.engine import local, nested
from ugs.cypher.engine.env import Layout
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.joining import StoreMatch
from ugs.cypher.engine.planning.queries import Planned, plan_query
from ugs.cypher.engine.planning.statistics import Statistics, gather, labels_worth_counting
from ugs.cypher.engine.reader import Reader
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.view import GraphView, StoredGraph
from ugs.cypher.errors import CypherError, CypherParameterMissing, CypherSyntaxError
from ugs.cypher.explaining import PlanStep, as_table, steps_of
from ugs.cypher.parsing import parse
from ugs.cypher.syntax import Parameter, Statement
from ugs.cypher.values.comparing import identity
from ugs.cypher.views import Glasses, view_of
from ugs.errors import DeadlineExceeded, LimitExceeded
from ugs.facts.instants import end_of
from ugs.facts.viewing import Viewer
from ugs.storage import Session

COMPILED = (local, nested)
"""Modules that teach the compiler further expressions when they are imported."""
ATTEMPTS = 3


Rows = list[tuple[Any, ...]]


class Prepared(Struct, frozen=True):
    """A query that has passed all checks."""

    text: str
    statement: Statement
    columns: tuple[str, ...]
    rivals: tuple[str, ...] = ()
    """Labels of which a plan should know how many nodes have them."""
    parameters: tuple[Parameter, ...] = ()
    """What must be given with it."""

    def check_given(self, params: Mapping[str, Any]) -> None:
        """Refuse what lacks a parameter, whatever the data: who finds nothing would never hear of the mistake."""
        for one in self.parameters:
            if one.name not in params:
                raise CypherParameterMissing("MissingParameter", f"The parameter ${one.name} was not given", one.at)


class Result(Struct, frozen=True):
    """The answer to a query."""

    columns: tuple[str, ...]
    rows: Rows
    fetches: int = 0
    """How many questions the store was asked."""
    plan: tuple[PlanStep, ...] = ()
    """The operators, when the query began with EXPLAIN or PROFILE."""
    truncated: bool = False
    """Whether there are more rows than `Limits.first` asked for."""


@lru_cache(maxsize=1024)
def prepare(text: str) -> Prepared:
    """Parse and check a query, without looking at any data."""
    statement = parse(text)
    try:
        columns = tuple(analyse(statement, text))
        statement = replace(statement, query=merge_matches(statement.query))
        needed = [] if statement.mode == "EXPLAIN" else [one for one in walk(statement) if isinstance(one, Parameter)]
        needed.sort(key=lambda one: one.at)
        return Prepared(text, statement, columns, labels_worth_counting(statement.query), tuple(needed))
    except RecursionError:
        raise CypherSyntaxError("NestingTooDeep", "The query nests too deep", 0) from None


def everything_now() -> Glasses:
    """The eyes of an administrator, at this moment."""
    return Glasses(Viewer(), end_of(time.time_ns() // 1_000_000))


async def run(
    source: Session | GraphView,
    query: str,
    params: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    view: str = "GRAPH",
    glasses: Glasses | None = None,
) -> Result:
    """Answer a query. Nothing is changed, and nothing goes on after the answer or the error."""
    prepared = prepare(query)
    bounds = limits or Limits()
    graph = view_of(source, view, glasses or everything_now())
    with InWords(query, bounds):
        prepared.check_given(params or {})
        async with asyncio.timeout(bounds.seconds):
            return await _consistent(prepared, graph, params or {}, bounds)


class InWords:
    """What goes wrong inside leaves with its place in the query and in words that help."""

    __slots__ = ("limits", "query")

    def __init__(self, query: str, limits: Limits) -> None:
        self.query = query
        self.limits = limits

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if isinstance(error, TimeoutError):
            raise DeadlineExceeded(f"The query took longer than {self.limits.seconds:g} seconds") from None
        if isinstance(error, RecursionError):
            raise LimitExceeded("A value nests too deep to be compared") from None
        if isinstance(error, CypherError):
            error.locate(self.query)


async def _consistent(prepared: Prepared, view: GraphView, params: Mapping[str, Any], limits: Limits) -> Result:
    """An answer from one state: where a commit came in between, ask again, at last without letting anyone in."""
    deadline = time.monotonic() + limits.seconds
    for attempt in range(ATTEMPTS):
        execution = Run(Reader(view), params, limits)
        execution.deadline = deadline
        execution.yields = attempt < ATTEMPTS - 1
        before = await view.position()
        result = await _answer(prepared, execution)
        if await view.position() == before:
            break
    return result


async def explain(source: Session | GraphView, query: str, view: str = "GRAPH") -> str:
    """How a query would be answered, as a table for people; nothing is run."""
    graph = view_of(source, view, everything_now())
    parts, layout = await _planned(prepare(query), graph)
    return as_table(await _steps(parts, layout, Run(Reader(graph), {}, Limits())))


async def _planned(prepared: Prepared, view: GraphView) -> tuple[list[Planned], Layout]:
    # A store that orders joins itself has its own statistics.
    orders = isinstance(view, StoredGraph) and view.orders_joins
    return plan_for(prepared.text, await gather(view, () if orders else prepared.rivals))


@lru_cache(maxsize=1024)
def plan_for(text: str, statistics: Statistics) -> tuple[list[Planned], Layout]:
    """The plan of a query. Operators keep nothing of a run, so the same plan serves any number of them."""
    layout = Layout()
    return plan_query(prepare(text).statement.query, layout, statistics), layout


async def _answer(prepared: Prepared, run: Run) -> Result:
    mode = prepared.statement.mode
    parts, layout = await _planned(prepared, run.graph.view)
    if mode == "EXPLAIN":
        return Result(prepared.columns, [], run.graph.fetches, tuple(await _steps(parts, layout, run)))
    run.counts = {} if mode == "PROFILE" else None
    distinct = len(parts) > 1 and not prepared.statement.query.all
    # One row more than asked for tells whether there are more; which rows are equal only all of them tell.
    enough = None if distinct or run.limits.first is None else run.limits.first + 1
    rows: Rows = []
    for part in parts:
        run.template = first_row(run, layout.width)
        slots = part.slots(prepared.columns)
        await take_rows(run, flow(run, part.operators, one_batch([run.template[:]])), slots, rows, enough)
    if distinct:
        rows = list({tuple(identity(value) for value in row): row for row in reversed(rows)}.values())[::-1]
    return result_of(prepared, run, rows, tuple(await _steps(parts, layout, run)) if mode == "PROFILE" else ())


def result_of(prepared: Prepared, run: Run, rows: Rows, plan: tuple[PlanStep, ...] = ()) -> Result:
    """The answer, with no more rows than were asked for."""
    first = run.limits.first
    more = first is not None and len(rows) > first
    return Result(prepared.columns, rows[:first] if more else rows, run.graph.fetches, plan, more)


async def _steps(parts: Sequence[Planned], layout: Layout, run: Run) -> list[PlanStep]:
    """The plan for people, with what the store is sent and the rows counted so far."""
    run.template = first_row(run, layout.width)
    statements: dict[int, str] = {}
    for operator in (operator for part in parts for operator in part.operators):
        if isinstance(operator, StoreMatch) and (sent := await operator.statements(run)):
            statements[id(operator)] = "; ".join(sent)
    return steps_of(parts, run.counts, statements)


async def take_rows(
    run: Run, batches: AsyncIterator[list[Row]], slots: Sequence[int], rows: Rows, enough: int | None
) -> None:
    """Add the columns of all rows to those that are there before, until there are enough."""
    async for batch in batches:
        rows += columns_of(slots, batch)
        if enough is not None and len(rows) >= enough:
            return
        check_count(run, rows)


def columns_of(slots: Sequence[int], batch: list[Row]) -> Rows:
    """What rows of the answer show."""
    return [tuple([row[slot] for slot in slots]) for row in batch]


def check_count(run: Run, rows: Rows) -> None:
    if len(rows) > run.limits.rows:
        message = f"The answer has more than {run.limits.rows} rows: add a LIMIT"
        raise LimitExceeded(message, limit=run.limits.rows)


def first_row(run: Run, width: int) -> Row:
    """The row that every query starts from."""
    return [run] + [None] * (width - 1)


def flow(run: Run, operators: Sequence[Operator], batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
    """The rows that leave the last operator."""
    for operator in operators:
        batches = operator.flow(run, batches)
        if run.counts is not None:
            batches = _counted(run.counts, operator, batches)
    return batches


async def one_batch(rows: list[Row]) -> AsyncIterator[list[Row]]:
    yield rows


async def _counted(
    counts: dict[int, int], operator: Operator, batches: AsyncIterator[list[Row]]
) -> AsyncIterator[list[Row]]:
    async for batch in batches:
        counts[id(operator)] = counts.get(id(operator), 0) + len(batch)
        yield batch
