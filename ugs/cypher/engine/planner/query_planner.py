"""Planning of queries: clauses in order, each with the variables in scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.analysis.queries import resolve_condition, split_import
from ugs.cypher.analysis.tree_walk import has_subquery, walk
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.apply import Apply, Finish
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.project import Filter, Optional, Unwind
from ugs.cypher.engine.planner.match_planner import MatchPlanner
from ugs.cypher.engine.planner.projection_planner import ProjectionPlan, plan_projection
from ugs.cypher.engine.planner.pushdown import RestOfQuery, push_down
from ugs.cypher.engine.planner.statistics import Statistics
from ugs.cypher.engine.slots import Env, Layout
from ugs.cypher.parser import parse
from ugs.cypher.parser.clauses import is_unit
from ugs.cypher.procedures import find_procedure, yielded_fields
from ugs.cypher.unparser import print_expression
from ugs.support.worker_threads import take_turn


class QueryPlan:
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
        """Whether its rows are the result."""
        self.operators: list[Operator] = []
        self.columns: dict[str, int] = {}
        self.later: tuple[s.Clause, ...] = ()
        """The clauses after the one being planned."""
        self.weight: int | None = None
        """The slot with the multiplicity of rows, directly after a pushed-down MATCH."""

    def plan(self, single: s.Single) -> QueryPlan:
        for place, clause in enumerate(single.clauses):
            take_turn()
            self.later = single.clauses[place + 1 :]
            PLANS[type(clause)](self, clause)
        return QueryPlan(self.operators, self.columns)

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
                operators = push_down(planner, clause, RestOfQuery(self.later, self.weight, self.alone))
            self.operators += operators

    def _unwind(self, clause: s.Unwind) -> None:
        source = compile_expression(clause.source, self.env)
        self.env = self.env.plus([clause.variable])
        words = f"{print_expression(clause.source)} AS {clause.variable}"
        self.operators.append(Unwind(source, self.env[clause.variable], words, has_subquery(clause.source)))

    def _with(self, clause: s.With) -> None:
        names = list(self.env.scope)
        projected = self._plan_projection(clause.projection)
        if clause.where is not None:
            where = resolve_condition(clause, names)
            condition = compile_expression(where, projected.visible)
            self.operators.append(Filter(condition, print_expression(where), has_subquery(where)))
        self.env = self.outer.bind(projected.columns)

    def _plan_projection(self, projection: s.Projection) -> ProjectionPlan:
        projected = plan_projection(projection, self.env, self.outer, self.weight)
        self.weight = None
        self.operators += projected.operators
        return projected

    def _return(self, clause: s.Return) -> None:
        projected = self._plan_projection(clause.projection)
        self.columns = projected.columns

    def _finish(self, clause: s.Finish) -> None:
        self.operators.append(Finish())

    def _call_subquery(self, clause: s.CallSubquery, inline: bool = True) -> None:
        imported = list(self.env.scope) if clause.everything else list(clause.imports or ())
        plain = Statistics(self.statistics.counts)
        first = inline and not (self.operators or clause.optional or clause.imports) and len(clause.query.parts) == 1
        if first and self._inline(clause.query.parts[0], clause.imports is not None):
            return
        parts = [self._plan_part(part, clause.imports is None, imported, plain) for part in clause.query.parts]
        names = list(parts[0].columns)
        finders = [(part.operators, part.slots(names)) for part in parts]
        unit = all(is_unit(part) for part in clause.query.parts)
        columns = {name: self.env.layout.slot() for name in names}
        outside = bool(imported) or clause.imports is None
        self.operators.append(
            Apply(
                finders,
                None if unit else tuple(columns.values()),
                ", ".join(imported),
                union_all=clause.query.all or len(parts) == 1,
                optional=clause.optional,
                constant=not outside and is_deterministic(clause.query),
            )
        )
        self.env = self.env.bind(columns)

    def _plan_part(self, part: s.Single, importing: bool, names: Sequence[str], statistics: Statistics) -> QueryPlan:
        """The plan of one part of a nested query, with the imported variables in scope."""
        layout = self.env.layout
        if not importing:
            return Planner(Env(layout, {name: self.env[name] for name in names}), statistics).plan(part)
        imported, rest = split_import(part)
        planner = Planner(Env(layout), statistics)
        planner.env = Env(layout, {name: self.env[name] for name in imported})
        return planner.plan(rest)

    def _inline(self, part: s.Single, scoped: bool) -> bool:
        """Plan a first subquery without imports as part of this query, so that its MATCH can be pushed down."""
        if is_unit(part) or (not scoped and split_import(part)[0]):
            return False
        inner = Planner(Env(self.env.layout), self.statistics).plan(part)
        self.operators += inner.operators
        self.env = self.env.bind(inner.columns)
        return True

    def _call_procedure(self, clause: s.CallProcedure) -> None:
        procedure = find_procedure(clause)
        fields = yielded_fields(clause, procedure)
        query = parse(procedure.query).query
        outside, before = self.env.scope, len(self.operators)
        # The condition belongs to the call: where nothing passes it, an OPTIONAL CALL keeps the row.
        optional = clause.optional and clause.where is not None
        self._call_subquery(s.CallSubquery(query, (), optional=clause.optional and not optional), inline=not optional)
        found = {name: self.env[name] for name in procedure.columns}
        self.env = Env(self.env.layout, outside).bind({alias: found[field] for field, alias in fields})
        if clause.where is not None:
            condition = compile_expression(clause.where, self.env)
            self.operators.append(Filter(condition, print_expression(clause.where), has_subquery(clause.where)))
        if optional:
            nested, self.operators = self.operators[before:], self.operators[:before]
            self.operators.append(Optional(nested, self.env.layout.slot()))


PLANS: dict[type, Callable[[Planner, Any], None]] = {
    s.Match: Planner._match,
    s.Unwind: Planner._unwind,
    s.With: Planner._with,
    s.Return: Planner._return,
    s.Finish: Planner._finish,
    s.CallSubquery: Planner._call_subquery,
    s.CallProcedure: Planner._call_procedure,
}


UNSTABLE_FUNCTIONS = ("rand", "randomuuid")


def is_deterministic(query: s.Query) -> bool:
    """Whether a query gives the same rows whenever it runs within one execution."""
    return not any(isinstance(node, s.Call) and node.name in UNSTABLE_FUNCTIONS for node in walk(query))


def plan_query(query: s.Query, layout: Layout, statistics: Statistics) -> list[QueryPlan]:
    """One plan for each part of a UNION."""
    # UNION drops duplicates, so no part can stop early.
    alone = len(query.parts) == 1
    return [Planner(Env(layout), statistics, alone).plan(part) for part in query.parts]
