"""What a query looks at of an element: all of it, or only its id, its labels or its properties."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum

from ugs.cypher.analysis.walk import parts, pattern_variables
from ugs.cypher.syntax import Call, Expression, HasLabels, PathPattern, Property, Tree, Variable


class Aspect(Enum):
    """A part of a node or a relationship that can be had without the rest."""

    ID = "id"
    LABELS = "labels"
    """The labels of a node, the type of a relationship."""
    PROPERTIES = "properties"


Look = frozenset[Aspect] | None
"""The aspects that are looked at; None: the whole element."""
Looks = dict[str, Look]
"""How each variable is looked at; one that is not named is not looked at at all."""

# Two elements are the same when their ids are, so that counting different ones looks at the ids only.
CALLS = {
    "id": Aspect.ID,
    "elementid": Aspect.ID,
    "labels": Aspect.LABELS,
    "type": Aspect.LABELS,
    "properties": Aspect.PROPERTIES,
    "keys": Aspect.PROPERTIES,
}


def looks_at(trees: Iterable[Tree], skipped: Collection[Expression] = ()) -> Looks:
    """How the variables of these trees are looked at, rather too closely than not closely enough.

    Expressions that are skipped look at nothing.
    """
    found: Looks = {}
    waiting = list(trees)
    while waiting:
        tree = waiting.pop()
        if tree in skipped:
            continue
        if (glance := _glance(tree)) is not None:
            name, aspect = glance
            known = found.get(name, frozenset())
            found[name] = None if known is None else known | {aspect}
            continue
        found.update(dict.fromkeys(_named(tree)))
        waiting.extend(parts(tree))
    return found


def _glance(tree: Tree) -> tuple[str, Aspect] | None:
    """The variable of which an expression looks at one aspect only."""
    if isinstance(tree, Property) and isinstance(tree.subject, Variable):
        return tree.subject.name, Aspect.PROPERTIES
    if isinstance(tree, HasLabels) and isinstance(tree.subject, Variable):
        return tree.subject.name, Aspect.LABELS
    if isinstance(tree, Call) and len(tree.arguments) == 1 and isinstance(tree.arguments[0], Variable):
        aspect = Aspect.ID if tree.name == "count" and tree.distinct else CALLS.get(tree.name)
        return None if aspect is None else (tree.arguments[0].name, aspect)
    return None


def _named(tree: Tree) -> set[str]:
    if isinstance(tree, Variable):
        return {tree.name}
    return pattern_variables(tree) if isinstance(tree, PathPattern) else set()
