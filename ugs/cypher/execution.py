"""Execution of a query: parse, analyse, plan and run; text, parameters and a graph in, columns and rows out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from traceback import clear_frames
from typing import Any

from msgspec import Struct

from ugs.cypher.analysis import analyse
from ugs.cypher.analysis.match_merge import merge_matches
from ugs.cypher.analysis.tree_walk import walk
from ugs.cypher.engine import comprehensions, subqueries
from ugs.cypher.engine.graph_cache import GraphCache
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.store_match import StoreMatch
from ugs.cypher.engine.planner.query_planner import QueryPlan, plan_query
from ugs.cypher.engine.planner.statistics import Statistics, find_labels_to_count, gather_statistics
from ugs.cypher.engine.run import LoopTimeExceeded, QueryCancelled, Row, Run
from ugs.cypher.engine.slots import Layout
from ugs.cypher.engine.thread_executor import GraphChanged, run_in_thread
from ugs.cypher.engine.value_size import answer_bytes
from ugs.cypher.engine.view import GraphView, StoredGraph
from ugs.cypher.errors import CypherError, CypherParameterMissing, CypherSyntaxError
from ugs.cypher.explain import PlanStep, as_table, build_steps
from ugs.cypher.graph_views import FactsContext, view_of
from ugs.cypher.notifications import Notification, find_notifications
from ugs.cypher.parser import parse
from ugs.cypher.procedures import find_procedure, yielded_fields
from ugs.cypher.syntax import CallProcedure, Item, Parameter, Projection, Query, Return, Single, Statement, Variable
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.errors import Conflict, DeadlineExceeded, LimitExceeded
from ugs.facts.access import AccessScope
from ugs.facts.temporal.instants import end_of
from ugs.storage import Session
from ugs.support.bounded_cache import BoundedCache, bounded_cache
from ugs.support.budget import current_budget
from ugs.support.worker_threads import Slice, compute_in_thread

COMPILED = (comprehensions, subqueries)
"""Modules that register expression compilers on import; referenced here to keep the imports."""
ATTEMPTS = 6
LAST_ATTEMPT_PAUSE_SECONDS = 0.2
"""How long the last attempt may block the event loop."""
LONG_ANSWER_BYTES, LONG_ANSWER_ROWS = 256 << 10, 5_000
LONG_TEXT_CHARS = 2_000
"""Longer texts are parsed and planned in a worker thread; up to here that takes about 10 ms."""
LONG_QUERIES: BoundedCache[Hashable, bool] = BoundedCache(max_entries=1024, max_bytes=1 << 20)
"""Queries that took long before: they run in a worker thread from the start."""


Rows = list[tuple[Any, ...]]


class Prepared(Struct, frozen=True):
    """A parsed and analysed query."""

    text: str
    statement: Statement
    columns: tuple[str, ...]
    counted_labels: tuple[str, ...] = ()
    """Labels whose node counts the planner needs."""
    parameters: tuple[Parameter, ...] = ()
    """The parameters it requires."""
    notifications: tuple[Notification, ...] = ()

    def check_given(self, params: Mapping[str, Any]) -> None:
        """Raise if a parameter is missing, independently of the data: an empty result would hide the mistake."""
        for one in self.parameters:
            if one.name not in params:
                raise CypherParameterMissing("MissingParameter", f"The parameter ${one.name} was not given", one.at)


class Result(Struct, frozen=True):
    """The result of a query."""

    columns: tuple[str, ...]
    rows: Rows
    fetches: int = 0
    """Number of fetches from the store."""
    plan: tuple[PlanStep, ...] = ()
    """The operators, if the query began with EXPLAIN or PROFILE."""
    truncated: bool = False
    """Whether there are more rows than `Limits.first`."""
    size: int = 0
    """Approximate size of the rows as text, in bytes."""
    notifications: tuple[Notification, ...] = ()
    """Remarks about the query: ignored options, deprecated syntax, cartesian products."""


@bounded_cache(max_entries=1_024, max_bytes=32 << 20, factor=64)
def prepare(text: str) -> Prepared:
    """Parse and analyse a query, without any data; cached."""
    statement = parse(text)
    try:
        columns = tuple(analyse(statement, text))
        notifications = find_notifications(statement, text)
        statement = replace(statement, query=merge_matches(return_columns(statement.query)))
        needed = [] if statement.mode == "EXPLAIN" else [one for one in walk(statement) if isinstance(one, Parameter)]
        needed.sort(key=lambda one: one.at)
        return Prepared(text, statement, columns, find_labels_to_count(statement.query), tuple(needed), notifications)
    except RecursionError:
        raise CypherSyntaxError("NestingTooDeep", "The query nests too deep", 0) from None


async def prepare_off_loop(text: str) -> Prepared:
    """As `prepare`; a long text is parsed in a worker thread."""
    if len(text) <= LONG_TEXT_CHARS or prepare.is_cached(text):
        return prepare(text)
    return await compute_in_thread(lambda: prepare(text))


def return_columns(query: Query) -> Query:
    """The query; a procedure that is the whole query gets a RETURN of its fields."""
    first = query.parts[0].clauses[0]
    if not isinstance(first, CallProcedure) or not first.alone:
        return query
    fields = yielded_fields(first, find_procedure(first))
    items = tuple(Item(Variable(alias), alias) for _, alias in fields)
    call = replace(first, arguments=(), yields=tuple(fields), everything=False, alone=False)
    return Query((Single((call, Return(Projection(items)))),))


def build_admin_context() -> FactsContext:
    """The context of an administrator at the current time."""
    return FactsContext(AccessScope(), end_of(time.time_ns() // 1_000_000))


async def run(
    source: Session | GraphView,
    query: str,
    params: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    view: str = "GRAPH",
    context: FactsContext | None = None,
) -> Result:
    """Execute a query. It is read-only, and no work continues after the result or error."""
    prepared = await prepare_off_loop(query)
    bounds = limits or Limits()
    graph = view_of(source, view, context or build_admin_context())
    with ErrorTranslation(query, bounds):
        prepared.check_given(params or {})
        async with asyncio.timeout(remaining_seconds(bounds)):
            return await _run_consistently(prepared, graph, params or {}, bounds)


def remaining_seconds(limits: Limits) -> float:
    """The time a query may take: its own limit, or the rest of the request's budget if that is less."""
    return min(limits.seconds, current_budget().deadline - time.monotonic())


class ErrorTranslation:
    """Context manager that translates internal errors into coded ones, and adds line and column to Cypher errors."""

    __slots__ = ("limits", "query")

    def __init__(self, query: str, limits: Limits) -> None:
        self.query = query
        self.limits = limits

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        # The frames may hold as much as the query was allowed, and whoever reports the error keeps them.
        clear_frames(error.__traceback__)
        if isinstance(error, TimeoutError | QueryCancelled):
            seconds = min(self.limits.seconds, current_budget().seconds)
            raise DeadlineExceeded(f"The query took longer than {seconds:g} seconds") from None
        if isinstance(error, RecursionError):
            raise LimitExceeded("A value nests too deep to be compared") from None
        if isinstance(error, CypherError):
            error.locate(self.query)


async def _run_consistently(prepared: Prepared, view: GraphView, params: Mapping[str, Any], limits: Limits) -> Result:
    """Execute on one consistent state: if a commit intervened, run again; the last attempt does not yield.

    A query that blocks the event loop for too long is restarted in a worker thread. If commits intervene in every
    attempt and the last one would block for too long, it raises CONFLICT, which is retryable.
    """
    deadline = time.monotonic() + limits.seconds
    threaded = LONG_QUERIES.get(prepared.text) is not None
    for attempt in range(ATTEMPTS):
        run = Run(GraphCache(view), params, limits)
        run.deadline = min(deadline, run.deadline)
        last = attempt == ATTEMPTS - 1
        if last:
            run.yields, run.pause_seconds = False, LAST_ATTEMPT_PAUSE_SECONDS
        try:
            before = await view.position()
            result = await _attempt(prepared, run, threaded and not last)
            if threaded or await view.position() == before:
                return result
        except LoopTimeExceeded:
            if last:
                break
            threaded = True
            LONG_QUERIES.put(prepared.text, True, len(prepared.text) + 100)
        except GraphChanged:
            threaded = True
        finally:
            run.close()
    raise Conflict("The graph changed again and again while the query was being answered: try again")


async def _attempt(prepared: Prepared, run: Run, threaded: bool) -> Result:
    planned = await _build_plan(prepared, run.graph.view)
    if threaded:
        return await run_in_thread(run, lambda: _answer(prepared, run, *planned))
    return await _answer(prepared, run, *planned)


async def explain(source: Session | GraphView, query: str, view: str = "GRAPH") -> str:
    """The plan of a query as a text table; does not run it."""
    graph = view_of(source, view, build_admin_context())
    parts, layout = await _build_plan(await prepare_off_loop(query), graph)
    return as_table(await _build_steps(parts, layout, Run(GraphCache(graph), {}, Limits())))


async def _build_plan(prepared: Prepared, view: GraphView) -> tuple[list[QueryPlan], Layout]:
    # A store that orders joins itself needs no counts from here.
    orders = isinstance(view, StoredGraph) and view.orders_joins
    text, statistics = prepared.text, await gather_statistics(view, () if orders else prepared.counted_labels)
    if len(text) <= LONG_TEXT_CHARS or plan_for.is_cached(text, statistics):
        return plan_for(text, statistics)
    return await compute_in_thread(lambda: plan_for(text, statistics))


@bounded_cache(max_entries=1_024, max_bytes=64 << 20, factor=400)
def plan_for(text: str, statistics: Statistics) -> tuple[list[QueryPlan], Layout]:
    """The plan of a query, cached. Operators have no state of a run, so concurrent runs share a plan."""
    layout = Layout()
    return plan_query(prepare(text).statement.query, layout, statistics), layout


async def _answer(prepared: Prepared, run: Run, parts: list[QueryPlan], layout: Layout) -> Result:
    mode = prepared.statement.mode
    if mode == "EXPLAIN":
        return build_result(prepared, run, [], tuple(await _build_steps(parts, layout, run)))
    run.counts = {} if mode == "PROFILE" else None
    distinct = len(parts) > 1 and not prepared.statement.query.all
    # One extra row shows whether there are more; DISTINCT (UNION) needs all rows.
    max_rows = None if distinct or run.limits.first is None else run.limits.first + 1
    rows: Rows = []
    for part in parts:
        run.start_from(layout.width)
        slots = part.slots(prepared.columns)
        await take_rows(run, flow(run, part.operators, yield_batch([run.template[:]])), slots, rows, max_rows)
    if distinct:
        rows = drop_duplicate_rows(run, rows)
    return build_result(prepared, run, rows, tuple(await _build_steps(parts, layout, run)) if mode == "PROFILE" else ())


def drop_duplicate_rows(run: Run, rows: Rows) -> Rows:
    """The distinct rows, in order of first occurrence."""
    seen: dict[tuple[Hashable, ...], tuple[Any, ...]] = {}
    for row in rows:
        run.tick()
        seen.setdefault(tuple([run.identity(value) for value in row]), row)
    return list(seen.values())


def build_result(prepared: Prepared, run: Run, rows: Rows, plan: tuple[PlanStep, ...] = ()) -> Result:
    """The result, cut to `Limits.first`."""
    first = run.limits.first
    more = first is not None and len(rows) > first
    shown = rows[:first] if more else rows
    return Result(prepared.columns, shown, run.graph.fetches, plan, more, run.answer_bytes, prepared.notifications)


async def _build_steps(parts: Sequence[QueryPlan], layout: Layout, run: Run) -> list[PlanStep]:
    """The plan steps, with the statements sent to the store and the row counts so far."""
    run.start_from(layout.width)
    statements: dict[int, str] = {}
    for operator in (operator for part in parts for operator in part.operators):
        if isinstance(operator, StoreMatch) and (sent := await operator.statements(run)):
            statements[id(operator)] = "; ".join(sent)
    return build_steps(parts, run.counts, statements)


async def take_rows(
    run: Run, batches: AsyncIterator[list[Row]], slots: Sequence[int], rows: Rows, max_rows: int | None
) -> None:
    """Append the columns of all rows to `rows`, until there are enough."""
    before = run.made
    async for batch in batches:
        found = project_columns(slots, batch)
        rows += found
        check_size(run, found)
        run.retain(before, batch)
        if max_rows is not None and len(rows) >= max_rows:
            return
        check_count(run, rows)


def project_columns(slots: Sequence[int], batch: list[Row]) -> Rows:
    """Project rows to the result columns."""
    return [tuple([row[slot] for slot in slots]) for row in batch]


def check_size(run: Run, rows: Rows) -> None:
    """Add to the size of the result as text; raises if it exceeds the limit."""
    size = 0
    for row in rows:
        for value in row:
            kind = type(value)
            if kind is str:
                size += len(value)
            elif kind is list or kind is dict or kind is Path:
                size += answer_bytes(value)
                run.check_now()
            elif kind is Node or kind is Relationship:
                size += value.stored_chars
    run.answer_bytes += size
    if run.answer_bytes > run.limits.answer_bytes:
        message = f"The answer is longer than {run.limits.answer_bytes} bytes: ask for less at once"
        raise LimitExceeded(message, limit=run.limits.answer_bytes)


def check_count(run: Run, rows: Rows) -> None:
    if len(rows) > run.limits.rows:
        message = f"The answer has more than {run.limits.rows} rows: add a LIMIT"
        raise LimitExceeded(message, limit=run.limits.rows)


def flow(run: Run, operators: Sequence[Operator], batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
    """Chain the operators; yields the batches of the last one."""
    for operator in operators:
        batches = operator.flow(run, batches)
        if run.counts is not None:
            batches = _count_batches(run.counts, operator, batches)
    return batches


async def yield_batch(rows: list[Row]) -> AsyncIterator[list[Row]]:
    yield rows


async def _count_batches(
    counts: dict[int, int], operator: Operator, batches: AsyncIterator[list[Row]]
) -> AsyncIterator[list[Row]]:
    async for batch in batches:
        counts[id(operator)] = counts.get(id(operator), 0) + len(batch)
        yield batch


def is_long(result: Result) -> bool:
    """Whether a walk through all values of a result would block the event loop for too long."""
    return result.size >= LONG_ANSWER_BYTES or len(result.rows) >= LONG_ANSWER_ROWS


def in_turns(rows: Rows) -> Iterator[tuple[Any, ...]]:
    """The rows, for work in a worker thread: takes turns with other threads and stops at the request's deadline."""
    turn, budget = Slice(), current_budget()
    for row in rows:
        now = time.monotonic()
        if now > budget.deadline:
            raise DeadlineExceeded(f"The request took longer than {budget.seconds:g} seconds")
        turn.hand_over(now)
        yield row
