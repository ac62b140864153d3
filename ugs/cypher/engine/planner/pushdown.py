"""Push-down of the first MATCH of a query, for stores that can join.

Conditions that a store cannot decide are filtered afterwards, so push-down never changes an answer. How much is
fetched depends on the rest of the query: a count needs no rows, a grouping needs only its keys.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ugs.cypher import syntax as s
from ugs.cypher.analysis.field_usage import AspectsByName, collect_aspects
from ugs.cypher.analysis.projections import is_narrow
from ugs.cypher.analysis.tree_walk import aggregates, free_variables, walk
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.scan import PropertyLookup
from ugs.cypher.engine.operators.sort import compile_row_limit
from ugs.cypher.engine.operators.store_match import StoreMatch
from ugs.cypher.engine.operators.store_pattern import (
    MAX_PUSHED_HOPS,
    MAX_PUSHED_REACH_HOPS,
    EdgeStep,
    NodeStep,
    PatternBuilder,
    PatternUse,
)
from ugs.cypher.engine.planner.match_planner import MatchPlanner, PlannedHop
from ugs.cypher.engine.planner.pattern_conditions import bind_path, length_bounds
from ugs.cypher.engine.planner.start_point import find_any_labels, lookup
from ugs.cypher.engine.slots import Env, Fn
from ugs.cypher.unparser import print_path
from ugs.reads.pattern import EdgeDirection

ORDERLESS = ("count", "min", "max")
MAX_JOINED = 24
"""Longer chains of relationships are followed step by step: what a store needs to plan one grows faster than it."""


@dataclass(frozen=True, slots=True)
class RestOfQuery:
    """The clauses that follow the MATCH."""

    clauses: tuple[s.Clause, ...]
    weight: int
    """The slot for the multiplicity of a row."""
    alone: bool
    """Whether the rows of the last clause are the result."""


def push_down(planner: MatchPlanner, clause: s.Match, after: RestOfQuery) -> list[Operator]:
    """The operators of a MATCH: a single StoreMatch if the whole pattern can be pushed down."""
    hops = len(planner.planned_hops)
    if planner.repeats or hops > MAX_JOINED or not (hops or _is_alone(planner)):
        return planner.operators
    use = determine_use(planner, after)
    if planner.planned_hops and not (_is_connected(planner, use) or _is_shortest(planner)):
        return planner.operators
    first = planner.planned_hops[0].start if planner.planned_hops else planner.starts[0]
    names = list(dict.fromkeys([first, *(one.end for one in planner.planned_hops)]))
    env = planner.env
    looked_at = [(condition, free_variables(condition)) for condition in planner.all_conditions]
    about: dict[str, list[s.Expression]] = {}
    for condition, variables in looked_at:
        for name in variables:
            about.setdefault(name, []).append(condition)
    pattern_nodes = [_build_node(name, about.get(name, ()), env) for name in names]
    pattern_edges = [_build_edge(one, names, about.get(one.link.name, ()), env) for one in planner.planned_hops]
    decided = {*names, *single_hop_names(planner.planned_hops)}
    covered = all(_is_covered(condition, variables & decided) for condition, variables in looked_at)
    checked = set(about)
    words = ", ".join(print_path(pattern) for pattern in clause.patterns)
    slots = frozenset(env[name] for name in checked if name in env)
    binds = [bind_path(path, env) for path in planner.paths]
    builder = PatternBuilder(pattern_nodes, pattern_edges, covered, use, slots)
    return [StoreMatch(builder, planner.operators, binds, words)]


def _is_alone(planner: MatchPlanner) -> bool:
    """Whether the pattern is a single node, which the store can match."""
    return planner.statistics.alone and len(planner.starts) == 1 and not planner.paths


def _is_connected(planner: MatchPlanner, use: PatternUse) -> bool:
    """Whether the pattern is connected and no variable-length step is too long."""
    planned_hops = planner.planned_hops
    far = len(planned_hops) == 1 and use.loose and planned_hops[0].hop.relationship not in use.aspects
    max_hops = MAX_PUSHED_REACH_HOPS if far and planned_hops[0].hop.direction != "both" else MAX_PUSHED_HOPS
    return len(planner.starts) == 1 and all(can_push_down(one, max_hops) for one in planned_hops)


def _is_shortest(planner: MatchPlanner) -> bool:
    """Whether the pattern is one shortest path between two nodes."""
    first, *others = planner.planned_hops
    pattern = first.pattern
    low, _ = length_bounds(pattern.length or s.Length(1, 1))
    plain = pattern.properties is None and not first.hop.relationship_known and low == 1
    return bool(first.link.path.shortest) and not others and len(planner.starts) == 2 and plain


def can_push_down(one: PlannedHop, max_hops: int) -> bool:
    pattern = one.pattern
    if one.hop.relationship_known or one.link.path.shortest:
        return False
    if pattern.length is None:
        return True
    low, high = length_bounds(pattern.length)
    return pattern.properties is None and high is not None and low <= high <= max_hops


def single_hop_names(planned_hops: Sequence[PlannedHop]) -> list[str]:
    return [one.link.name for one in planned_hops if one.pattern.length is None]


def _is_covered(condition: s.Expression, names: Collection[str]) -> bool:
    """Whether the store decides a condition on these variables completely."""
    if isinstance(condition, s.HasLabels):
        return isinstance(condition.subject, s.Variable) and condition.subject.name in names
    if isinstance(condition, s.LabelTest):
        return any(find_any_labels([condition], name) for name in names)
    return any(lookup(condition, name, set()) is not None for name in names)


def _collect_lookups(name: str, conditions: Sequence[s.Expression], env: Env) -> tuple[PropertyLookup, ...]:
    found = [one for condition in conditions if (one := lookup(condition, name, set())) is not None]
    return tuple(PropertyLookup((one.key, one.op, compile_expression(one.value, env))) for one in found)


def _build_node(name: str, conditions: Sequence[s.Expression], env: Env) -> NodeStep:
    subject = s.Variable(name)
    labels = [c.labels for c in conditions if isinstance(c, s.HasLabels) and c.subject == subject]
    return NodeStep(
        env[name],
        tuple(dict.fromkeys(label for some in labels for label in some)),
        _collect_lookups(name, conditions, env),
        find_any_labels(conditions, name),
    )


def _build_edge(one: PlannedHop, names: Sequence[str], conditions: Sequence[s.Expression], env: Env) -> EdgeStep:
    pattern, name = one.pattern, one.link.name
    single = pattern.length is None and not one.link.path.shortest
    return EdgeStep(
        env[name],
        names.index(one.start),
        names.index(one.end),
        EdgeDirection(one.hop.direction),
        one.hop.types,
        _collect_lookups(name, conditions, env) if single else (),
        None if single else length_bounds(pattern.length or s.Length(1, 1)),
        one.backwards,
        one.link.path.shortest,
    )


# ── what comes after ─────────────────────────────────────────────────────────


def determine_use(planner: MatchPlanner, after: RestOfQuery) -> PatternUse:
    """How the following clauses use the rows of a MATCH."""
    env, later = planner.env, after.clauses
    projection = _projection(later[0]) if later else None
    counted = projection is not None and not projection.everything and is_narrow(projection)
    # Single nodes come in the order of their ids, and whatever shows that order must see all of them.
    counted = counted and (bool(planner.planned_hops) or _is_orderless(projection))
    aspects = _grouping_aspects(projection) if projection is not None and counted else _all_aspects(later, env)
    for path in planner.paths:  # a path is made of all its elements, named or not
        aspects.update(dict.fromkeys(element.variable or "" for element in path.elements))
    slots = {env[name]: look for name, look in aspects.items() if name in env}
    if projection is None or counted or projection.order:
        return PatternUse(slots, counted, counted and _is_loose(projection), False, None, after.weight)
    streams = after.alone and isinstance(later[0], s.Return) and projection.skip is None
    return PatternUse(slots, False, False, streams, _compile_limit(projection, env), after.weight)


def _projection(clause: s.Clause) -> s.Projection | None:
    return clause.projection if isinstance(clause, s.With | s.Return) else None


def _all_aspects(clauses: Sequence[s.Clause], env: Env) -> AspectsByName:
    """The aspects of variables that these clauses need."""
    found = collect_aspects(clauses)
    if any(isinstance(node, s.Projection) and node.everything for clause in clauses for node in walk(clause)):
        found.update(dict.fromkeys(name for name in env.scope if not name.startswith(" ")))
    return found


def _grouping_aspects(projection: s.Projection) -> AspectsByName:
    """The aspects that a grouping needs; counting the presence of a value needs none."""
    values = [item.value for item in projection.items]
    counted = {part for value in values for part in aggregates(value) if _is_presence_count(part)}
    return collect_aspects([*values, *(sort.value for sort in projection.order)], counted)


def _is_loose(projection: s.Projection | None) -> bool:
    """Whether the multiplicity of equal rows does not matter."""
    found = [] if projection is None else [part for item in projection.items for part in aggregates(item.value)]
    return all(isinstance(part, s.Call) and (part.distinct or part.name in ("min", "max")) for part in found)


def _is_orderless(projection: s.Projection | None) -> bool:
    """Whether the aggregations do not depend on the order of rows."""
    found = [] if projection is None else [part for item in projection.items for part in aggregates(item.value)]
    return all(isinstance(part, s.CountStar) or (isinstance(part, s.Call) and part.name in ORDERLESS) for part in found)


def _is_presence_count(tree: s.Expression) -> bool:
    if isinstance(tree, s.CountStar):
        return True
    plain = isinstance(tree, s.Call) and tree.name == "count" and not tree.distinct
    return plain and isinstance(tree, s.Call) and isinstance(tree.arguments[0], s.Variable)


def _compile_limit(projection: s.Projection, env: Env) -> Fn | None:
    skip = None if projection.skip is None else compile_expression(projection.skip, env)
    limit = None if projection.limit is None else compile_expression(projection.limit, env)
    return compile_row_limit(skip, limit)
