"""Snapshot files: their format, and when they are written.

Imports `io` and the line codec of `wal`; `storage` and `recovery` import from here.
"""
