"""openCypher for reading: one engine, the same answers on every store."""

from ugs.cypher.answering import Prepared, Result, explain, prepare, run
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.view import GraphView, StoredGraph
from ugs.cypher.errors import CypherError, CypherRefused
from ugs.cypher.explaining import PlanStep, as_table

__all__ = [
    "CypherError",
    "CypherRefused",
    "GraphView",
    "Limits",
    "PlanStep",
    "Prepared",
    "Result",
    "StoredGraph",
    "as_table",
    "explain",
    "prepare",
    "run",
]
