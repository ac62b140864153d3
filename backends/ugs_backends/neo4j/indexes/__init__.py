"""Constraints, indexes and the values derived for them: full-text terms, text index, collation.

Imports `layout` and `cypher_fragments` only; everything else may import from here.
"""
