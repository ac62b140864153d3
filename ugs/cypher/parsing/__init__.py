"""Parsing: tokens become the syntax tree."""

from ugs.cypher.parsing.clauses import parse

__all__ = ["parse"]
