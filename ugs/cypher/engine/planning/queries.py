"""Planning whole queries: clauses in their order, each seeing the names the one before it left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.analysis.queries import condition_after
from ugs.cypher.analysis.walk import has_subquery
from ugs.cypher.engine.env import Env, Layout
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.shaping import Filter, Optional, Unwind
from ugs.cypher.engine.planning.folding import After, fold
from ugs.cypher.engine.planning.matching import MatchPlanner
from ugs.cypher.engine.planning.projecting import Projected, plan_projection
from ugs.cypher.engine.planning.statistics import Statistics
from ugs.cypher.printing import print_expression


class Planned:
    """Operators, and the slots of the columns they fill; a subquery may have no columns."""

    def __init__(self, operators: list[Operator], columns: dict[str, int]) -> None:
        self.operators = operators
        self.columns = columns

    def slots(self, names: Sequence[str]) -> tuple[int, ...]:
        """The slots of these columns."""
        return tuple([self.columns[name] for name in names])


class Planner:
    """Plans the clauses of one query."""

    def __init__(self, env: Env, statistics: Statistics, alone: bool = False) -> None:
        self.outer = env
        self.env = env
        self.statistics = statistics
        self.alone = alone
        """Its rows are the answer."""
        self.operators: list[Operator] = []
        self.columns: dict[str, int] = {}
        self.later: tuple[s.Clause, ...] = ()
        """The clauses behind the one being planned."""
        self.weight: int | None = None
        """The slot that says for how many rows a row stands, right behind a MATCH that may count."""

    def plan(self, single: s.Single) -> Planned:
        for place, clause in enumerate(single.clauses):
            self.later = single.clauses[place + 1 :]
            PLANS[type(clause)](self, clause)
        return Planned(self.operators, self.columns)

    def _match(self, clause: s.Match) -> None:
        if clause.optional:
            mark = self.env.layout.slot()
            operators, self.env = MatchPlanner(self.env, self.statistics).plan(clause.patterns, clause.where)
            self.operators.append(Optional(operators, mark))
        else:
            planner = MatchPlanner(self.env, self.statistics)
            operators, self.env = planner.plan(clause.patterns, clause.where)
            if self.statistics.joins and not self.operators:
                self.weight = self.env.layout.slot()
                operators = fold(planner, clause, After(self.later, self.weight, self.alone))
            self.operators += operators

    def _unwind(self, clause: s.Unwind) -> None:
        source = compile_expression(clause.source, self.env)
        self.env = self.env.plus([clause.variable])
        words = f"{print_expression(clause.source)} AS {clause.variable}"
        self.operators.append(Unwind(source, self.env[clause.variable], words, has_subquery(clause.source)))

    def _with(self, clause: s.With) -> None:
        names = list(self.env.scope)
        projected = self._projected(clause.projection)
        if clause.where is not None:
            where = condition_after(clause, names)
            condition = compile_expression(where, projected.visible)
            self.operators.append(Filter(condition, print_expression(where), has_subquery(where)))
        self.env = self.outer.bind(projected.columns)

    def _projected(self, projection: s.Projection) -> Projected:
        projected = plan_projection(projection, self.env, self.outer, self.weight)
        self.weight = None
        self.operators += projected.operators
        return projected

    def _return(self, clause: s.Return) -> None:
        projected = self._projected(clause.projection)
        self.columns = projected.columns


PLANS: dict[type, Callable[[Planner, Any], None]] = {
    s.Match: Planner._match,
    s.Unwind: Planner._unwind,
    s.With: Planner._with,
    s.Return: Planner._return,
}


def plan_query(query: s.Query, layout: Layout, statistics: Statistics) -> list[Planned]:
    """One plan for each part of a UNION."""
    # Equal rows of several parts become one, so no part knows how many of its own are enough.
    alone = len(query.parts) == 1
    return [Planner(Env(layout), statistics, alone).plan(part) for part in query.parts]
