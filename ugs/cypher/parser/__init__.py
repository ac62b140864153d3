"""The parser: tokens become the syntax tree."""

from ugs.cypher.parser.clauses import parse

__all__ = ["parse"]
