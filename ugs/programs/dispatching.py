"""Doing an operation: a query is asked of the source graph, an endpoint is called inside the process."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ugs import cypher
from ugs.errors import InvalidSyntax
from ugs.identity import Principal
from ugs.programs.ast import ApiOp, CypherOp
from ugs.programs.bounds import Bounds
from ugs.programs.endpoints import ANSWERS, Call
from ugs.programs.issues import result_of
from ugs.programs.mapping import Mapper, ontologies_of
from ugs.programs.parameters import W_IDS, substituted
from ugs.programs.safety import check_query
from ugs.programs.validating import check_params
from ugs.programs.view import ProgramGraph, needs_fallbacks
from ugs.programs.working import WorkingGraph
from ugs.storage import Session

Dispatch = Callable[[CypherOp | ApiOp, WorkingGraph, Mapping[str, Any]], Awaitable[WorkingGraph]]
"""An operation, W as it is, and the values of the parameters give a result."""


class Dispatcher:
    """Does the operations of one run against one session, on behalf of one caller."""

    def __init__(self, session: Session, caller: Principal, deadline: float, bounds: Bounds, view: str) -> None:
        self.session = session
        self.caller = caller
        self.deadline = deadline
        self.bounds = bounds
        self.view = view
        self._mapper: Mapper | None = None

    async def __call__(self, operation: CypherOp | ApiOp, w: WorkingGraph, values: Mapping[str, Any]) -> WorkingGraph:
        bound = {**values, W_IDS: w.ids}
        if isinstance(operation, CypherOp):
            return await self._ask(operation, bound)
        return await self._call(operation, bound)

    async def _ask(self, operation: CypherOp, values: Mapping[str, Any]) -> WorkingGraph:
        checked = check_query(operation.query, self.bounds.path)
        if checked.faults:
            raise InvalidSyntax(checked.faults[0].message)
        mapper = await self._known_mapper()
        text = checked.to_run(operation.limit)
        limits = cypher.Limits(seconds=max(0.001, self.deadline - time.monotonic()))
        found = await cypher.run(self._graph(text, mapper), text, values, limits, self.view)
        rows = found.rows if operation.limit is None or checked.limited else found.rows[: operation.limit]
        return mapper.result(rows)

    def _graph(self, text: str, mapper: Mapper) -> Session | cypher.GraphView:
        if self.view == "GRAPH" and needs_fallbacks(text):
            return ProgramGraph(self.session, mapper.ontologies)
        return self.session

    async def _call(self, operation: ApiOp, values: Mapping[str, Any]) -> WorkingGraph:
        params = substituted(operation.given, values)
        trouble = result_of(check_params(operation.endpoint, params, 0)).errors
        if trouble:
            raise InvalidSyntax(trouble[0].message)
        mapper = await self._known_mapper()
        call = Call(self.session, self.caller, self.deadline, mapper.ontologies)
        return await ANSWERS[operation.endpoint](call, params)

    async def _known_mapper(self) -> Mapper:
        if self._mapper is None:
            self._mapper = Mapper(await ontologies_of(self.session))
        return self._mapper
