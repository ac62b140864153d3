"""Checking patterns: what they bind, what they may refer to, and where two uses of a name collide."""

from __future__ import annotations

from collections.abc import Sequence

from ugs.cypher.analysis.expressions import Scope, check, forbid_aggregates, undefined
from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.kinds import NODE, OPEN, PATH, RELATIONSHIP, Kind, list_of
from ugs.cypher.syntax import MapLiteral, NodePattern, PathPattern, RelationshipPattern

RELATIONSHIPS = list_of(RELATIONSHIP)


def bind_patterns(patterns: Sequence[PathPattern], scope: Scope) -> Scope:
    """The scope after a MATCH of these patterns."""
    inner = dict(scope)
    used: set[str] = set()
    for pattern in patterns:
        for element in pattern.elements:
            if isinstance(element, NodePattern):
                _bind(element.variable, NODE, inner, element.at)
            else:
                _bind_relationship(element, inner, used)
        _bind_path(pattern, inner)
    for pattern in patterns:
        _check_properties(pattern, inner)
    return inner


def _bind(name: str | None, kind: Kind, scope: Scope, at: int) -> None:
    if name is None:
        return
    known = scope.setdefault(name, kind)
    if known.name in OPEN:
        scope[name] = kind
    elif known.name != kind.name or not _same_items(known, kind):
        raise CypherSyntaxError("VariableTypeConflict", f"{name} is {known} already, and cannot be {kind}", at)


def _same_items(known: Kind, kind: Kind) -> bool:
    if known.item is None or kind.item is None:
        return True
    return known.item.name in OPEN or known.item == kind.item


def _bind_relationship(element: RelationshipPattern, scope: Scope, used: set[str]) -> None:
    name = element.variable
    if name in used:
        message = f"The relationship {name} cannot be used twice in one MATCH"
        raise CypherSyntaxError("RelationshipUniquenessViolation", message, element.at)
    _bind(name, RELATIONSHIP if element.length is None else RELATIONSHIPS, scope, element.at)
    if name is not None:
        used.add(name)


def _bind_path(pattern: PathPattern, scope: Scope) -> None:
    name = pattern.variable
    if name is None:
        return
    if name in scope:
        raise CypherSyntaxError("VariableAlreadyBound", f"{name} has been defined before", pattern.at)
    scope[name] = PATH


def _check_properties(pattern: PathPattern, scope: Scope) -> None:
    for element in pattern.elements:
        if element.properties is not None:
            forbid_aggregates(element.properties, "a pattern")
            check(element.properties, scope)
            if not isinstance(element.properties, MapLiteral):
                message = "The properties of a pattern are written {key: value}"
                raise CypherSyntaxError("UnexpectedSyntax", message, element.at)


def check_pattern_expression(pattern: PathPattern, scope: Scope) -> None:
    """A pattern used as a condition brings no new names."""
    for element in pattern.elements:
        if element.variable is not None and element.variable not in scope:
            raise undefined(element.variable, scope, element.at)
    bind_patterns((pattern,), scope)
