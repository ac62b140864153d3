"""The six internal endpoints of programs: their parameters, used by the validator, and their handlers.

An endpoint is a function called in this process, not over HTTP. A module of this package registers its handlers in
`ANSWERS` under their path:

    async def related(call: Call, params: Mapping[str, Any]) -> WorkingGraph: ...
    ANSWERS["/concepts/related"] = related

The parameters are validated against the specification before the call, so a handler may rely on their types.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from ugs.cypher import GraphView
from ugs.cypher.graph_views import FactsContext
from ugs.identity import Principal
from ugs.programs.execution.working_graph import WorkingGraph
from ugs.storage import Session
from ugs.vectors.service import Vectors


class Endpoint(Struct, frozen=True):
    """The specification of an endpoint: names and types of its parameters (str, int, number, bool or list)."""

    path: str
    description: str
    required: Mapping[str, str] = {}
    optional: Mapping[str, str] = {}

    @property
    def takes(self) -> dict[str, str]:
        return {**self.required, **self.optional}


class Call(Struct, frozen=True):
    """The context of one endpoint call."""

    session: Session
    """The graph to read: the current one, or that of the program's position in time."""
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
    glasses: FactsContext
    """Which facts the caller may see, and at which time they must hold."""
    vectors: Vectors
    """Similarity search."""


Answer = Callable[[Call, Mapping[str, Any]], Awaitable[WorkingGraph]]

SEARCH_PARAMS = {"min_similarity": "number", "limit": "int", "ontology": "str", "offset": "int"}
SPECIFICATIONS = (
    Endpoint("/search/concepts", "Vector similarity search", {"query": "str"}, SEARCH_PARAMS),
    Endpoint("/search/sources", "Source passage search", {"query": "str"}, SEARCH_PARAMS),
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
VECTOR_ENDPOINTS = frozenset({"/search/concepts", "/search/sources"})
"""The endpoints that need vectors."""
ENDPOINTS: Mapping[str, Endpoint] = {endpoint.path: endpoint for endpoint in SPECIFICATIONS}
"""The allowlist of endpoints by path."""
HANDLERS: dict[str, Answer] = {}
"""The handler of each endpoint."""
