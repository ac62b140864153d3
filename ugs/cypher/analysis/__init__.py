"""Semantic analysis: everything that is wrong with a query and can be known without data."""

from ugs.cypher.analysis.queries import analyse

__all__ = ["analyse"]
