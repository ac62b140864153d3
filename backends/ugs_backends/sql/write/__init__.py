"""Bulk writes: events, rows, and the word and property tables beside them.

Imports the property codec of `compiler`; sessions, connections and migrations import from here.
"""
