"""Field usage: which parts of an element a query needs: all of it, or only its id, labels or properties."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum

from ugs.cypher.analysis.tree_walk import parts, pattern_variables
from ugs.cypher.syntax import (
    Call,
    Expression,
    HasLabels,
    LabelTest,
    PathPattern,
    Property,
    Tree,
    Variable,
)


class Aspect(Enum):
    """A part of a node or relationship that can be fetched without the rest."""

    ID = "id"
    LABELS = "labels"
    """The labels of a node, the type of a relationship."""
    PROPERTIES = "properties"


Aspects = frozenset[Aspect] | None
"""The aspects that are needed; None: the whole element."""
AspectsByName = dict[str, Aspects]
"""The needed aspects of each variable; a variable that is missing is not needed at all."""

# Elements are equal if their ids are, so counting distinct ones needs the ids only.
ASPECT_OF_FUNCTION = {
    "id": Aspect.ID,
    "elementid": Aspect.ID,
    "labels": Aspect.LABELS,
    "type": Aspect.LABELS,
    "properties": Aspect.PROPERTIES,
    "keys": Aspect.PROPERTIES,
}


def collect_aspects(trees: Iterable[Tree], skipped: Collection[Expression] = ()) -> AspectsByName:
    """The aspects of variables that these trees need, never too few; expressions in `skipped` need nothing."""
    found: AspectsByName = {}
    waiting = list(trees)
    while waiting:
        tree = waiting.pop()
        if tree in skipped:
            continue
        if (single := _find_single_aspect(tree)) is not None:
            name, aspect = single
            before = found.get(name, frozenset())
            found[name] = None if before is None else before | {aspect}
            continue
        found.update(dict.fromkeys(_collect_names(tree)))
        waiting.extend(parts(tree))
    return found


def _find_single_aspect(tree: Tree) -> tuple[str, Aspect] | None:
    """The variable of which an expression needs a single aspect."""
    if isinstance(tree, Property) and isinstance(tree.subject, Variable):
        return tree.subject.name, Aspect.PROPERTIES
    if isinstance(tree, HasLabels | LabelTest) and isinstance(tree.subject, Variable):
        return tree.subject.name, Aspect.LABELS
    if isinstance(tree, Call) and len(tree.arguments) == 1 and isinstance(tree.arguments[0], Variable):
        aspect = Aspect.ID if tree.name == "count" and tree.distinct else ASPECT_OF_FUNCTION.get(tree.name)
        return None if aspect is None else (tree.arguments[0].name, aspect)
    return None


def _collect_names(tree: Tree) -> set[str]:
    if isinstance(tree, Variable):
        return {tree.name}
    return pattern_variables(tree) if isinstance(tree, PathPattern) else set()
