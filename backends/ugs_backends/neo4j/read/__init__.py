"""Reads as Cypher: filters, orders, plans, patterns, vectors, and rendering of responses.

Imports `indexes`; `session`, `storage` and `write` import from here.
"""
