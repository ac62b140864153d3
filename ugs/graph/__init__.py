"""The graph (seed 000): nodes, edges, scopes, search, traversal and paths.

`api` is the Python API, above the system; everything else here is below it.
"""
