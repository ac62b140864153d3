"""Folding the first MATCH of a query into one question, for stores that can join.

Whatever the question cannot say is checked afterwards, so folding never changes an answer. How much the question asks
for depends on what follows: a count needs no rows, a grouping needs only what it groups by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ugs.cypher import syntax as s
from ugs.cypher.analysis.aspects import Looks, looks_at
from ugs.cypher.analysis.projections import is_narrow
from ugs.cypher.analysis.walk import aggregates, free_variables, walk
from ugs.cypher.engine.env import Env, Fn
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.joining import StoreMatch
from ugs.cypher.engine.operators.ordering import enough_rows
from ugs.cypher.engine.operators.questioning import LONGEST_REACH, LONGEST_WALK, Place, Questions, Stretch, Use
from ugs.cypher.engine.operators.scanning import Sought
from ugs.cypher.engine.planning.matching import Followed, MatchPlanner, bind_path, bounds
from ugs.cypher.engine.planning.starting import lookup
from ugs.cypher.printing import print_path
from ugs.reads.pattern import Way

ORDERLESS = ("count", "min", "max")


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
    if not planner.followed and not _is_alone(planner):
        return planner.operators
    use = use_of(planner, after)
    if planner.followed and not (_is_connected(planner, use) or _is_shortest(planner)):
        return planner.operators
    first = planner.followed[0].start if planner.followed else planner.starts[0]
    names = list(dict.fromkeys([first, *(one.end for one in planner.followed)]))
    env = planner.env
    placed = [_place(name, planner.every, env) for name in names]
    stretches = [_stretch(one, names, planner.every, env) for one in planner.followed]
    covered = all(_is_covered(condition, [*names, *single_legs(planner.followed)]) for condition in planner.every)
    checked = {name for condition in planner.every for name in free_variables(condition)}
    words = ", ".join(print_path(pattern) for pattern in clause.patterns)
    slots = frozenset(env[name] for name in checked if name in env)
    binds = [bind_path(path, env) for path in planner.paths]
    questions = Questions(placed, stretches, covered, use, slots)
    return [StoreMatch(questions, planner.operators, binds, words)]


def _is_alone(planner: MatchPlanner) -> bool:
    """Whether there is nothing but a single node, and the store can be asked for it."""
    return planner.statistics.alone and len(planner.starts) == 1 and not planner.paths


def _is_connected(planner: MatchPlanner, use: Use) -> bool:
    """Whether everything hangs on one node, and no walk is too long."""
    followed = planner.followed
    far = len(followed) == 1 and use.loose and followed[0].hop.relationship not in use.looks
    longest = LONGEST_REACH if far and followed[0].hop.direction != "both" else LONGEST_WALK
    return len(planner.starts) == 1 and all(is_foldable(one, longest) for one in followed)


def _is_shortest(planner: MatchPlanner) -> bool:
    """Whether there is nothing but a shortest path of any length between two nodes."""
    first, *others = planner.followed
    pattern = first.link.pattern
    low, _ = bounds(pattern.length or s.Length(1, 1))
    plain = pattern.properties is None and not first.hop.relationship_known and low == 1
    return bool(first.link.path.shortest) and not others and len(planner.starts) == 2 and plain


def is_foldable(one: Followed, longest: int) -> bool:
    pattern = one.link.pattern
    if one.hop.relationship_known or one.link.path.shortest:
        return False
    if pattern.length is None:
        return True
    low, high = bounds(pattern.length)
    return pattern.properties is None and high is not None and low <= high <= longest


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
    pattern, name = one.link.pattern, one.link.name
    single = pattern.length is None and not one.link.path.shortest
    return Stretch(
        env[name],
        names.index(one.start),
        names.index(one.end),
        Way(one.hop.direction),
        one.hop.types,
        _sought(name, conditions, env) if single else (),
        None if single else bounds(pattern.length or s.Length(1, 1)),
        one.backwards,
        one.link.path.shortest,
    )


# ── what comes after ─────────────────────────────────────────────────────────


def use_of(planner: MatchPlanner, after: After) -> Use:
    """What the clauses behind a MATCH do with its rows."""
    env, later = planner.env, after.clauses
    projection = _projection(later[0]) if later else None
    counted = projection is not None and not projection.everything and is_narrow(projection)
    # Single nodes come in the order of their ids, and whatever shows that order must see all of them.
    counted = counted and (bool(planner.followed) or _is_orderless(projection))
    looks = _grouping_looks(projection) if projection is not None and counted else _all_looks(later, env)
    for path in planner.paths:  # a path is made of all its elements, named or not
        looks.update(dict.fromkeys(element.variable or "" for element in path.elements))
    slots = {env[name]: look for name, look in looks.items() if name in env}
    if projection is None or counted or projection.order:
        return Use(slots, counted, counted and _is_loose(projection), False, None, after.weight)
    streams = after.alone and isinstance(later[0], s.Return) and projection.skip is None
    return Use(slots, False, False, streams, _enough(projection, env), after.weight)


def _projection(clause: s.Clause) -> s.Projection | None:
    return clause.projection if isinstance(clause, s.With | s.Return) else None


def _all_looks(clauses: Sequence[s.Clause], env: Env) -> Looks:
    """How these clauses look at variables."""
    found = looks_at(clauses)
    if any(isinstance(node, s.Projection) and node.everything for clause in clauses for node in walk(clause)):
        found.update(dict.fromkeys(name for name in env.scope if not name.startswith(" ")))
    return found


def _grouping_looks(projection: s.Projection) -> Looks:
    """What a grouping looks at. That something is there can be counted without looking at it."""
    values = [item.value for item in projection.items]
    counted = {part for value in values for part in aggregates(value) if _counts_presence(part)}
    return looks_at([*values, *(sort.value for sort in projection.order)], counted)


def _is_loose(projection: s.Projection | None) -> bool:
    """Whether it makes no difference how often an equal row comes."""
    found = [] if projection is None else [part for item in projection.items for part in aggregates(item.value)]
    return all(isinstance(part, s.Call) and (part.distinct or part.name in ("min", "max")) for part in found)


def _is_orderless(projection: s.Projection | None) -> bool:
    """Whether aggregations come to the same in whatever order they see the rows."""
    found = [] if projection is None else [part for item in projection.items for part in aggregates(item.value)]
    return all(isinstance(part, s.CountStar) or (isinstance(part, s.Call) and part.name in ORDERLESS) for part in found)


def _counts_presence(tree: s.Expression) -> bool:
    if isinstance(tree, s.CountStar):
        return True
    plain = isinstance(tree, s.Call) and tree.name == "count" and not tree.distinct
    return plain and isinstance(tree, s.Call) and isinstance(tree.arguments[0], s.Variable)


def _enough(projection: s.Projection, env: Env) -> Fn | None:
    skip = None if projection.skip is None else compile_expression(projection.skip, env)
    limit = None if projection.limit is None else compile_expression(projection.limit, env)
    return enough_rows(skip, limit)
