"""Planning whole queries: clauses in their order, each seeing the names the one before it left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.analysis.queries import condition_after
from ugs.cypher.analysis.walk import has_subquery
from ugs.cypher.engine.env import Env, Layout
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.shaping import Filter, Optional, Unwind
from ugs.cypher.engine.planning.matching import MatchPlanner
from ugs.cypher.engine.planning.projecting import plan_projection
from ugs.cypher.engine.planning.statistics import Statistics
from ugs.cypher.printing import print_expression


class Planned:
    """Operators, and the slots of the columns they fill; a subquery may have no columns."""

    def __init__(self, operators: list[Operator], columns: dict[str, int]) -> None:
        self.operators = operators
        self.columns = columns


class Planner:
    """Plans the clauses of one query."""

    def __init__(self, env: Env, statistics: Statistics) -> None:
        self.outer = env
        self.env = env
        self.statistics = statistics
        self.operators: list[Operator] = []
        self.columns: dict[str, int] = {}

    def plan(self, single: s.Single) -> Planned:
        for clause in single.clauses:
            PLANS[type(clause)](self, clause)
        return Planned(self.operators, self.columns)

    def _match(self, clause: s.Match) -> None:
        if clause.optional:
            mark = self.env.layout.slot()
            operators, self.env = MatchPlanner(self.env, self.statistics).plan(clause.patterns, clause.where)
            self.operators.append(Optional(operators, mark))
        else:
            operators, self.env = MatchPlanner(self.env, self.statistics).plan(clause.patterns, clause.where)
            self.operators += operators

    def _unwind(self, clause: s.Unwind) -> None:
        source = compile_expression(clause.source, self.env)
        self.env = self.env.plus([clause.variable])
        words = f"{print_expression(clause.source)} AS {clause.variable}"
        self.operators.append(Unwind(source, self.env[clause.variable], words, has_subquery(clause.source)))

    def _with(self, clause: s.With) -> None:
        names = list(self.env.scope)
        projected = plan_projection(clause.projection, self.env, self.outer)
        self.operators += projected.operators
        if clause.where is not None:
            where = condition_after(clause, names)
            condition = compile_expression(where, projected.visible)
            self.operators.append(Filter(condition, print_expression(where), has_subquery(where)))
        self.env = self.outer.bind(projected.columns)

    def _return(self, clause: s.Return) -> None:
        projected = plan_projection(clause.projection, self.env, self.outer)
        self.operators += projected.operators
        self.columns = projected.columns


PLANS: dict[type, Callable[[Planner, Any], None]] = {
    s.Match: Planner._match,
    s.Unwind: Planner._unwind,
    s.With: Planner._with,
    s.Return: Planner._return,
}


def plan_query(query: s.Query, layout: Layout, statistics: Statistics) -> list[Planned]:
    """One plan for each part of a UNION."""
    return [Planner(Env(layout), statistics).plan(part) for part in query.parts]
