"""Functions of the language, by topic."""

from ugs.cypher.functions import conversions, graph, lists, numbers, spatial, strings, temporals, vectors
from ugs.cypher.functions.registry import FUNCTIONS, Function

__all__ = [
    "FUNCTIONS",
    "Function",
    "conversions",
    "graph",
    "lists",
    "numbers",
    "spatial",
    "strings",
    "temporals",
    "vectors",
]
