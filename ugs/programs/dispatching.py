"""Doing an operation: a query is asked of the source graph, an endpoint is called inside the process."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from ugs import cypher
from ugs.cypher import GraphView
from ugs.cypher.views import Glasses
from ugs.errors import InvalidSyntax
from ugs.identity import Principal
from ugs.programs.ast import ApiOp, CypherOp, Operator, Statement
from ugs.programs.bounds import BOUNDS, Bounds
from ugs.programs.endpoints import ANSWERS, Call
from ugs.programs.issues import result_of
from ugs.programs.mapping import Mapper, ontologies_of
from ugs.programs.narrowing import MOST_HELD, narrowed
from ugs.programs.parameters import W_IDS, substituted
from ugs.programs.safety import check_query
from ugs.programs.validating import check_params
from ugs.programs.view import ProgramGraph, ids_of, needs_completing, program_graph
from ugs.programs.working import WorkingGraph
from ugs.storage import Session
from ugs.vectors.vectors import Vectors

Dispatch = Callable[[Statement, WorkingGraph, Mapping[str, Any]], Awaitable[WorkingGraph]]
"""A statement, W as it is, and the values of the parameters give a result."""

TAKING = frozenset({Operator.DIFFERENCE, Operator.INTERSECT})
"""Operators that only ask which nodes of W a result names."""
MOST_ROWS = 1_000_000
"""Rows of one query; W has a smaller bound of its own."""


class World(Struct, frozen=True):
    """What a run reads, for whom, and until when."""

    session: Session
    caller: Principal
    glasses: Glasses
    """What the caller may see of facts, and when they must hold."""
    deadline: float
    """On the clock of `time.monotonic`."""
    vectors: Vectors
    view: str = "GRAPH"
    bounds: Bounds = BOUNDS


class Dispatcher:
    """Does the operations of one run."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._mapper: Mapper | None = None

    async def __call__(self, statement: Statement, w: WorkingGraph, values: Mapping[str, Any]) -> WorkingGraph:
        bound = {**values, W_IDS: w.ids}
        operation = statement.operation
        if isinstance(operation, ApiOp):
            return await self._call(operation, bound)
        assert isinstance(operation, CypherOp)
        return await self._ask(operation, bound, statement.op in TAKING)

    async def _ask(self, operation: CypherOp, values: Mapping[str, Any], taking: bool) -> WorkingGraph:
        mapper = await self._known_mapper()
        checked = check_query(operation.query, self.world.bounds.path)
        if checked.faults:
            raise InvalidSyntax(checked.faults[0].message)
        text = checked.to_run(operation.limit)
        if taking:
            return await self._named_by(text, values, mapper)
        result = mapper.result(await self._rows(text, values, mapper))
        return result if checked.ordered else result.sorted()

    async def _named_by(self, text: str, values: Mapping[str, Any], mapper: Mapper) -> WorkingGraph:
        """Which nodes of W a query names; where it can be, it is asked about them alone."""
        wanted: list[str] = values[W_IDS]
        narrow = narrowed(text) if self.world.view == "GRAPH" and len(wanted) <= MOST_HELD else None
        if narrow is not None:
            values = {**values, W_IDS: await ids_of(self.world.session, wanted)}
        return mapper.filter(await self._rows(narrow or text, values, mapper), frozenset(wanted))

    async def _rows(self, text: str, values: Mapping[str, Any], mapper: Mapper) -> list[tuple[Any, ...]]:
        world = self.world
        source: Session | GraphView = world.session
        if needs_completing(text, world.bounds.any_is_concept):
            source = self._graph(mapper)
        limits = cypher.Limits(seconds=max(0.001, world.deadline - time.monotonic()), rows=MOST_ROWS)
        return (await cypher.run(source, text, values, limits, world.view, world.glasses)).rows

    async def _call(self, operation: ApiOp, values: Mapping[str, Any]) -> WorkingGraph:
        params = substituted(operation.given, values)
        trouble = result_of(check_params(operation.endpoint, params, 0)).errors
        if trouble:
            raise InvalidSyntax(trouble[0].message)
        world, mapper = self.world, await self._known_mapper()
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
        return await ANSWERS[operation.endpoint](call, params)

    def _graph(self, mapper: Mapper) -> ProgramGraph:
        world = self.world
        any_is_concept = world.bounds.any_is_concept
        return program_graph(world.session, world.view, world.glasses, mapper.ontologies, any_is_concept)

    async def _known_mapper(self) -> Mapper:
        if self._mapper is None:
            self._mapper = Mapper(await ontologies_of(self.world.session))
        return self._mapper
