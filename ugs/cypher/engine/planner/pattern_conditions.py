"""The conditions of a pattern's elements, and the path that they make."""

from __future__ import annotations

from ugs.cypher import syntax as s
from ugs.cypher.engine.operators.project import BindPath
from ugs.cypher.engine.slots import Env


def node_conditions(node: s.NodePattern) -> list[s.Expression]:
    """The labels, properties and condition of a named node."""
    subject = s.Variable(node.variable or "")
    found: list[s.Expression] = [s.HasLabels(subject, node.labels)] if node.labels else []
    if node.label_expression is not None:
        found.append(s.LabelTest(subject, node.label_expression))
    return found + property_conditions(subject.name, node.properties) + conjuncts(node.where)


def relationship_conditions(pattern: s.RelationshipPattern) -> list[s.Expression]:
    """The type expression, properties and condition of a named relationship."""
    subject = s.Variable(pattern.variable or "")
    types = [] if pattern.type_expression is None else [s.LabelTest(subject, pattern.type_expression)]
    return [*types, *property_conditions(subject.name, pattern.properties), *conjuncts(pattern.where)]


def bind_path(pattern: s.PathPattern, env: Env) -> BindPath:
    """The operator that builds the path of a pattern."""
    name = pattern.variable or ""
    return BindPath(env[name], [env[element.variable or ""] for element in pattern.elements], name)


def length_bounds(length: s.Length) -> tuple[int, int | None]:
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
