"""Analysis of patterns: the variables they bind, and conflicting uses of a name."""

from __future__ import annotations

from collections.abc import Sequence

from ugs.cypher.analysis.expressions import (
    Scope,
    check,
    check_condition,
    check_labels,
    forbid_aggregates,
    undefined_variable,
)
from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.static_types import NODE, OPEN, PATH, RELATIONSHIP, Kind, list_of
from ugs.cypher.syntax import MapLiteral, NodePattern, PathPattern, QuantifiedPath, RelationshipPattern

PathElement = NodePattern | RelationshipPattern | QuantifiedPath
RELATIONSHIPS = list_of(RELATIONSHIP)


def bind_patterns(patterns: Sequence[PathPattern], scope: Scope) -> Scope:
    """The scope after a MATCH of these patterns."""
    _check_selectors(patterns)
    inner = dict(scope)
    used: set[str] = set()
    groups: list[tuple[QuantifiedPath, Scope]] = []
    for pattern in patterns:
        for element in pattern.elements:
            if isinstance(element, NodePattern):
                _bind(element.variable, NODE, inner, element.at)
            elif isinstance(element, QuantifiedPath):
                groups.append((element, _bind_group(element, scope, inner)))
            else:
                _bind_relationship(element, inner, used)
        _bind_path(pattern, inner)
    for pattern in patterns:
        _check_elements(pattern.elements, inner)
        if pattern.where is not None:
            own = {name: kind for name, kind in inner.items() if name != pattern.variable}
            check_condition(pattern.where, own, "a pattern")
    for group, own in groups:
        _check_elements(group.elements, own)
        if group.where is not None:
            check_condition(group.where, own, "a quantified path pattern")
    return inner


def _check_selectors(patterns: Sequence[PathPattern]) -> None:
    """A selector chooses among the paths of one pattern, so nothing may stand beside it."""
    if len(patterns) > 1 and any(pattern.selector is not None for pattern in patterns):
        message = "A path selector such as SHORTEST takes a MATCH of its own, with one pattern"
        raise CypherSyntaxError("UnexpectedSyntax", message, patterns[1].at)


def _bind_group(group: QuantifiedPath, outer: Scope, scope: Scope) -> Scope:
    """Bind the variables of a quantified path as lists; the result is the scope of one repetition."""
    own = bind_elements(group.elements, outer)
    names = {element.variable: element for element in group.elements if element.variable is not None}
    for name, element in names.items():
        if name in scope:
            raise CypherSyntaxError("VariableAlreadyBound", f"{name} has been defined before", element.at)
        scope[name] = list_of(own[name])
    return own


def bind_elements(elements: Sequence[NodePattern | RelationshipPattern], outer: Scope) -> Scope:
    """The scope inside a quantified path."""
    own: Scope = dict(outer)
    used: set[str] = set()
    for element in elements:
        if isinstance(element, NodePattern):
            _bind(element.variable, NODE, own, element.at)
        else:
            _bind_relationship(element, own, used)
    return own


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


def _check_elements(elements: Sequence[PathElement], scope: Scope) -> None:
    for element in elements:
        if isinstance(element, QuantifiedPath):
            continue
        labels = element.label_expression if isinstance(element, NodePattern) else element.type_expression
        if labels is not None:
            check_labels(labels, scope)
        if element.where is not None:
            check_condition(element.where, scope, "a pattern")
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
            raise undefined_variable(element.variable, scope, element.at)
    bind_patterns((pattern,), scope)
