"""The six internal endpoints: what each takes (known to the validator), and who answers it.

An endpoint is a function called inside the process; nothing here speaks HTTP. A module of this package answers for
some of them and enters its functions in `ANSWERS` under their path:

    async def related(call: Call, params: Mapping[str, Any]) -> WorkingGraph: ...
    ANSWERS["/concepts/related"] = related

The parameters have been checked against the specification before, so an answer may rely on their types.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from ugs.cypher import GraphView
from ugs.cypher.views import Glasses
from ugs.identity import Principal
from ugs.programs.working import WorkingGraph
from ugs.storage import Session
from ugs.vectors.vectors import Vectors


class Endpoint(Struct, frozen=True):
    """What an endpoint takes: names of parameters and their types (str, int, number, bool or list)."""

    path: str
    description: str
    required: Mapping[str, str] = {}
    optional: Mapping[str, str] = {}

    @property
    def takes(self) -> dict[str, str]:
        return {**self.required, **self.optional}


class Call(Struct, frozen=True):
    """What surrounds one call."""

    session: Session
    """The graph to read: now, or as of the program's place in time."""
    caller: Principal
    """On whose behalf the program runs."""
    deadline: float
    """When the program must end, on the clock of `time.monotonic`."""
    ontologies: Mapping[str, str]
    """The ontology that defines each node type."""
    graph: GraphView
    """The same graph as queries see it."""
    view: str
    """GRAPH, FACTS or ALL."""
    glasses: Glasses
    """What the caller may see of facts, and when they must hold."""
    vectors: Vectors
    """Search by likeness."""

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


Answer = Callable[[Call, Mapping[str, Any]], Awaitable[WorkingGraph]]

SEARCHING = {"min_similarity": "number", "limit": "int", "ontology": "str", "offset": "int"}
SPECIFICATIONS = (
    Endpoint("/search/concepts", "Vector similarity search", {"query": "str"}, SEARCHING),
    Endpoint("/search/sources", "Source passage search", {"query": "str"}, SEARCHING),
    Endpoint("/vocabulary/status", "Epistemic status lookup", {}, {"relationship_type": "str", "status_filter": "str"}),
    Endpoint("/concepts/batch", "Batch concept enrichment", {"concept_ids": "list"}, {"include_details": "bool"}),
    Endpoint(
        "/concepts/details",
        "Concept detail retrieval",
        {"concept_id": "str"},
        {"include_diversity": "bool", "include_grounding": "bool"},
    ),
    Endpoint(
        "/concepts/related",
        "Neighborhood exploration",
        {"concept_id": "str"},
        {"max_depth": "int", "relationship_types": "list"},
    ),
)
BY_LIKENESS = frozenset({"/search/concepts", "/search/sources"})
"""Those that ask vectors."""
ENDPOINTS: Mapping[str, Endpoint] = {endpoint.path: endpoint for endpoint in SPECIFICATIONS}
"""The allowlist."""
ANSWERS: dict[str, Answer] = {}
"""Who answers each endpoint."""
