"""openCypher for reading: one engine, the same answers on every store. `api` asks a whole system."""

from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.view import GraphView, StoredGraph
from ugs.cypher.errors import CypherError, CypherRefused
from ugs.cypher.execution import Prepared, Result, explain, prepare, run
from ugs.cypher.explain import PlanStep, as_table
from ugs.cypher.graph_views import VIEWS, FactsContext
from ugs.cypher.notifications import Notification

__all__ = [
    "VIEWS",
    "CypherError",
    "CypherRefused",
    "FactsContext",
    "GraphView",
    "Limits",
    "Notification",
    "PlanStep",
    "Prepared",
    "Result",
    "StoredGraph",
    "as_table",
    "explain",
    "prepare",
    "run",
]
