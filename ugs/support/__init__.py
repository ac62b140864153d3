"""General helpers without knowledge of events or the graph: budgets, caches, time slices, files, entry points.

Imports `ugs.errors` at most.
"""
