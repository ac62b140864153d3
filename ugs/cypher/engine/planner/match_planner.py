"""Planning of MATCH: start node, order of expansion, and placement of conditions.

Every condition runs as soon as the variables it needs are bound. Relationships of one MATCH are all different.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from ugs.cypher import syntax as s
from ugs.cypher.analysis.tree_walk import has_subquery
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.expand import REVERSED, Expand, Hop, UsedSlots
from ugs.cypher.engine.operators.project import Filter
from ugs.cypher.engine.operators.repeat_path import InnerHop, RepeatPath, Repetition
from ugs.cypher.engine.operators.select_paths import SelectPaths
from ugs.cypher.engine.operators.shortest_path import ShortestPaths
from ugs.cypher.engine.operators.var_length import ExpandMany
from ugs.cypher.engine.planner.path_selection import SelectionBuilder, group_names, is_anchored, split_conditions
from ugs.cypher.engine.planner.pattern_conditions import (
    bind_path,
    conjuncts,
    length_bounds,
    node_conditions,
    relationship_conditions,
)
from ugs.cypher.engine.planner.start_point import Start, build_start, start_operator
from ugs.cypher.engine.planner.statistics import Statistics
from ugs.cypher.engine.planner.waiting_conditions import WaitingConditions
from ugs.cypher.engine.slots import Env, Fn
from ugs.cypher.unparser import print_expression, print_quantified, print_relationship
from ugs.support.worker_threads import take_turn


@dataclass(frozen=True, slots=True)
class PatternLink:
    """A relationship of the pattern between two named nodes."""

    left: str
    name: str
    right: str
    pattern: s.RelationshipPattern | s.QuantifiedPath
    path: s.PathPattern


@dataclass(frozen=True, slots=True)
class PlannedHop:
    """A relationship with the direction in which it is expanded."""

    link: PatternLink
    start: str
    end: str
    hop: Hop
    backwards: bool

    @property
    def pattern(self) -> s.RelationshipPattern:
        assert isinstance(self.link.pattern, s.RelationshipPattern)
        return self.link.pattern


class MatchPlanner:
    """Plans the patterns of one MATCH."""

    def __init__(self, env: Env, statistics: Statistics) -> None:
        self.outer = env
        self.env = env
        self.statistics = statistics
        self.bound = set(env.scope)
        self.waiting = WaitingConditions(env, self.bound)
        self.links: list[PatternLink] = []
        self.paths: list[s.PathPattern] = []
        self.groups: list[str] = []
        """Variables inside quantified paths, which are lists outside."""
        self.nodes: dict[str, None] = {}
        self.operators: list[Operator] = []
        self.used_relationships: list[int] = []
        """Slots of the relationships followed so far."""
        self.all_conditions: list[s.Expression] = []
        """All conditions of the MATCH."""
        self.starts: list[str] = []
        self.planned_hops: list[PlannedHop] = []
        self.repeats = False
        """Whether a quantified path is part of the MATCH."""
        self._known_starts: dict[str, Start] = {}
        """The starts that were considered, as long as nothing was bound that their conditions look at."""
        self._anonymous = 0

    def plan(self, patterns: Sequence[s.PathPattern], where: s.Expression | None) -> tuple[list[Operator], Env]:
        selected = patterns[0]
        if selected.selector is not None and selected.relationships:
            return self._plan_selection(selected, where)
        for pattern in patterns:
            self._decompose(pattern)
        self.all_conditions += conjuncts(where)
        self._allocate_slots()
        self.waiting.add(self.all_conditions)
        self._plan_filters()
        while self._plan_next():
            pass
        for pattern in self.paths:
            self._bind_path(pattern)
        self._plan_filters(everything=True)
        return self.operators, self._visible()

    def _visible(self) -> Env:
        return Env(self.env.layout, {n: i for n, i in self.env.scope.items() if not n.startswith(" ")})

    def _plan_selection(self, pattern: s.PathPattern, where: s.Expression | None) -> tuple[list[Operator], Env]:
        """Plan a pattern with a path selector: its start, perhaps its end, then the search between them."""
        named = tuple(replace(element, variable=element.variable or self._name()) for element in pattern.elements)
        whole = replace(pattern, elements=named)
        ends = (whole.nodes[0].variable or "", whole.nodes[-1].variable or "")
        self.groups = group_names(whole)
        self.nodes = dict.fromkeys(node.variable or "" for node in whole.nodes)
        self.links = [PatternLink("", one.variable or "", "", one, whole) for one in whole.relationships]
        self.paths = [whole] if whole.variable is not None else []
        self._allocate_slots()
        split = split_conditions(whole, where)
        self.waiting.add(split.of_ends)
        self._plan_filters()
        backwards = self._bind_ends(*ends)
        at_end = self.waiting.take_all()
        builder = SelectionBuilder(self.env, self.outer, self.bound, split, backwards, self._name)
        self.operators.append(SelectPaths(builder.build(whole, at_end)))
        self._bind({*self.nodes, *self.groups, *(link.name for link in self.links)})
        self.repeats = True
        for path in self.paths:
            self._bind_path(path)
        self.waiting.add(split.after)
        self._plan_filters(everything=True)
        return self.operators, self._visible()

    def _bind_ends(self, first: str, last: str) -> bool:
        """Bind the start of a selected path, and its end too where an index leads there; whether it runs backwards.

        The choice depends on nothing but the query, since of equally long paths another start may select others.
        """
        if not {first, last} & self.bound:
            anchored = [self._start_at(name) for name in (first, last)]
            self._bind_start(anchored[1] if is_anchored(anchored[1]) and not is_anchored(anchored[0]) else anchored[0])
        backwards = first not in self.bound
        other = first if backwards else last
        if other not in self.bound:
            start = self._start_at(other)
            if is_anchored(start):
                self._bind_start(start)
        return backwards

    def _bind_start(self, start: Start) -> None:
        self.operators.append(start_operator(start, self.env))
        self._bind([start.name])
        self._drop_labels(start)
        self._plan_filters()

    def _name(self) -> str:
        """A generated name that cannot occur in a query."""
        self._anonymous += 1
        return f" {self.env.layout.width}.{self._anonymous}"

    def _decompose(self, pattern: s.PathPattern) -> None:
        """Name every element, and turn labels and properties into conditions."""
        named = tuple(replace(element, variable=element.variable or self._name()) for element in pattern.elements)
        whole = replace(
            pattern, elements=named, variable=pattern.variable or (self._name() if pattern.shortest else None)
        )
        self.all_conditions += conjuncts(whole.where)
        for node in whole.nodes:
            self._add_node(node)
        for place, relationship in enumerate(whole.relationships):
            left, right = whole.nodes[place].variable or "", whole.nodes[place + 1].variable or ""
            self.links.append(PatternLink(left, relationship.variable or "", right, relationship, whole))
            if isinstance(relationship, s.QuantifiedPath):
                self.groups += [element.variable for element in relationship.elements if element.variable]
            elif relationship.length is None:
                self.all_conditions += relationship_conditions(relationship)
        if whole.variable is not None:
            self.paths.append(whole)

    def _add_node(self, node: s.NodePattern) -> None:
        name = node.variable or ""
        self.nodes[name] = None
        self.all_conditions += node_conditions(replace(node, variable=name))

    def _allocate_slots(self) -> None:
        names = [
            *self.groups,
            *self.nodes,
            *(link.name for link in self.links),
            *(path.variable or "" for path in self.paths),
        ]
        self.env = self.env.plus(dict.fromkeys(name for name in names if name not in self.outer))
        self.waiting = WaitingConditions(self.env, self.bound)

    def _bind(self, names: Iterable[str]) -> None:
        """Note that variables are bound; starts whose conditions look at them may have become better."""
        for name in names:
            self.bound.add(name)
            for related in self.waiting.bind(name):
                self._known_starts.pop(related, None)

    def _plan_next(self) -> bool:
        """Plan the cheapest next step; False if the whole pattern is bound."""
        take_turn()
        link = self._best_link()
        if link is not None:
            self.links.remove(link)
            self._plan_hop(link)
        elif (start := self._best_start()) is not None:
            self.operators.append(start_operator(start, self.env))
            self._bind([start.name])
            self.starts.append(start.name)
            self._drop_labels(start)
        else:
            return False
        self._plan_filters()
        return True

    def _drop_labels(self, start: Start) -> None:
        """Drop label conditions that the scan has decided; other pushed-down conditions are filtered again."""
        if not start.by_id:
            done = s.Variable(start.name)
            self.waiting.drop(start.name, lambda one: isinstance(one, s.HasLabels) and one.subject == done)

    def _best_start(self) -> Start | None:
        """The node with the fewest candidates; among equals the one written first."""
        unbound = [self._start_at(name) for name in self.nodes if name not in self.bound]
        return min(unbound, key=attrgetter("estimate")) if unbound else None

    def _start_at(self, name: str) -> Start:
        known = self._known_starts.get(name)
        if known is None:
            take_turn()
            known = build_start(name, self.waiting.about(name), self.bound, self.statistics)
            self._known_starts[name] = known
        return known

    def _best_link(self) -> PatternLink | None:
        ready = [link for link in self.links if self._is_ready(link)]
        return min(ready, key=self._cost) if ready else None

    def _is_ready(self, link: PatternLink) -> bool:
        ends = (link.left in self.bound) + (link.right in self.bound)
        return ends == 2 if link.path.shortest else ends > 0

    def _cost(self, link: PatternLink) -> tuple[int, ...]:
        """Joining two bound nodes first, then single steps, then those with the most conditions on the far end."""
        both = link.left in self.bound and link.right in self.bound
        many = isinstance(link.pattern, s.QuantifiedPath) or link.pattern.length is not None
        far = link.right if link.left in self.bound else link.left
        return many and not both, not both, bool(link.path.shortest), -self.waiting.count(far)

    def _plan_hop(self, link: PatternLink) -> None:
        pattern = link.pattern
        backwards = link.left not in self.bound
        start, end = (link.right, link.left) if backwards else (link.left, link.right)
        if isinstance(pattern, s.QuantifiedPath):
            self.operators.append(self._plan_repetition(pattern, link, start, end, backwards))
            self.used_relationships.append(self.env[link.name])
            self._bind({start, end, link.name, *(part.variable for part in pattern.elements if part.variable)})
            self.repeats = True
            return
        hop = Hop(
            self.env[start],
            self.env[link.name],
            self.env[end],
            REVERSED[pattern.direction] if backwards else pattern.direction,
            tuple(dict.fromkeys(pattern.types)) or None,
            end in self.bound,
            link.name in self.outer,
            UsedSlots(self.used_relationships),
            print_relationship(pattern, start, end),
        )
        self.operators.append(self._hop_operator(link, hop, backwards))
        self.planned_hops.append(PlannedHop(link, start, end, hop, backwards))
        self.used_relationships.append(self.env[link.name])
        self._bind({start, end, link.name})

    def _plan_repetition(
        self, pattern: s.QuantifiedPath, link: PatternLink, start: str, end: str, backwards: bool
    ) -> RepeatPath:
        parts = [replace(part, variable=part.variable or self._name()) for part in pattern.elements]
        names = [part.variable or "" for part in parts]
        inner = Env(self.env.layout, self.outer.scope).plus(names)
        conditions = conjuncts(pattern.where)
        for part in parts:
            more = node_conditions(part) if isinstance(part, s.NodePattern) else relationship_conditions(part)
            conditions += more
        ordered = parts[::-1] if backwards else parts
        repetition = Repetition(
            self.env[start],
            self.env[end],
            self.env[link.name],
            end in self.bound,
            UsedSlots(self.used_relationships),
            inner[ordered[0].variable or ""],
            tuple(_inner_hops(ordered, inner, backwards)),
            tuple((inner[name], self.env[name]) for name in dict.fromkeys(names) if name in self.groups),
            pattern.low,
            pattern.high,
            backwards,
            print_quantified(pattern),
            any(has_subquery(condition) for condition in conditions),
        )
        return RepeatPath(repetition, [compile_expression(condition, inner) for condition in conditions])

    def _hop_operator(self, link: PatternLink, hop: Hop, backwards: bool) -> Operator:
        pattern = link.pattern
        assert isinstance(pattern, s.RelationshipPattern)
        if link.path.shortest:
            low, high = length_bounds(pattern.length or s.Length(1, 1))
            self._bind([link.path.variable or ""])
            all_conditions = link.path.shortest == "allShortestPaths"
            return ShortestPaths(
                hop, self.env[link.path.variable or ""], low, high, all_conditions, self._compile_properties(pattern)
            )
        if pattern.length is None:
            return Expand(hop)
        low, high = length_bounds(pattern.length)
        return ExpandMany(hop, low, high, self._compile_properties(pattern), backwards)

    def _compile_properties(self, pattern: s.RelationshipPattern) -> Fn | None:
        return None if pattern.properties is None else compile_expression(pattern.properties, self.env)

    def _bind_path(self, pattern: s.PathPattern) -> None:
        if not pattern.shortest:
            self.operators.append(bind_path(pattern, self.env))
        self._bind([pattern.variable or ""])
        self._plan_filters()

    def _plan_filters(self, everything: bool = False) -> None:
        """Check each condition as soon as that is possible."""
        for condition in self.waiting.take_all() if everything else self.waiting.take_ready():
            compute = compile_expression(condition, self.env)
            self.operators.append(Filter(compute, print_expression(condition), has_subquery(condition)))


def _inner_hops(
    parts: Sequence[s.NodePattern | s.RelationshipPattern], env: Env, backwards: bool
) -> Iterator[InnerHop]:
    named = {parts[0].variable}
    for part, end in zip(parts[1::2], parts[2::2], strict=True):
        assert isinstance(part, s.RelationshipPattern)
        direction = REVERSED[part.direction] if backwards else part.direction
        types = tuple(dict.fromkeys(part.types)) or None
        yield InnerHop(env[part.variable or ""], env[end.variable or ""], direction, types, end.variable in named)
        named.add(end.variable)
