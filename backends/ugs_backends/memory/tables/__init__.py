"""Tables in memory: rows by key, their indexes and constraints, and generated code that inserts rows.

Imports the kernel only; `query`, `wal.replay`, `session` and `storage` import from here.
"""
