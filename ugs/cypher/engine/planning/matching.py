"""Planning MATCH: where to start, in which order to follow the pattern, and which conditions go where.

Every condition runs as soon as the variables it needs are bound. Relationships of one MATCH are all different.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ugs.cypher import syntax as s
from ugs.cypher.analysis.walk import free_variables, has_subquery
from ugs.cypher.engine.env import Env, Fn
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.expanding import REVERSED, Expand, Hop
from ugs.cypher.engine.operators.shaping import BindPath, Filter
from ugs.cypher.engine.operators.shortest import ShortestPaths
from ugs.cypher.engine.operators.varlength import ExpandMany
from ugs.cypher.engine.planning.starting import Start, choose_start, start_operator
from ugs.cypher.engine.planning.statistics import Statistics
from ugs.cypher.printing import print_expression, print_relationship


@dataclass(frozen=True, slots=True)
class Link:
    """A relationship of the pattern between two named nodes."""

    left: str
    name: str
    right: str
    pattern: s.RelationshipPattern
    path: s.PathPattern


@dataclass(frozen=True, slots=True)
class Followed:
    """A relationship in the way it is followed."""

    link: Link
    start: str
    end: str
    hop: Hop
    backwards: bool


class MatchPlanner:
    """Plans the patterns of one MATCH."""

    def __init__(self, env: Env, statistics: Statistics) -> None:
        self.outer = env
        self.env = env
        self.statistics = statistics
        self.bound = set(env.scope)
        self.conditions: list[s.Expression] = []
        self.links: list[Link] = []
        self.paths: list[s.PathPattern] = []
        self.nodes: dict[str, None] = {}
        self.operators: list[Operator] = []
        self.taken: list[str] = []
        """Names of the relationships followed so far."""
        self.every: list[s.Expression] = []
        """All conditions of the MATCH."""
        self.starts: list[str] = []
        self.followed: list[Followed] = []
        self._anonymous = 0

    def plan(self, patterns: Sequence[s.PathPattern], where: s.Expression | None) -> tuple[list[Operator], Env]:
        for pattern in patterns:
            self._take_apart(pattern)
        self.conditions += conjuncts(where)
        self.every = list(self.conditions)
        self._allot()
        self._filter()
        while self._next():
            pass
        for pattern in self.paths:
            self._bind_path(pattern)
        self._filter(everything=True)
        return self.operators, Env(self.env.layout, {n: i for n, i in self.env.scope.items() if not n.startswith(" ")})

    def _name(self) -> str:
        """A name that no query can write."""
        self._anonymous += 1
        return f" {self.env.layout.width}.{self._anonymous}"

    def _take_apart(self, pattern: s.PathPattern) -> None:
        """Name every element, and turn labels and properties into conditions."""
        named = tuple(replace(element, variable=element.variable or self._name()) for element in pattern.elements)
        whole = replace(
            pattern, elements=named, variable=pattern.variable or (self._name() if pattern.shortest else None)
        )
        for node in whole.nodes:
            self._take_node(node)
        for place, relationship in enumerate(whole.relationships):
            left, right = whole.nodes[place].variable or "", whole.nodes[place + 1].variable or ""
            self.links.append(Link(left, relationship.variable or "", right, relationship, whole))
            if relationship.length is None:
                self.conditions += property_conditions(relationship.variable or "", relationship.properties)
        if whole.variable is not None:
            self.paths.append(whole)

    def _take_node(self, node: s.NodePattern) -> None:
        name = node.variable or ""
        self.nodes[name] = None
        if node.labels:
            self.conditions.append(s.HasLabels(s.Variable(name), node.labels))
        self.conditions += property_conditions(name, node.properties)

    def _allot(self) -> None:
        names = [*self.nodes, *(link.name for link in self.links), *(path.variable or "" for path in self.paths)]
        self.env = self.env.plus(dict.fromkeys(name for name in names if name not in self.outer))

    def _next(self) -> bool:
        """Do the next best thing; False when the whole pattern is bound."""
        link = self._best_link()
        if link is not None:
            self.links.remove(link)
            self._follow(link)
        elif (start := self._best_start()) is not None:
            self.operators.append(start_operator(start, self.env))
            self.bound.add(start.name)
            self.starts.append(start.name)
            self._drop_labels(start)
        else:
            return False
        self._filter()
        return True

    def _drop_labels(self, start: Start) -> None:
        """A scan answers with nodes of its labels only; whatever else the store checked is checked again."""
        if not start.by_id:
            done = s.Variable(start.name)
            self.conditions = [c for c in self.conditions if not (isinstance(c, s.HasLabels) and c.subject == done)]

    def _best_start(self) -> Start | None:
        unbound = [name for name in self.nodes if name not in self.bound]
        return choose_start(unbound, self.conditions, self.bound, self.statistics) if unbound else None

    def _best_link(self) -> Link | None:
        ready = [link for link in self.links if self._is_ready(link)]
        return min(ready, key=self._cost) if ready else None

    def _is_ready(self, link: Link) -> bool:
        ends = (link.left in self.bound) + (link.right in self.bound)
        return ends == 2 if link.path.shortest else ends > 0

    def _cost(self, link: Link) -> tuple[int, ...]:
        """Joining two bound nodes first, then single steps, then those with the most conditions on the far end."""
        both = link.left in self.bound and link.right in self.bound
        many = link.pattern.length is not None
        far = link.right if link.left in self.bound else link.left
        conditions = sum(far in free_variables(condition) for condition in self.conditions)
        return many and not both, not both, bool(link.path.shortest), -conditions

    def _follow(self, link: Link) -> None:
        pattern = link.pattern
        backwards = link.left not in self.bound
        start, end = (link.right, link.left) if backwards else (link.left, link.right)
        hop = Hop(
            self.env[start],
            self.env[link.name],
            self.env[end],
            REVERSED[pattern.direction] if backwards else pattern.direction,
            tuple(dict.fromkeys(pattern.types)) or None,
            end in self.bound,
            link.name in self.outer,
            tuple(self.env[name] for name in self.taken),
            print_relationship(pattern, start, end),
        )
        self.operators.append(self._hop_operator(link, hop, backwards))
        self.followed.append(Followed(link, start, end, hop, backwards))
        self.taken.append(link.name)
        self.bound |= {start, end, link.name}

    def _hop_operator(self, link: Link, hop: Hop, backwards: bool) -> Operator:
        pattern = link.pattern
        if link.path.shortest:
            low, high = bounds(pattern.length or s.Length(1, 1))
            self.bound.add(link.path.variable or "")
            every = link.path.shortest == "allShortestPaths"
            return ShortestPaths(hop, self.env[link.path.variable or ""], low, high, every, self._properties(pattern))
        if pattern.length is None:
            return Expand(hop)
        low, high = bounds(pattern.length)
        return ExpandMany(hop, low, high, self._properties(pattern), backwards)

    def _properties(self, pattern: s.RelationshipPattern) -> Fn | None:
        return None if pattern.properties is None else compile_expression(pattern.properties, self.env)

    def _bind_path(self, pattern: s.PathPattern) -> None:
        if not pattern.shortest:
            self.operators.append(bind_path(pattern, self.env))
        self.bound.add(pattern.variable or "")
        self._filter()

    def _filter(self, everything: bool = False) -> None:
        """Check each condition as soon as that is possible."""
        waiting = []
        for condition in self.conditions:
            needed = {name for name in free_variables(condition) if name in self.env}
            if everything or needed <= self.bound:
                compute = compile_expression(condition, self.env)
                self.operators.append(Filter(compute, print_expression(condition), has_subquery(condition)))
            else:
                waiting.append(condition)
        self.conditions = waiting


def bind_path(pattern: s.PathPattern, env: Env) -> BindPath:
    """Makes the path of a pattern whose elements are bound."""
    name = pattern.variable or ""
    return BindPath(env[name], [env[element.variable or ""] for element in pattern.elements], name)


def bounds(length: s.Length) -> tuple[int, int | None]:
    """The least and the greatest number of steps."""
    return 1 if length.low is None else length.low, length.high


def conjuncts(where: s.Expression | None) -> list[s.Expression]:
    """The conditions that must all hold."""
    if where is None:
        return []
    if isinstance(where, s.Binary) and where.op == "AND":
        return conjuncts(where.left) + conjuncts(where.right)
    return [where]


def property_conditions(name: str, properties: s.Expression | None) -> list[s.Expression]:
    if not isinstance(properties, s.MapLiteral):
        return []
    subject = s.Variable(name)
    return [s.Comparison((s.Property(subject, key), value), ("=",)) for key, value in properties.entries]
