"""GraphQL types and fields of the graph: nodes, edges, search, traversal, mutations, subscriptions.

Imports `compiler` for plans; the other feature packages may import from here.
"""
