"""Nested plans as one SQL statement: its rows put together in Python, or the JSON written by the database.

Imports `compiler` and `connections`; the sessions, storages and both databases import from here.
"""
