"""Driver connections and their pool.

Imports only the type of a bulk statement from `write`; storages, sessions and migrations import from here.
"""
