"""The six conditions: predicates on the working graph, without side effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.programs.ast import (
    AnyCondition,
    CountAtLeast,
    CountAtMost,
    Empty,
    HasOntology,
    HasRelationship,
    HasResults,
)
from ugs.programs.execution.working_graph import WorkingGraph

TESTS: dict[type, Callable[[WorkingGraph, Any], bool]] = {
    HasResults: lambda w, test: bool(w.nodes),
    Empty: lambda w, test: not w.nodes,
    CountAtLeast: lambda w, test: len(w.nodes) >= test.value,
    CountAtMost: lambda w, test: len(w.nodes) <= test.value,
    HasOntology: lambda w, test: any(node.ontology == test.ontology for node in w.nodes),
    HasRelationship: lambda w, test: any(link.relationship_type == test.type for link in w.links),
}


def holds(condition: AnyCondition, w: WorkingGraph) -> bool:
    """Whether the condition is true of W."""
    return TESTS[type(condition)](w, condition)
