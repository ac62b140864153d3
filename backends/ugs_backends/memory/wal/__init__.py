"""The write-ahead log: line format, reading, batch checks, repair, and replay of events to rows.

Imports `io`, `tables` and index selection of `query`; `recovery`, `storage` and `session` import from here.
"""
