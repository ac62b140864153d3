"""openCypher for reading: one engine, the same answers on every store."""

from ugs.cypher.answering import Prepared, Result, explain, prepare, run
from ugs.cypher.asking import as_json, ask, json_rows
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.view import GraphView, StoredGraph
from ugs.cypher.errors import CypherError, CypherRefused
from ugs.cypher.explaining import PlanStep, as_table
from ugs.cypher.views import VIEWS, Glasses

__all__ = [
    "VIEWS",
    "CypherError",
    "CypherRefused",
    "Glasses",
    "GraphView",
    "Limits",
    "PlanStep",
    "Prepared",
    "Result",
    "StoredGraph",
    "as_json",
    "as_table",
    "ask",
    "explain",
    "json_rows",
    "prepare",
    "run",
]
