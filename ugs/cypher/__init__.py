"""openCypher for reading: one engine, the same answers on every store."""

from ugs.cypher.answering import Prepared, Result, prepare, run
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.view import GraphView, StoredGraph
from ugs.cypher.errors import CypherError, CypherRefused

__all__ = [
    "CypherError",
    "CypherRefused",
    "GraphView",
    "Limits",
    "Prepared",
    "Result",
    "StoredGraph",
    "prepare",
    "run",
]
