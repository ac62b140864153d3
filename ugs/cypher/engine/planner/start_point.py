"""Choice of the start node, and the index lookups for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ugs.cypher import syntax as s
from ugs.cypher.analysis.tree_walk import free_variables, has_subquery
from ugs.cypher.engine.expressions import compile_expression
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.scan import NodeById, NodeScan, PropertyLookup
from ugs.cypher.engine.planner.statistics import Statistics
from ugs.cypher.engine.slots import Env
from ugs.cypher.parser.label_expressions import plain_disjunction
from ugs.cypher.unparser import print_expression
from ugs.reads.filters import Op

MIRRORED_OPERATORS = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
OPERATORS = {"=": Op.EQ, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
TEXT_OPERATORS = {"STARTS WITH": Op.STARTS, "ENDS WITH": Op.ENDS, "CONTAINS": Op.CONTAINS, "IN": Op.IN}
SELECTIVITY = {Op.EQ: 0.001, Op.IN: 0.01, Op.STARTS: 0.05, Op.EXISTS: 0.5}
"""Estimated fraction of nodes that satisfy a condition."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """A condition that a store can check: `key op value`, or an id when the key is empty."""

    key: str
    op: Op
    value: s.Expression


@dataclass(frozen=True, slots=True)
class Start:
    """A start node: labels, lookups and estimated count."""

    name: str
    labels: tuple[str, ...]
    lookups: tuple[Lookup, ...]
    estimate: float
    fixed: bool
    any_labels: tuple[tuple[str, ...], ...] = ()

    @property
    def by_id(self) -> bool:
        return any(one.key == "" for one in self.lookups)


def build_start(name: str, conditions: Sequence[s.Expression], bound: set[str], statistics: Statistics) -> Start:
    """The start at one node, from the conditions that look at it."""
    labels = tuple(dict.fromkeys(label for condition in conditions for label in _labels(condition, name)))
    lookups = tuple(found for condition in conditions if (found := lookup(condition, name, bound)) is not None)
    estimate = float(statistics.nodes(labels))
    for one in lookups:
        estimate = min(estimate, 1.0) if one.key == "" else estimate * SELECTIVITY.get(one.op, 0.3)
    fixed = not any(free_variables(one.value) for one in lookups)
    return Start(name, labels, lookups, estimate, fixed, find_any_labels(conditions, name))


def _labels(condition: s.Expression, name: str) -> tuple[str, ...]:
    mine = isinstance(condition, s.HasLabels) and condition.subject == s.Variable(name)
    return condition.labels if mine and isinstance(condition, s.HasLabels) else ()


def find_any_labels(conditions: Iterable[s.Expression], name: str) -> tuple[tuple[str, ...], ...]:
    """The label disjunctions among the conditions on a node."""
    tests = [one for one in conditions if isinstance(one, s.LabelTest) and one.subject == s.Variable(name)]
    groups = [plain_disjunction(test.labels) for test in tests]
    return tuple(group for group in groups if group)


def lookup(condition: s.Expression, name: str, bound: set[str]) -> Lookup | None:
    """The lookup for a condition on one node, if its value is bound."""
    for key, op, value in _interpretations(condition, name):
        if free_variables(value) <= bound and not has_subquery(value):
            return Lookup(key, op, value)
    return None


def _interpretations(condition: s.Expression, name: str) -> Iterable[tuple[str, Op, s.Expression]]:
    if isinstance(condition, s.Comparison) and len(condition.ops) == 1 and condition.ops[0] in OPERATORS:
        left, right = condition.operands
        op = condition.ops[0]
        for subject, sign, value in ((left, op, right), (right, MIRRORED_OPERATORS[op], left)):
            key = _key(subject, name)
            if key is not None and (key or sign == "="):
                yield key, OPERATORS[sign], value
    elif isinstance(condition, s.Binary) and condition.op in TEXT_OPERATORS:
        key = _key(condition.left, name)
        if key is not None and (key or condition.op == "IN"):
            yield key, TEXT_OPERATORS[condition.op], condition.right
    elif isinstance(condition, s.IsNull) and condition.negated:
        key = _key(condition.operand, name)
        if key:
            yield key, Op.EXISTS, s.Literal(None)


def _key(tree: s.Expression, name: str) -> str | None:
    """The property of the node that an expression reads; empty for its id."""
    if isinstance(tree, s.Property) and tree.subject == s.Variable(name):
        return tree.key
    if isinstance(tree, s.Call) and tree.name in ("id", "elementid") and tree.arguments == (s.Variable(name),):
        return ""
    return None


def start_operator(start: Start, env: Env) -> Operator:
    slot = env[start.name]
    for one in start.lookups:
        if one.key == "":
            words = f"{start.name.strip()} by id {print_expression(one.value)}"
            return NodeById(slot, compile_expression(one.value, env), words)
    lookups = [PropertyLookup((one.key, one.op, compile_expression(one.value, env))) for one in start.lookups]
    return NodeScan(slot, start.labels, lookups, start.fixed, _describe(start), start.any_labels)


def _describe(start: Start) -> str:
    groups = [*((label,) for label in start.labels), *start.any_labels]
    labels = "".join(f":{'|'.join(group)}" for group in groups)
    shown = ", ".join(f"{one.key} {one.op} {print_expression(one.value)}" for one in start.lookups)
    name = "" if start.name.startswith(" ") else start.name
    return f"({name}{labels}{' {' + shown + '}' if shown else ''})"
