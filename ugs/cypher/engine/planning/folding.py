"""Folding the first MATCH of a query into one question, for stores that can join.

Whatever the question cannot say is checked afterwards, so folding never changes an answer. How much the question asks
for depends on what follows: a count needs no rows, a grouping needs only what it groups by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ugs.cypher import syntax as s
from ugs.cypher.analysis.projections import is_narrow
from ugs.cypher.analysis.walk import aggregates, free_variables, pattern_variables, walk
from ugs.cypher.engine.env import Env, Fn
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.joining import Place, StoreMatch, Stretch, Use
from ugs.cypher.engine.operators.ordering import enough_rows
from ugs.cypher.engine.operators.scanning import Sought
from ugs.cypher.engine.planning.matching import Followed, MatchPlanner, bounds
from ugs.cypher.engine.planning.starting import lookup
from ugs.cypher.printing import print_path
from ugs.reads.pattern import Way

LONGEST_WALK = 5
"""Longer walks are taken step by step: each node is then fetched once, however many walks lead through it."""


@dataclass(frozen=True, slots=True)
class After:
    """What is known of the rest of the query."""

    clauses: tuple[s.Clause, ...]
    weight: int
    """A slot to say for how many rows a row stands."""
    alone: bool
    """The rows of the last clause are the answer."""


def fold(planner: MatchPlanner, clause: s.Match, after: After) -> list[Operator]:
    """The operators of a MATCH, as one where the store may be asked for all of it."""
    if len(planner.starts) != 1 or not planner.followed or not all(map(is_foldable, planner.followed)):
        return planner.operators
    names = list(dict.fromkeys([planner.starts[0], *(one.end for one in planner.followed)]))
    env = planner.env
    placed = [_place(name, planner.every, env) for name in names]
    stretches = [_stretch(one, names, planner.every, env) for one in planner.followed]
    covered = all(_is_covered(condition, [*names, *single_legs(planner.followed)]) for condition in planner.every)
    checked = {name for condition in planner.every for name in free_variables(condition)}
    use = use_of(planner, after)
    words = ", ".join(print_path(pattern) for pattern in clause.patterns)
    slots = frozenset(env[name] for name in checked if name in env)
    return [StoreMatch(placed, stretches, covered, planner.operators, use, slots, words)]


def is_foldable(one: Followed) -> bool:
    pattern = one.link.pattern
    if one.hop.relationship_known or one.link.path.shortest:
        return False
    if pattern.length is None:
        return True
    low, high = bounds(pattern.length)
    return pattern.properties is None and high is not None and low <= high <= LONGEST_WALK


def single_legs(followed: Sequence[Followed]) -> list[str]:
    return [one.link.name for one in followed if one.link.pattern.length is None]


def _is_covered(condition: s.Expression, names: Sequence[str]) -> bool:
    """Whether the question says all of a condition."""
    if isinstance(condition, s.HasLabels):
        return isinstance(condition.subject, s.Variable) and condition.subject.name in names
    return any(lookup(condition, name, set()) is not None for name in names)


def _sought(name: str, conditions: Sequence[s.Expression], env: Env) -> tuple[Sought, ...]:
    found = [one for condition in conditions if (one := lookup(condition, name, set())) is not None]
    return tuple(Sought((one.key, one.op, compile_expression(one.value, env))) for one in found)


def _place(name: str, conditions: Sequence[s.Expression], env: Env) -> Place:
    subject = s.Variable(name)
    labels = [c.labels for c in conditions if isinstance(c, s.HasLabels) and c.subject == subject]
    return Place(
        env[name], tuple(dict.fromkeys(label for some in labels for label in some)), _sought(name, conditions, env)
    )


def _stretch(one: Followed, names: Sequence[str], conditions: Sequence[s.Expression], env: Env) -> Stretch:
    length, name = one.link.pattern.length, one.link.name
    low, high = bounds(length) if length is not None else (1, 1)
    return Stretch(
        env[name],
        names.index(one.start),
        names.index(one.end),
        Way(one.hop.direction),
        one.hop.types,
        _sought(name, conditions, env) if length is None else (),
        None if length is None else (low, high or 0),
        one.backwards,
    )


# ── what comes after ─────────────────────────────────────────────────────────


def use_of(planner: MatchPlanner, after: After) -> Use:
    """What the clauses behind a MATCH do with its rows."""
    env, later = planner.env, after.clauses
    projection = _projection(later[0]) if later else None
    counted = projection is not None and not projection.everything and is_narrow(projection)
    names = _needed(projection) if projection is not None and counted else names_in(later, env)
    for path in planner.paths:  # a path is made of all its elements, named or not
        names |= {element.variable or "" for element in path.elements}
    slots = frozenset(env[name] for name in names if name in env)
    if projection is None or counted or projection.order:
        return Use(slots, counted, counted and _is_loose(projection), False, None, after.weight)
    streams = after.alone and isinstance(later[0], s.Return) and projection.skip is None
    return Use(slots, False, False, streams, _enough(projection, env), after.weight)


def _projection(clause: s.Clause) -> s.Projection | None:
    return clause.projection if isinstance(clause, s.With | s.Return) else None


def names_in(clauses: Sequence[s.Clause], env: Env) -> set[str]:
    """All variables that these clauses mention; too many rather than too few."""
    found: set[str] = set()
    for clause in clauses:
        for node in walk(clause):
            if isinstance(node, s.Variable):
                found.add(node.name)
            elif isinstance(node, s.PathPattern):
                found |= pattern_variables(node)
            elif isinstance(node, s.Projection) and node.everything:
                found |= {name for name in env.scope if not name.startswith(" ")}
    return found


def _needed(projection: s.Projection) -> set[str]:
    """What a grouping looks at. That something is there can be counted without looking at it."""
    found: set[str] = set()
    for item in projection.items:
        counted = [part for part in aggregates(item.value) if _counts_presence(part)]
        found |= free_variables(item.value) - {name for part in counted for name in free_variables(part)}
        for part in aggregates(item.value):
            found |= set() if part in counted else free_variables(part)
    for sort in projection.order:
        found |= free_variables(sort.value)
    return found


def _is_loose(projection: s.Projection | None) -> bool:
    """Whether it makes no difference how often an equal row comes."""
    found = [] if projection is None else [part for item in projection.items for part in aggregates(item.value)]
    return all(isinstance(part, s.Call) and (part.distinct or part.name in ("min", "max")) for part in found)


def _counts_presence(tree: s.Expression) -> bool:
    if isinstance(tree, s.CountStar):
        return True
    plain = isinstance(tree, s.Call) and tree.name == "count" and not tree.distinct
    return plain and isinstance(tree, s.Call) and isinstance(tree.arguments[0], s.Variable)


def _enough(projection: s.Projection, env: Env) -> Fn | None:
    skip = None if projection.skip is None else compile_expression(projection.skip, env)
    limit = None if projection.limit is None else compile_expression(projection.limit, env)
    return enough_rows(skip, limit)
