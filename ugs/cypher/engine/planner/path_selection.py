"""Planning of path selectors: which condition is checked where, and the automaton that the search follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from ugs.cypher import syntax as s
from ugs.cypher.analysis.tree_walk import free_variables
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.expand import REVERSED
from ugs.cypher.engine.operators.select_paths import PathStep, Segment, Selection
from ugs.cypher.engine.planner.pattern_conditions import (
    conjuncts,
    length_bounds,
    node_conditions,
    property_conditions,
    relationship_conditions,
)
from ugs.cypher.engine.planner.start_point import Start
from ugs.cypher.engine.slots import Env, Fn
from ugs.cypher.unparser import print_path
from ugs.reads.filters import Op


def group_names(pattern: s.PathPattern) -> list[str]:
    """The variables inside the quantified paths of a pattern."""
    groups = [one for one in pattern.relationships if isinstance(one, s.QuantifiedPath)]
    return list(dict.fromkeys(part.variable for one in groups for part in one.elements if part.variable))


def is_anchored(start: Start) -> bool:
    """Whether an id or the value of a property leads to a node."""
    return any(one.key == "" or one.op is Op.EQ for one in start.lookups)


@dataclass
class SplitConditions:
    """The conditions of a selected path by what they look at, outside its quantified parts."""

    of_ends: list[s.Expression] = field(default_factory=list)
    """On the end nodes: they hold for all paths between two nodes or for none, so the place of the check is free."""
    of_elements: list[tuple[set[str], s.Expression]] = field(default_factory=list)
    """Parts of the pattern, with the variables they look at."""
    after: list[s.Expression] = field(default_factory=list)
    """Conditions of the MATCH, checked on the selected paths only."""


def split_conditions(pattern: s.PathPattern, where: s.Expression | None) -> SplitConditions:
    """The conditions of a pattern whose elements are named, and those of its MATCH."""
    split = SplitConditions()
    ends = {pattern.nodes[0].variable or "", pattern.nodes[-1].variable or ""}
    own = {*(part.variable or "" for part in pattern.elements), *group_names(pattern), pattern.variable or ""}
    inside = [condition for node in pattern.nodes for condition in node_conditions(node)]
    for one in pattern.relationships:
        if isinstance(one, s.RelationshipPattern) and one.length is None:
            inside += relationship_conditions(one)
    for condition in inside + conjuncts(pattern.where):
        names = free_variables(condition) & own
        if names <= ends:
            split.of_ends.append(condition)
        else:
            split.of_elements.append((names, condition))
    for condition in conjuncts(where):
        (split.of_ends if free_variables(condition) & own <= ends else split.after).append(condition)
    return split


class SelectionBuilder:
    """Builds the automaton of one pattern, in the direction of the search."""

    def __init__(
        self, env: Env, outer: Env, bound: set[str], split: SplitConditions, backwards: bool, name: Callable[[], str]
    ) -> None:
        self.env = env
        self.outer = outer
        self.bound = bound
        self.elements = split.of_elements
        """Conditions that have no place yet."""
        self.backwards = backwards
        self.name = name

    def build(self, pattern: s.PathPattern, at_end: Sequence[s.Expression]) -> Selection:
        """`at_end` are the conditions on the node where the search ends."""
        assert pattern.selector is not None
        elements = pattern.elements[::-1] if self.backwards else pattern.elements
        nodes: list[s.NodePattern] = list(elements[0::2])  # type: ignore[arg-type]
        segments = []
        for number, one in enumerate(elements[1::2]):
            start, end = nodes[number].variable or "", nodes[number + 1].variable or ""
            conditions = self._take({end})
            if number == len(nodes) - 2:
                conditions += [compile_expression(condition, self.env) for condition in at_end]
            if isinstance(one, s.QuantifiedPath):
                segment = self._repeated(one, one.low, one.high, conjuncts(one.where))
            elif isinstance(one, s.RelationshipPattern) and one.length is not None:
                segment = self._variable_length(one, *length_bounds(one.length))
            else:
                assert isinstance(one, s.RelationshipPattern)
                segment = self._single(one, start, end)
            known = end in self.bound
            segments.append(_with_node(segment, self.env[end], known, tuple(conditions)))
        rest = tuple(compile_expression(condition, self.env) for _, condition in self.elements)
        selector = pattern.selector
        words = print_path(replace(pattern, elements=tuple(_shown(element) for element in pattern.elements)))
        start_slot = self.env[nodes[0].variable or ""]
        return Selection(start_slot, tuple(segments), rest, selector.count, selector.groups, self.backwards, words)

    def _take(self, names: set[str]) -> list[Fn]:
        """The conditions that look at nothing but these variables; they need not be checked elsewhere."""
        mine = [condition for wanted, condition in self.elements if wanted <= names]
        self.elements = [one for one in self.elements if not one[0] <= names]
        return [compile_expression(condition, self.env) for condition in mine]

    def _single(self, one: s.RelationshipPattern, start: str, end: str) -> Segment:
        name = one.variable or ""
        step = PathStep(
            self.env[start],
            self.env[name],
            self.env[end],
            self._direction(one),
            tuple(dict.fromkeys(one.types)) or None,
            tuple(self._take({start, name, end})),
        )
        return Segment((step,), 1, 1, self.env[name], False, name in self.outer, (), (), (), (), 0, False, ())

    def _variable_length(self, one: s.RelationshipPattern, low: int, high: int | None) -> Segment:
        """Any number of relationships is the repetition of one."""
        single = replace(one, variable=None, length=None, properties=None)
        ends = s.NodePattern(None, (), None)
        name = self.name()
        parts = (ends, replace(single, variable=name), ends)
        group = s.QuantifiedPath(parts, None, low, high, one.variable, at=one.at)
        return self._repeated(group, low, high, property_conditions(name, one.properties))

    def _repeated(self, group: s.QuantifiedPath, low: int, high: int | None, conditions: list[s.Expression]) -> Segment:
        parts = [replace(part, variable=part.variable or self.name()) for part in group.elements]
        for part in parts:
            conditions = conditions + (
                node_conditions(part) if isinstance(part, s.NodePattern) else relationship_conditions(part)
            )
        names = [part.variable or "" for part in parts]
        inner = Env(self.env.layout, self.outer.scope).plus(dict.fromkeys(names))
        ordered = parts[::-1] if self.backwards else parts
        places = [part.variable or "" for part in ordered]
        waiting = [(free_variables(condition) & set(names), condition) for condition in conditions]

        def take(wanted: set[str]) -> tuple[Fn, ...]:
            nonlocal waiting
            mine = [condition for found, condition in waiting if found <= wanted]
            waiting = [one for one in waiting if not one[0] <= wanted]
            return tuple(compile_expression(condition, inner) for condition in mine)

        first = take({places[0]})
        steps = []
        for place in range(1, len(ordered), 2):
            part = ordered[place]
            assert isinstance(part, s.RelationshipPattern)
            around = places[place - 1 : place + 2]
            slots = [inner[name] for name in around]
            types = tuple(dict.fromkeys(part.types)) or None
            steps.append(PathStep(slots[0], slots[1], slots[2], self._direction(part), types, take(set(around))))
        outside = {name: place for place, name in reversed(list(enumerate(places))) if name in self.env.scope}
        written = {part.variable for part in group.elements if part.variable}
        groups = tuple((place, self.env[name]) for name, place in outside.items() if name in written)
        return Segment(
            tuple(steps),
            low,
            high,
            self.env[group.variable or ""],
            True,
            (group.variable or "") in self.outer,
            first,
            take(set(names)),
            groups,
            tuple((place, inner[name]) for place, name in enumerate(places)),
            0,
            False,
            (),
        )

    def _direction(self, one: s.RelationshipPattern) -> str:
        return REVERSED[one.direction] if self.backwards else one.direction


def _with_node(segment: Segment, slot: int, known: bool, conditions: tuple[Fn, ...]) -> Segment:
    return msgspec.structs.replace(segment, node=slot, node_known=known, node_conditions=conditions)


def _shown(
    element: s.NodePattern | s.RelationshipPattern | s.QuantifiedPath,
) -> s.NodePattern | s.RelationshipPattern | s.QuantifiedPath:
    """An element without a made-up name."""
    made_up = element.variable is not None and element.variable.startswith(" ")
    return replace(element, variable=None) if made_up else element
