"""Writes as Cypher: nodes, relationships, the records that hold whole rows, and backfill of derived values.

Imports `indexes`; `session` and `storage` import from here.
"""
