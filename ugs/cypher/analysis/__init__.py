"""Semantic analysis: all errors that can be detected without data."""

from ugs.cypher.analysis.queries import analyse

__all__ = ["analyse"]
