"""Executes operations: queries on the source graph, and endpoint calls in this process."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from ugs import cypher
from ugs.cypher import GraphView
from ugs.cypher.graph_views import FactsContext
from ugs.errors import InvalidSyntax
from ugs.identity import Principal
from ugs.programs.ast import ApiOp, CypherOp, Operator, Statement
from ugs.programs.endpoints import HANDLERS, Call
from ugs.programs.execution.graph_mapper import Mapper, map_rows, ontologies_of
from ugs.programs.execution.graph_view import ProgramGraph, find_concept_ids, needs_completing, program_graph
from ugs.programs.execution.query_pushdown import MAX_BOUND_NODES, restrict_to_w
from ugs.programs.execution.working_graph import WorkingGraph
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.programs.validation.parameters import W_IDS, substitute
from ugs.programs.validation.query_safety import check_query
from ugs.programs.validation.result import result_of
from ugs.programs.validation.validator import check_params
from ugs.storage import Session
from ugs.vectors.service import Vectors

Dispatch = Callable[[Statement, WorkingGraph, Mapping[str, Any]], Awaitable[WorkingGraph]]
"""Executes a statement, given the current W and the parameter values."""

REMOVING_OPERATORS = frozenset({Operator.DIFFERENCE, Operator.INTERSECT})
"""Operators that only need to know which nodes of W a result contains."""
MAX_ROWS = 1_000_000
"""Rows per query; W has a smaller limit of its own."""


class RunContext(Struct, frozen=True):
    """What a run reads, on whose behalf, and until when."""

    session: Session
    caller: Principal
    glasses: FactsContext
    """What the caller may see of facts, and when they must hold."""
    deadline: float
    """On the clock of `time.monotonic`."""
    vectors: Vectors
    view: str = "GRAPH"
    bounds: Bounds = BOUNDS


class Dispatcher:
    """Executes the operations of one run."""

    def __init__(self, world: RunContext) -> None:
        self.world = world
        self._mapper: Mapper | None = None

    async def __call__(self, statement: Statement, w: WorkingGraph, values: Mapping[str, Any]) -> WorkingGraph:
        bound = {**values, W_IDS: w.ids}
        operation = statement.operation
        if isinstance(operation, ApiOp):
            return await self._call(operation, bound)
        assert isinstance(operation, CypherOp)
        return await self._query(operation, bound, statement.op in REMOVING_OPERATORS)

    async def _query(self, operation: CypherOp, values: Mapping[str, Any], taking: bool) -> WorkingGraph:
        mapper = await self._load_mapper()
        checked = check_query(operation.query, self.world.bounds.path)
        if checked.faults:
            raise InvalidSyntax(checked.faults[0].message)
        text = checked.to_run(operation.limit)
        if taking:
            return await self._nodes_of_w(text, values, mapper)
        result = await map_rows(await self._found(text, values, mapper), mapper.to_working_graph)
        return result if checked.ordered else result.sorted()

    async def _nodes_of_w(self, text: str, values: Mapping[str, Any], mapper: Mapper) -> WorkingGraph:
        """Which nodes of W a query returns; restricted to those nodes where the query allows it."""
        wanted: list[str] = values[W_IDS]
        narrow = restrict_to_w(text) if self.world.view == "GRAPH" and len(wanted) <= MAX_BOUND_NODES else None
        if narrow is not None:
            values = {**values, W_IDS: await find_concept_ids(self.world.session, wanted)}
        found, those = await self._found(narrow or text, values, mapper), frozenset(wanted)
        return await map_rows(found, lambda rows: mapper.only_wanted(rows, those))

    async def _found(self, text: str, values: Mapping[str, Any], mapper: Mapper) -> cypher.Result:
        world = self.world
        source: Session | GraphView = world.session
        if needs_completing(text, world.bounds.any_is_concept):
            source = self._graph(mapper)
        limits = cypher.Limits(seconds=max(0.001, world.deadline - time.monotonic()), rows=MAX_ROWS)
        return await cypher.run(source, text, values, limits, world.view, world.glasses)

    async def _call(self, operation: ApiOp, values: Mapping[str, Any]) -> WorkingGraph:
        params = substitute(operation.params_or_empty, values)
        trouble = result_of(check_params(operation.endpoint, params, 0)).errors
        if trouble:
            raise InvalidSyntax(trouble[0].message)
        world, mapper = self.world, await self._load_mapper()
        graph = self._graph(mapper)
        call = Call(
            world.session,
            world.caller,
            world.deadline,
            mapper.ontologies,
            graph,
            world.view,
            world.glasses,
            world.vectors,
        )
        return await HANDLERS[operation.endpoint](call, params)

    def _graph(self, mapper: Mapper) -> ProgramGraph:
        world = self.world
        any_is_concept = world.bounds.any_is_concept
        return program_graph(world.session, world.view, world.glasses, mapper.ontologies, any_is_concept)

    async def _load_mapper(self) -> Mapper:
        if self._mapper is None:
            self._mapper = Mapper(await ontologies_of(self.world.session))
        return self._mapper
