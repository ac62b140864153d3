"""Reads of tables: index selection, ordering, counts, patterns, plans, and rendering of responses.

Imports `tables`; `session`, `storage` and `wal.replay` import from here.
"""
